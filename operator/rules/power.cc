#include "operator/rules/power.h"

#include <algorithm>
#include <cmath>

#include "operator/base/quantity.h"
#include "operator/base/units.h"

namespace weft::rules {

using fabric::ByNode;
using fabric::Claims;
using fabric::DomainIndex;
using fabric::Fabric;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

// Accelerators of one worker.
double AcceleratorsOf(const Fabric& fabric, const PodRequirements& pod) {
  std::int64_t count = 0;
  for (const auto& [name, amount] : pod.requests) {
    const auto resource = fabric.FindResource(name);
    if (resource && fabric.IsAccelerator(*resource)) count += amount;
  }
  return static_cast<double>(count);
}

struct Run {
  NodeIndex begin{0}, end{0};
  std::uint64_t slots = 0;
};

// The parts of a domain in the next narrower tier, those with the most slots first.
std::vector<Run> PartsOf(const Fabric& fabric, Tier tier, DomainIndex domain,
                         const ByNode<std::uint32_t>& slots) {
  const auto& parts = fabric.domains(tier + 1).begin;
  const auto& first = fabric.domains(tier).child_begin;
  std::vector<Run> runs;
  for (DomainIndex part = first[domain]; part < first[domain + 1]; ++part) {
    Run run{parts[part], parts[part + 1], 0};
    for (NodeIndex n = run.begin; n < run.end; ++n) run.slots += slots[n];
    runs.push_back(run);
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Run& a, const Run& b) { return a.slots > b.slots; });
  return runs;
}

}  // namespace

std::string WattsText(double watts) {
  return FormatBytes(static_cast<Int128>(std::llround(watts))) + "W";
}

double WorkerPeakWatts(const Fabric& fabric, const PodRequirements& pod, NodeIndex node) {
  return AcceleratorsOf(fabric, pod) * fabric.peak_watts(fabric.pool(node));
}

double PeakWattsIn(const Claims& claims, Tier tier, DomainIndex domain, bool ignore_claims) {
  if (ignore_claims) return 0;
  const Fabric& fabric = claims.fabric();
  const auto& begin = fabric.domains(tier).begin;
  double watts = 0;
  for (NodeIndex n = begin[domain]; n < begin[domain + 1]; ++n) {
    watts += static_cast<double>(claims.used_accelerators(n)) * fabric.peak_watts(fabric.pool(n));
  }
  return watts;
}

void KeepToPower(const Claims& claims, const SlotQuery& query, ByNode<std::uint32_t>& slots,
                 ByNode<Tier>* stopped) {
  const Fabric& fabric = claims.fabric();
  if (stopped != nullptr) stopped->assign(slots.size(), fabric::kOutside);
  if (!fabric.limits_power()) return;
  const double accelerators = AcceleratorsOf(fabric, *query.pod);
  for (Tier tier = fabric.node_tier(); tier-- > Tier{1};) {
    const auto& limit = fabric.tiers()[tier].power_watts;
    if (!limit) continue;
    for (DomainIndex domain{0}; domain < fabric.domains(tier).EndIndex(); ++domain) {
      double left =
          static_cast<double>(*limit) - PeakWattsIn(claims, tier, domain, query.ignore_claims);
      for (const Run& run : PartsOf(fabric, tier, domain, slots)) {
        for (NodeIndex n = run.begin; n < run.end; ++n) {
          const double each = accelerators * fabric.peak_watts(fabric.pool(n));
          if (slots[n] == 0 || each <= 0) continue;
          const double fits = std::floor(std::max(left, 0.0) / each);
          if (fits < slots[n]) slots[n] = static_cast<std::uint32_t>(fits);
          if (slots[n] == 0 && stopped != nullptr) (*stopped)[n] = tier;
          left -= slots[n] * each;
        }
      }
    }
  }
}

std::string PowerText(const Claims& claims, const SlotQuery& query, Tier tier, NodeIndex node) {
  const Fabric& fabric = claims.fabric();
  const auto& domains = fabric.domains(tier);
  const DomainIndex domain = domains.of_node[node];
  return fabric.tiers()[tier].name + " " + domains.names[domain] + " may draw " +
         WattsText(static_cast<double>(fabric.tiers()[tier].power_watts.value_or(0))) +
         ", pods there draw up to " +
         WattsText(PeakWattsIn(claims, tier, domain, query.ignore_claims)) +
         ", each worker would add " + WattsText(WorkerPeakWatts(fabric, *query.pod, node));
}

}  // namespace weft::rules
