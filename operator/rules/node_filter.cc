#include "operator/rules/node_filter.h"

#include <algorithm>
#include <limits>

#include "operator/base/check.h"
#include "operator/rules/between_pods.h"
#include "operator/rules/node_rules.h"
#include "operator/rules/power.h"
#include "operator/rules/volumes.h"

namespace weft::rules {

using fabric::ByNode;
using fabric::Claims;
using fabric::Fabric;
using fabric::NodeIndex;
using fabric::ResourceIndex;

namespace {

// free / amount (amount > 0), at most `cap`. Most calls end in the first two lines or divide 32-bit
// numbers, which is much cheaper than a 64-bit division on many processors.
std::uint32_t Fits(std::int64_t free, std::int64_t amount, std::uint32_t cap) {
  if (free < amount) return 0;
  if (free - amount < amount) return 1;
  constexpr std::int64_t k32 = std::numeric_limits<std::uint32_t>::max();
  if (free <= k32) {
    return std::min(cap, static_cast<std::uint32_t>(free) / static_cast<std::uint32_t>(amount));
  }
  return static_cast<std::uint32_t>(std::min<std::int64_t>(cap, free / amount));
}

// How many workers fit in one row of amounts. A resource after the first is only compared; it is
// divided only if it is the scarce one.
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

bool HasLabelRules(const PodRequirements& pod) {
  return !pod.node_name.empty() || !pod.node_selector.empty() ||
         pod.required_affinity.has_value() || !pod.level_labels.empty() ||
         !pod.volumes->places.empty();
}

// Checks usability, cordon, taints and access to devices, which are the same on hundreds of nodes.
bool PassesNodeState(const Fabric& fabric, const SlotQuery& query, NodeIndex node) {
  const PodRequirements& pod = *query.pod;
  // The taints that such a node has come and go with its state.
  if (!fabric.usable(node) || CordonBlocks(pod, fabric.node(node))) return query.ignore_health;
  return PassesTaints(query, fabric.node(node).taints) && !AccessBlocks(pod, fabric.node(node));
}

bool PassesLabels(const SlotQuery& query, const fabric::NodeFacts& node) {
  const PodRequirements& pod = *query.pod;
  return (pod.node_name.empty() || pod.node_name == node.name) && MatchesNode(pod, node) &&
         MissingLevel(pod, node) == nullptr &&
         MissedPlace(pod, node, query.ignore_health) == nullptr;
}

// The rules that do not depend on claims, for one query over many nodes.
class StaticFilter {
 public:
  StaticFilter(const Fabric& fabric, const SlotQuery& query)
      : fabric_(fabric),
        query_(query),
        has_label_rules_(HasLabelRules(*query.pod)),
        pools_(PoolsAllowed(fabric, query)) {
    for (NodeIndex first : fabric.taint_classes()) {
      passes_.push_back(PassesNodeState(fabric, query, first) ? 1 : 0);
    }
  }

  bool Passes(NodeIndex node) const {
    return passes_[fabric_.taint_class(node)] != 0 && pools_[fabric_.pool(node)] != 0 &&
           (!has_label_rules_ || PassesLabels(query_, fabric_.node(node)));
  }

 private:
  const Fabric& fabric_;
  const SlotQuery& query_;
  bool has_label_rules_;
  IndexVector<fabric::PoolIndex, std::uint8_t> pools_;
  std::vector<std::uint8_t> passes_;  // by taint class
};

// Counts the slots of one node after the other for one query.
class SlotCounter {
 public:
  // Precondition: every requested resource is offered.
  SlotCounter(const Claims& claims, const SlotQuery& query)
      : claims_(claims),
        query_(query),
        wants_(ResolveWants(claims.fabric(), *query.pod).list),
        filter_(claims.fabric(), query) {
    if (query.ignore_health) FindMost();
  }

  // Checks room first: a full node costs one comparison, and no other rule is checked.
  std::uint32_t Of(NodeIndex n) const {
    const std::uint32_t fits =
        query_.ignore_claims
            ? FitsAll(wants_, query_.cap, [&](ResourceIndex r) { return CapacityOf(n, r); })
            : FitsAll(wants_, query_.cap, [&](ResourceIndex r) { return claims_.free(n, r); });
    const bool passes = fits > 0 && filter_.Passes(n) && !ComputeDomainBlocks(claims_, query_, n);
    return passes ? fits : 0;
  }

 private:
  std::int64_t& MostOf(fabric::PoolIndex pool, ResourceIndex r) {
    return most_[pool.Raw() * claims_.fabric().resources().size() + r.Raw()];
  }

  // A device plug-in or a driver that starts again, or has not come to a new node yet, offers
  // nothing of a resource of which other nodes of the pool have some. What is forgotten of
  // accelerators is in the node's capacity; one that lacks them may have them cut in another way.
  void FindMost() {
    const Fabric& fabric = claims_.fabric();
    most_.assign(fabric.pools().size() * fabric.resources().size(), 0);
    for (const Want& want : wants_) {
      const bool of_devices = fabric.resources()[want.resource].find('/') != std::string::npos &&
                              !fabric.IsAccelerator(want.resource);
      for (const NodeIndex n : Range<NodeIndex>(of_devices ? fabric.node_count() : 0)) {
        std::int64_t& most = MostOf(fabric.pool(n), want.resource);
        most = std::max(most, fabric.capacity(n, want.resource));
      }
    }
  }

  std::int64_t CapacityOf(NodeIndex n, ResourceIndex r) const {
    const Fabric& fabric = claims_.fabric();
    const std::int64_t has = fabric.capacity(n, r);
    if (has > 0 || most_.empty()) return has;
    return most_[fabric.pool(n).Raw() * fabric.resources().size() + r.Raw()];
  }

  const Claims& claims_;
  const SlotQuery& query_;
  std::vector<Want> wants_;
  StaticFilter filter_;
  std::vector<std::int64_t> most_;  // by pool and resource; only with ignore_health
};

bool OffersAll(const Fabric& fabric, const SlotQuery& query) {
  WEFT_CHECK(query.pod != nullptr);
  return query.cap > 0 && ResolveWants(fabric, *query.pod).not_offered.empty();
}

}  // namespace

void CountSlots(const Claims& claims, const SlotQuery& query, ByNode<std::uint32_t>& slots) {
  CountSlotsByNode(claims, query, slots);
  KeepApart(claims, query, slots);
  KeepToPower(claims, query, slots);
}

void CountSlotsByNode(const Claims& claims, const SlotQuery& query, ByNode<std::uint32_t>& slots) {
  const Fabric& fabric = claims.fabric();
  slots.assign(fabric.node_count(), 0);
  if (!OffersAll(fabric, query)) return;
  const SlotCounter counter(claims, query);
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) slots[n] = counter.Of(n);
  for (NodeIndex n : query.excluded) {
    if (n < slots.EndIndex()) slots[n] = 0;
  }
}

void CountSlotsOf(const Claims& claims, const SlotQuery& query, std::span<const NodeIndex> nodes,
                  ByNode<std::uint32_t>& slots) {
  WEFT_CHECK(slots.size() == claims.fabric().node_count());
  if (!OffersAll(claims.fabric(), query)) return;
  const SlotCounter counter(claims, query);
  for (NodeIndex n : nodes) {
    const bool excluded = std::binary_search(query.excluded.begin(), query.excluded.end(), n);
    slots[n] = excluded ? 0 : counter.Of(n);
  }
}

}  // namespace weft::rules
