#include "operator/manifest/import_ib_rails.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

namespace weft::manifest {
namespace {

using Votes = std::map<std::string, int>;

// The key with most votes (on a tie, the least); "" without votes.
std::string Winner(const Votes& votes) {
  std::string best;
  int most = 0;
  for (const auto& [key, count] : votes) {
    if (count > most) std::tie(best, most) = std::tie(key, count);
  }
  return best;
}

// A sort key by length, then text, so that "mlx5_10" comes after "mlx5_9".
std::tuple<std::size_t, std::string> DeviceOrder(const std::string& device) {
  return {device.size(), device};
}

}  // namespace

std::map<SwitchIndex, int> FindRails(const std::vector<IbHost>& hosts, const Groups& groups,
                                     int count) {
  std::map<SwitchIndex, Votes> device_votes;
  for (const IbHost& host : hosts) {
    for (const IbHost::Link& link : host.links) {
      if (!link.device.empty()) ++device_votes[link.to][link.device];
    }
  }
  std::map<SwitchIndex, std::string> device;
  for (const auto& [leaf, votes] : device_votes) device[leaf] = Winner(votes);

  std::map<SwitchIndex, int> rail;
  std::map<std::string, std::map<int, int>> rail_votes;  // device -> rail -> complete groups
  const auto full = static_cast<std::size_t>(count);
  for (const std::vector<int>& leaves : groups.members) {
    if (leaves.size() < full) continue;
    std::vector<int> ordered = leaves;
    std::stable_sort(ordered.begin(), ordered.end(),
                     [&](int a, int b) { return DeviceOrder(device[a]) < DeviceOrder(device[b]); });
    // If a group has more leaves than rails, the surplus leaves share the last number.
    for (std::size_t i = 0; i < ordered.size(); ++i) {
      rail[ordered[i]] = static_cast<int>(std::min(i, full - 1));
      ++rail_votes[device[ordered[i]]][rail[ordered[i]]];
    }
  }
  for (const std::vector<int>& leaves : groups.members) {
    if (leaves.size() >= full) continue;
    std::set<int> taken;
    std::vector<int> open;
    for (const int leaf : leaves) {
      int best = -1, most = 0;
      for (const auto& [number, votes] : rail_votes[device[leaf]]) {
        if (votes > most && !taken.contains(number)) std::tie(best, most) = std::tie(number, votes);
      }
      if (best < 0) {
        open.push_back(leaf);
      } else {
        taken.insert(best);
        rail[leaf] = best;
      }
    }
    int next = 0;
    for (const int leaf : open) {
      while (taken.contains(next)) ++next;
      taken.insert(next);
      rail[leaf] = next;
    }
  }
  return rail;
}

}  // namespace weft::manifest
