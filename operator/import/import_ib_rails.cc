#include "operator/import/import_ib_rails.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace weft::import {
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

// The device by which most hosts know each leaf.
std::map<SwitchIndex, std::string> DevicesOfLeaves(const std::vector<IbHost>& hosts) {
  std::map<SwitchIndex, Votes> votes;
  for (const IbHost& host : hosts) {
    for (const IbHost::Link& link : host.links) {
      if (!link.device.empty()) ++votes[link.to][link.device];
    }
  }
  std::map<SwitchIndex, std::string> device;
  for (const auto& [leaf, names] : votes) device[leaf] = Winner(names);
  return device;
}

class Rails {
 public:
  Rails(const std::vector<IbHost>& hosts, int count)
      : device_(DevicesOfLeaves(hosts)), count_(static_cast<std::size_t>(count)) {}

  bool Complete(const std::vector<int>& leaves) const { return leaves.size() >= count_; }

  // Numbers the leaves of a complete group by device. If it has more leaves than rails, the surplus
  // leaves share the last number.
  void NumberByDevice(std::vector<int> leaves) {
    std::stable_sort(leaves.begin(), leaves.end(), [&](int a, int b) {
      return DeviceOrder(device_[a]) < DeviceOrder(device_[b]);
    });
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      rail_[leaves[i]] = static_cast<int>(std::min(i, count_ - 1));
      ++votes_[device_[leaves[i]]][rail_[leaves[i]]];
    }
  }

  // Numbers the leaves of another group as complete groups number their devices; the other leaves
  // get the numbers that are left.
  void NumberLikeOthers(const std::vector<int>& leaves) {
    std::set<int> taken;
    std::vector<int> open;
    for (const int leaf : leaves) {
      int best = -1, most = 0;
      for (const auto& [number, votes] : votes_[device_[leaf]]) {
        if (votes > most && !taken.contains(number)) std::tie(best, most) = std::tie(number, votes);
      }
      if (best < 0) {
        open.push_back(leaf);
      } else {
        taken.insert(best);
        rail_[leaf] = best;
      }
    }
    int next = 0;
    for (const int leaf : open) {
      while (taken.contains(next)) ++next;
      taken.insert(next);
      rail_[leaf] = next;
    }
  }

  std::map<SwitchIndex, int> Take() { return std::move(rail_); }

 private:
  std::map<SwitchIndex, std::string> device_;
  std::size_t count_;
  std::map<SwitchIndex, int> rail_;
  std::map<std::string, std::map<int, int>> votes_;  // device -> rail -> complete groups
};

}  // namespace

std::map<SwitchIndex, int> FindRails(const std::vector<IbHost>& hosts, const Groups& groups,
                                     int count) {
  Rails rails(hosts, count);
  for (const std::vector<int>& leaves : groups.members) {
    if (rails.Complete(leaves)) rails.NumberByDevice(leaves);
  }
  for (const std::vector<int>& leaves : groups.members) {
    if (!rails.Complete(leaves)) rails.NumberLikeOthers(leaves);
  }
  return rails.Take();
}

}  // namespace weft::import
