#include "operator/rules/unwanted.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

#include "operator/rules/preferred_pods.h"
#include "operator/rules/selector.h"
#include "operator/rules/tolerations.h"

namespace weft::rules {

using fabric::ByNode;
using fabric::Claims;
using fabric::NodeIndex;

namespace {

constexpr std::uint32_t kTaint = 3 * 100, kAffinity = 2 * 100, kSpread = 2 * 100;
// More than all taints and terms together.
constexpr std::uint32_t kCordoned = 1U << 24;
constexpr std::size_t kMostTaints = 1000;

// By taint class.
std::vector<std::uint32_t> OfTaints(const Claims& claims, const PodRequirements& pod) {
  std::vector<std::uint32_t> unwanted;
  for (const NodeIndex first : claims.fabric().taint_classes()) {
    const fabric::NodeFacts& node = claims.fabric().node(first);
    const auto taints =
        std::count_if(node.taints.begin(), node.taints.end(), [&](const fabric::Taint& taint) {
          return taint.effect == "PreferNoSchedule" && !TolerateTaint(pod.tolerations, taint);
        });
    unwanted.push_back(static_cast<std::uint32_t>(std::min<std::size_t>(taints, kMostTaints)) *
                           kTaint +
                       (node.unschedulable ? kCordoned : 0));
  }
  return unwanted;
}

template <typename Values>
bool AllSame(const Values& values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

// The weight of the node affinity that each node meets; {} if none is preferred.
ByNode<std::int64_t> MetByNode(const Claims& claims, const PodRequirements& pod) {
  if (!pod.preferred.present()) return {};
  ByNode<std::int64_t> met(claims.fabric().node_count(), 0);
  for (const NodeIndex n : met.Indices()) {
    for (const PreferredTerm& one : *pod.preferred) {
      if (MatchesTerm(one.term, claims.fabric().node(n))) met[n] += one.weight;
    }
  }
  return met;
}

// Adds kAffinity for the nodes that meet least and nothing for those that meet most.
void AddMissing(const ByNode<std::int64_t>& met, ByNode<std::uint32_t>& unwanted) {
  if (met.empty()) return;
  const auto [least, most] = std::minmax_element(met.begin(), met.end());
  if (*least == *most) return;
  for (const NodeIndex n : met.Indices()) {
    unwanted[n] += static_cast<std::uint32_t>((*most - met[n]) * kAffinity / (*most - *least));
  }
}

// Adds kSpread for nodes that lack a label, and a share of it for the others: none for the least
// crowded, and (crowded - least) / most for a node.
void AddCrowded(const ByNode<std::int64_t>& crowded, ByNode<std::uint32_t>& unwanted) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = 0;
  for (const std::int64_t one : crowded) {
    if (one == kNoLabel) continue;
    least = std::min(least, one);
    most = std::max(most, one);
  }
  for (const NodeIndex n : crowded.Indices()) {
    if (crowded[n] == kNoLabel) {
      unwanted[n] += kSpread;
    } else if (most > 0) {
      unwanted[n] += static_cast<std::uint32_t>((crowded[n] - least) * kSpread / most);
    }
  }
}

}  // namespace

ByNode<std::uint32_t> Unwanted(const Claims& claims, const SlotQuery& query) {
  const std::vector<std::uint32_t> by_class = OfTaints(claims, *query.pod);
  const ByNode<std::int64_t> by_pods = PreferredPodsBy(claims, query);
  const ByNode<std::int64_t> crowded = CrowdedBy(claims, query);
  const bool wishes = query.pod->preferred.present() || !by_pods.empty() || !crowded.empty();
  if (!wishes && AllSame(by_class)) return {};
  ByNode<std::uint32_t> unwanted(claims.fabric().node_count(), 0);
  for (const NodeIndex n : unwanted.Indices()) {
    unwanted[n] = by_class[claims.fabric().taint_class(n)];
  }
  AddMissing(MetByNode(claims, *query.pod), unwanted);
  AddMissing(by_pods, unwanted);
  AddCrowded(crowded, unwanted);
  return AllSame(unwanted) ? ByNode<std::uint32_t>() : unwanted;
}

}  // namespace weft::rules
