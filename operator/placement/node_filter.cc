#include "operator/placement/node_filter.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "operator/base/check.h"
#include "operator/base/quantity.h"
#include "operator/base/units.h"
#include "operator/placement/selector.h"
#include "operator/placement/tolerations.h"

namespace weft::placement {

using fabric::Claims;
using fabric::Fabric;
using fabric::NodeIndex;
using fabric::ResourceIndex;

namespace {

constexpr std::string_view kPods = "pods";  // a worker is one pod
constexpr std::string_view kCpu = "cpu";    // counted in thousandths

struct Want {
  ResourceIndex resource = 0;
  std::int64_t amount = 0;
};

// What one worker asks for, by resource index. Accelerators come first: on most nodes they decide
// alone.
struct Wants {
  std::vector<Want> list;
  std::string not_offered;  // a resource that no node has
};

Wants ResolveWants(const Fabric& fabric, const PodRequirements& pod) {
  Wants wants;
  for (const auto& [name, amount] : pod.requests) {
    if (amount <= 0 || name == kPods) continue;
    const auto resource = fabric.FindResource(name);
    if (resource) {
      wants.list.push_back({*resource, amount});
    } else if (wants.not_offered.empty()) {
      wants.not_offered = name;
    }
  }
  const auto pods = fabric.FindResource(std::string(kPods));
  if (pods) wants.list.push_back({*pods, 1});
  std::stable_sort(wants.list.begin(), wants.list.end(), [&](const Want& a, const Want& b) {
    return fabric.IsAccelerator(a.resource) && !fabric.IsAccelerator(b.resource);
  });
  return wants;
}

// How often `amount` > 0 goes into `free`, at most `cap`. Most calls end in the first two lines or
// divide 32-bit numbers, which costs a fraction of a 64-bit division on many processors.
std::uint32_t Fits(std::int64_t free, std::int64_t amount, std::uint32_t cap) {
  if (free < amount) return 0;
  if (free - amount < amount) return 1;
  constexpr std::int64_t k32 = std::numeric_limits<std::uint32_t>::max();
  if (free <= k32) {
    return std::min(cap, static_cast<std::uint32_t>(free) / static_cast<std::uint32_t>(amount));
  }
  return static_cast<std::uint32_t>(std::min<std::int64_t>(cap, free / amount));
}

// Workers that fit in one row of amounts. Resources after the first are only compared: they are
// divided where they turn out to be the scarce one.
template <typename Amount>
std::uint32_t FitsAll(const std::vector<Want>& wants, std::uint32_t cap, Amount amount_of) {
  std::uint32_t slots = cap;
  for (const Want& want : wants) {
    const std::int64_t free = amount_of(want.resource);
    std::int64_t all = 0;
    const bool too_many = __builtin_mul_overflow(want.amount, std::int64_t{slots}, &all);
    if (!too_many && all <= free) continue;
    slots = Fits(free, want.amount, slots);
    if (slots == 0) break;
  }
  return slots;
}

bool ComputeDomainBlocks(const Claims& claims, const SlotQuery& query, NodeIndex node) {
  if (query.ignore_claims || !query.pod->claims_compute_domain) return false;
  const std::string& holder = claims.compute_domain(node);
  return !holder.empty() && holder != query.job;
}

bool HasLabelRules(const PodRequirements& pod) {
  return !pod.node_name.empty() || !pod.node_selector.empty() || pod.required_affinity.has_value();
}

bool CordonBlocks(const Fabric& fabric, const PodRequirements& pod, NodeIndex node) {
  if (!fabric.node(node).unschedulable) return false;
  const fabric::Taint cordon{std::string(kUnschedulableTaint), "", "NoSchedule"};
  return !TolerateTaint(pod.tolerations, cordon);
}

// usable, cordon and taints: all that nodes share by the hundred.
bool PassesNodeState(const Fabric& fabric, const PodRequirements& pod, NodeIndex node) {
  return fabric.usable(node) && !CordonBlocks(fabric, pod, node) &&
         FirstUntolerated(fabric.node(node).taints, pod.tolerations) == nullptr;
}

// The nodeSelector entry that the node lacks, or null.
const std::pair<const std::string, std::string>* MissingSelector(const PodRequirements& pod,
                                                                 const fabric::NodeFacts& node) {
  for (const auto& entry : pod.node_selector) {
    const auto label = node.labels.find(entry.first);
    if (label == node.labels.end() || label->second != entry.second) return &entry;
  }
  return nullptr;
}

bool PassesLabels(const PodRequirements& pod, const fabric::NodeFacts& node) {
  return (pod.node_name.empty() || pod.node_name == node.name) &&
         MissingSelector(pod, node) == nullptr &&
         (!pod.required_affinity || MatchesAffinity(*pod.required_affinity, node));
}

// The rules that do not depend on claims, for one query over many nodes.
class StaticFilter {
 public:
  StaticFilter(const Fabric& fabric, const SlotQuery& query)
      : fabric_(fabric), pod_(*query.pod), has_label_rules_(HasLabelRules(*query.pod)) {
    for (NodeIndex first : fabric.taint_classes()) {
      passes_.push_back(PassesNodeState(fabric, pod_, first) ? 1 : 0);
    }
  }

  bool Passes(NodeIndex node) const {
    return passes_[fabric_.taint_class(node)] != 0 &&
           (!has_label_rules_ || PassesLabels(pod_, fabric_.node(node)));
  }

 private:
  const Fabric& fabric_;
  const PodRequirements& pod_;
  bool has_label_rules_;
  std::vector<std::uint8_t> passes_;  // by taint class
};

// Room first: a full node costs one comparison, and no other rule is looked at.
template <typename AmountOf>
void CountAll(const Claims& claims, const SlotQuery& query, AmountOf amount_of,
              std::vector<std::uint32_t>& slots) {
  const Fabric& fabric = claims.fabric();
  const std::vector<Want> wants = ResolveWants(fabric, *query.pod).list;
  const StaticFilter filter(fabric, query);
  for (NodeIndex n = 0; n < fabric.node_count(); ++n) {
    const auto of_node = [&](ResourceIndex r) { return amount_of(n, r); };
    const std::uint32_t fits = FitsAll(wants, query.cap, of_node);
    if (fits == 0 || !filter.Passes(n) || ComputeDomainBlocks(claims, query, n)) continue;
    slots[n] = fits;
  }
  for (NodeIndex n : query.excluded) {
    if (n < slots.size()) slots[n] = 0;
  }
}

// An amount as a person writes it: cores with their thousandths, the rest exact.
std::string AmountText(std::string_view resource, std::int64_t amount) {
  constexpr std::int64_t kThousandths = 1000;
  if (resource != kCpu) return FormatQuantity(amount);
  if (amount % kThousandths != 0) return FormatQuantity(amount) + "m";
  return FormatQuantity(amount / kThousandths);
}

Verdict No(Rejection rejection, std::string detail) {
  Verdict verdict;
  verdict.rejection = rejection;
  verdict.detail = std::move(detail);
  return verdict;
}

Verdict ShortOf(const std::string& name, ResourceIndex resource, const std::string& text) {
  Verdict verdict = No(Rejection::kResource, name + ": " + text);
  verdict.resource_name = name;
  verdict.resource = resource;
  return verdict;
}

// The resource with the least free share of what a worker wants of it, where that is less than
// all; the first in the order of `wants` on a tie.
Verdict JudgeResources(const Claims& claims, const SlotQuery& query, NodeIndex node) {
  const Fabric& fabric = claims.fabric();
  const Wants wants = ResolveWants(fabric, *query.pod);
  if (!wants.not_offered.empty()) {
    return ShortOf(wants.not_offered, 0, "no node of the fabric offers it");
  }
  const auto free_of = [&](ResourceIndex r) {
    const auto free = query.ignore_claims ? fabric.allocatable(node, r) : claims.free(node, r);
    return std::max<std::int64_t>(free, 0);  // overcommitted nodes have nothing, not less
  };
  const Want* scarcest = nullptr;
  for (const Want& want : wants.list) {
    if (free_of(want.resource) >= want.amount) continue;
    if (scarcest == nullptr || static_cast<Int128>(free_of(want.resource)) * scarcest->amount <
                                   static_cast<Int128>(free_of(scarcest->resource)) * want.amount) {
      scarcest = &want;
    }
  }
  if (scarcest == nullptr) return {};
  const std::string& name = fabric.resources()[scarcest->resource];
  return ShortOf(name, scarcest->resource,
                 AmountText(name, free_of(scarcest->resource)) + " free, " +
                     AmountText(name, scarcest->amount) + " wanted");
}

Verdict JudgeStatic(const Fabric& fabric, const SlotQuery& query, NodeIndex node) {
  const PodRequirements& pod = *query.pod;
  const fabric::NodeFacts& facts = fabric.node(node);
  if (!fabric.usable(node)) return No(Rejection::kUnusable, fabric.unusable_why(node));
  if (CordonBlocks(fabric, pod, node)) {
    return No(Rejection::kUnschedulable, "cordoned (spec.unschedulable)");
  }
  if (std::binary_search(query.excluded.begin(), query.excluded.end(), node)) {
    return No(Rejection::kExcluded, "excluded for this job");
  }
  if (!pod.node_name.empty() && pod.node_name != facts.name) {
    return No(Rejection::kNodeName, "spec.nodeName is " + pod.node_name);
  }
  if (const fabric::Taint* taint = FirstUntolerated(facts.taints, pod.tolerations)) {
    return No(Rejection::kTaint, "taint " + TaintText(*taint) + " not tolerated");
  }
  if (const auto* missing = MissingSelector(pod, facts)) {
    return No(Rejection::kNodeSelector, "node selector " + missing->first + "=" + missing->second);
  }
  if (pod.required_affinity && !MatchesAffinity(*pod.required_affinity, facts)) {
    return No(Rejection::kNodeAffinity, AffinityMismatchText(*pod.required_affinity, facts));
  }
  return {};
}

}  // namespace

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
    case Rejection::kResource:
      return "Resource";
    case Rejection::kComputeDomain:
      return "ComputeDomain";
  }
  return "Unknown";
}

void CountSlots(const Claims& claims, const SlotQuery& query, std::vector<std::uint32_t>& slots) {
  WEFT_CHECK(query.pod != nullptr);
  const Fabric& fabric = claims.fabric();
  slots.assign(fabric.node_count(), 0);
  if (query.cap == 0 || !ResolveWants(fabric, *query.pod).not_offered.empty()) return;
  if (query.ignore_claims) {
    CountAll(
        claims, query, [&](NodeIndex n, ResourceIndex r) { return fabric.allocatable(n, r); },
        slots);
  } else {
    CountAll(
        claims, query, [&](NodeIndex n, ResourceIndex r) { return claims.free(n, r); }, slots);
  }
}

Verdict Judge(const Claims& claims, const SlotQuery& query, NodeIndex node) {
  WEFT_CHECK(query.pod != nullptr);
  Verdict verdict = JudgeStatic(claims.fabric(), query, node);
  if (verdict.rejection != Rejection::kNone) return verdict;
  verdict = JudgeResources(claims, query, node);
  if (verdict.rejection != Rejection::kNone) return verdict;
  if (!ComputeDomainBlocks(claims, query, node)) return {};
  return No(Rejection::kComputeDomain,
            "held by the ComputeDomain of " + claims.compute_domain(node));
}

bool PassesStaticFilters(const Fabric& fabric, const SlotQuery& query, NodeIndex node,
                         Verdict* why) {
  WEFT_CHECK(query.pod != nullptr);
  Verdict verdict = JudgeStatic(fabric, query, node);
  const bool passes = verdict.rejection == Rejection::kNone;
  if (why != nullptr) *why = std::move(verdict);
  return passes;
}

}  // namespace weft::placement
