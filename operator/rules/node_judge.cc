#include "operator/rules/node_judge.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "operator/base/check.h"
#include "operator/base/phrases.h"
#include "operator/base/quantity.h"
#include "operator/base/units.h"
#include "operator/rules/power.h"
#include "operator/rules/selector.h"
#include "operator/rules/tolerations.h"
#include "operator/rules/volumes.h"

namespace weft::rules {

using fabric::NodeIndex;

namespace {

constexpr std::string_view kCpu = "cpu";  // counted in thousandths
// Of kVolume: below, an item is an index of VolumeRules::places; from here on, of Apart::texts.
constexpr std::uint32_t kFirstOfPods = 1U << 31;

// An amount as people write it: cores with a fraction, other resources as integers.
std::string AmountText(std::string_view resource, std::int64_t amount) {
  constexpr std::int64_t kThousandths = 1000;
  if (resource != kCpu) return FormatQuantity(amount);
  if (amount % kThousandths != 0) return FormatQuantity(amount) + "m";
  return FormatQuantity(amount / kThousandths);
}

}  // namespace

NodeJudge::NodeJudge(const fabric::Claims& claims, const SlotQuery& query)
    : claims_(claims), query_(query) {
  WEFT_CHECK(query.pod != nullptr);
  const fabric::Fabric& fabric = claims.fabric();
  wants_ = ResolveWants(fabric, *query.pod);
  pools_ = PoolsAllowed(fabric, query);
  for (NodeIndex first : fabric.taint_classes()) {
    state_.push_back(!fabric.usable(first)                          ? Rejection::kUnusable
                     : CordonBlocks(*query.pod, fabric.node(first)) ? Rejection::kUnschedulable
                                                                    : Rejection::kNone);
    untolerated_.push_back(
        FirstUntolerated(fabric.node(first).taints, query.pod->tolerations) != nullptr ? 1 : 0);
  }
  if (!fabric.limits_power() && !LooksAtPods(claims, query)) return;
  fabric::ByNode<std::uint32_t> slots;
  CountSlotsByNode(claims, query, slots);
  KeepApart(claims, query, slots, &apart_);
  KeepToPower(claims, query, slots, &stopped_);
}

std::int64_t NodeJudge::FreeOf(NodeIndex node, fabric::ResourceIndex resource) const {
  const auto free = query_.ignore_claims ? claims_.fabric().capacity(node, resource)
                                         : claims_.free(node, resource);
  return std::max<std::int64_t>(free, 0);  // an overcommitted node has 0 free
}

// The resource of which the smallest share of a worker's request is free, if that is below 1; on a
// tie, the first in `wants_`.
const Want* NodeJudge::Scarcest(NodeIndex node) const {
  const Want* scarcest = nullptr;
  for (const Want& want : wants_.list) {
    const std::int64_t free = FreeOf(node, want.resource);
    if (free >= want.amount) continue;
    if (scarcest == nullptr ||
        static_cast<Int128>(free) * scarcest->amount <
            static_cast<Int128>(FreeOf(node, scarcest->resource)) * want.amount) {
      scarcest = &want;
    }
  }
  return scarcest;
}

NodeJudge::Why NodeJudge::WhyNotByLabels(NodeIndex node) const {
  const PodRequirements& pod = *query_.pod;
  const fabric::NodeFacts& facts = claims_.fabric().node(node);
  if (const auto* missing = MissingSelector(pod, facts)) {
    const auto entry = std::find_if(pod.node_selector.begin(), pod.node_selector.end(),
                                    [&](const auto& one) { return &one == missing; });
    return {Rejection::kNodeSelector,
            static_cast<std::uint32_t>(std::distance(pod.node_selector.begin(), entry))};
  }
  if (pod.required_affinity && !MatchesAffinity(*pod.required_affinity, facts)) {
    return {Rejection::kNodeAffinity,
            static_cast<std::uint32_t>(FirstMismatch(*pod.required_affinity, facts))};
  }
  if (const auto* missing = MissingLevel(pod, facts)) {
    return {Rejection::kLevelLabel, static_cast<std::uint32_t>(missing - pod.level_labels.data())};
  }
  if (const auto* missed = MissedPlace(pod, facts)) {
    return {Rejection::kVolume, static_cast<std::uint32_t>(missed - pod.volumes->places.data())};
  }
  return {};
}

NodeJudge::Why NodeJudge::WhyNot(NodeIndex node) const {
  const PodRequirements& pod = *query_.pod;
  const std::uint32_t taints = claims_.fabric().taint_class(node);
  if (state_[taints] != Rejection::kNone) return {state_[taints], taints};
  if (std::binary_search(query_.excluded.begin(), query_.excluded.end(), node)) {
    return {Rejection::kExcluded, 0};
  }
  if (!pod.node_name.empty() && pod.node_name != claims_.fabric().node(node).name) {
    return {Rejection::kNodeName, 0};
  }
  if (untolerated_[taints] != 0) return {Rejection::kTaint, taints};
  const Why labels = WhyNotByLabels(node);
  if (labels.rejection != Rejection::kNone) return labels;
  const fabric::PoolIndex pool = claims_.fabric().pool(node);
  if (pools_[pool] == 0) return {Rejection::kPool, pool.Raw()};
  if (!wants_.not_offered.empty()) return {Rejection::kResource, ~0U};
  if (const Want* want = Scarcest(node)) return {Rejection::kResource, want->resource.Raw()};
  if (AccessBlocks(pod, claims_.fabric().node(node))) return {Rejection::kDeviceAccess, 0};
  if (ComputeDomainBlocks(claims_, query_, node)) return {Rejection::kComputeDomain, 0};
  if (const std::uint32_t apart = apart_.why.empty() ? Apart::kNotApart : apart_.why[node];
      apart != Apart::kNotApart) {
    const Apart::Kind kind = apart_.texts[apart].kind;
    if (kind == Apart::Kind::kVolume) return {Rejection::kVolume, kFirstOfPods + apart};
    return {kind == Apart::Kind::kPort ? Rejection::kHostPort : Rejection::kPodAffinity, apart};
  }
  if (stopped_.empty() || stopped_[node] == fabric::kOutside) return {};
  return {Rejection::kPower, stopped_[node].Raw()};
}

std::string NodeJudge::ShortText(NodeIndex node) const {
  if (!wants_.not_offered.empty()) {
    return wants_.not_offered + ": no node of the fabric offers it";
  }
  const Want& want = *Scarcest(node);
  const std::string& name = claims_.fabric().resources()[want.resource];
  return name + ": " + AmountText(name, FreeOf(node, want.resource)) + " free, " +
         AmountText(name, want.amount) + " wanted";
}

std::string NodeJudge::Detail(Why why, NodeIndex node) const {
  const PodRequirements& pod = *query_.pod;
  const fabric::NodeFacts& facts = claims_.fabric().node(node);
  switch (why.rejection) {
    case Rejection::kNone:
      return "";
    case Rejection::kUnusable:
      return claims_.fabric().unusable_why(node);
    case Rejection::kUnschedulable:
      return "cordoned (spec.unschedulable)";
    case Rejection::kExcluded:
      return "excluded for this job";
    case Rejection::kNodeName:
      return "spec.nodeName is " + pod.node_name;
    case Rejection::kTaint:
      return "taint " + TaintText(*FirstUntolerated(facts.taints, pod.tolerations));
    case Rejection::kNodeSelector: {
      const auto* missing = MissingSelector(pod, facts);
      return "node selector " + missing->first + "=" + missing->second;
    }
    case Rejection::kNodeAffinity:
      return AffinityMismatchText(*pod.required_affinity, facts);
    case Rejection::kLevelLabel:
      return "label " + pod.level_labels[why.item].front() + " of a required level";
    case Rejection::kVolume:
      return why.item < kFirstOfPods ? pod.volumes->places[why.item].text
                                     : apart_.texts[why.item - kFirstOfPods].text;
    case Rejection::kPool: {
      const fabric::Pool& pool = claims_.fabric().pools()[fabric::PoolIndex{why.item}];
      std::string text = pool.product.empty() ? "no product" : pool.product;
      for (const auto& [resource, amount] : pod.requests) {
        const std::string_view part = pool.PartOf(resource);
        if (amount > 0 && !part.empty()) text += " as " + std::string(part);
      }
      return text + " (" + std::string(fabric::CapacityTypeName(pool.capacity)) + ")";
    }
    case Rejection::kResource:
      return ShortText(node);
    case Rejection::kDeviceAccess:
      return pod.claims_accelerators
                 ? "no ResourceSlice lists its devices"
                 : "accelerators by ResourceClaims only: see accelerator.deviceClassName";
    case Rejection::kComputeDomain:
      return "held by the ComputeDomain of " + claims_.compute_domain(node);
    case Rejection::kHostPort:
    case Rejection::kPodAffinity:
      return apart_.texts[why.item].text;
    case Rejection::kPower:
      return PowerText(claims_, query_, stopped_[node], node);
  }
  return "";
}

Verdict NodeJudge::Judge(NodeIndex node) const {
  const Why why = WhyNot(node);
  return {why.rejection, Detail(why, node)};
}

// The text for the first node, and the number of other domains of the level that lack power too.
std::string NodeJudge::PowerDetail(NodeIndex first, NodeIndex begin, NodeIndex end) const {
  const fabric::Tier tier = stopped_[first];
  std::set<fabric::DomainIndex> domains;
  for (NodeIndex n = begin; n < end; ++n) {
    if (stopped_[n] == tier) domains.insert(claims_.fabric().domains(tier).of_node[n]);
  }
  std::string text = PowerText(claims_, query_, tier, first);
  if (domains.size() < 2) return text;
  return text + "; the same in " +
         CountText(static_cast<std::int64_t>(domains.size()) - 1, "more domain");
}

std::vector<RejectionCount> NodeJudge::Count(NodeIndex begin, NodeIndex end) const {
  struct Nodes {
    NodeIndex first{0};
    std::uint32_t count = 0;
  };
  std::map<Why, Nodes> by_why;
  auto last = by_why.end();  // neighbouring nodes often have equal reasons
  std::map<std::string, std::uint32_t> holders;
  for (NodeIndex n = begin; n < end; ++n) {
    Why why = WhyNot(n);
    if (why.rejection == Rejection::kNone) continue;
    if (why.rejection == Rejection::kComputeDomain) {
      const auto next = static_cast<std::uint32_t>(holders.size());
      why.item = holders.try_emplace(claims_.compute_domain(n), next).first->second;
    }
    if (last == by_why.end() || last->first != why) {
      last = by_why.try_emplace(why, Nodes{n, 0}).first;
    }
    ++last->second.count;
  }
  // Different taint classes may have the same text.
  std::map<std::pair<Rejection, std::string>, std::uint32_t> by_text;
  for (const auto& [why, nodes] : by_why) {
    const bool offered = wants_.not_offered.empty();
    std::string detail = why.rejection == Rejection::kPower ? PowerDetail(nodes.first, begin, end)
                         : why.rejection != Rejection::kResource ? Detail(why, nodes.first)
                         : offered ? claims_.fabric().resources()[fabric::ResourceIndex{why.item}]
                                   : wants_.not_offered;
    by_text[{why.rejection, std::move(detail)}] += nodes.count;
  }
  std::vector<RejectionCount> counts;
  for (const auto& [why, nodes] : by_text) counts.push_back({why.first, why.second, nodes});
  std::stable_sort(counts.begin(), counts.end(),
                   [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
  return counts;
}

std::string_view RejectionName(Rejection rejection) {
  switch (rejection) {
    case Rejection::kNone:
      return "None";
    case Rejection::kUnusable:
      return "Unusable";
    case Rejection::kUnschedulable:
      return "Unschedulable";
    case Rejection::kExcluded:
      return "Excluded";
    case Rejection::kNodeName:
      return "NodeName";
    case Rejection::kTaint:
      return "Taint";
    case Rejection::kNodeSelector:
      return "NodeSelector";
    case Rejection::kNodeAffinity:
      return "NodeAffinity";
    case Rejection::kLevelLabel:
      return "LevelLabel";
    case Rejection::kVolume:
      return "Volume";
    case Rejection::kPool:
      return "Pool";
    case Rejection::kResource:
      return "Resource";
    case Rejection::kDeviceAccess:
      return "DeviceAccess";
    case Rejection::kComputeDomain:
      return "ComputeDomain";
    case Rejection::kHostPort:
      return "HostPort";
    case Rejection::kPodAffinity:
      return "PodAffinity";
    case Rejection::kPower:
      return "Power";
  }
  return "Unknown";
}

}  // namespace weft::rules
