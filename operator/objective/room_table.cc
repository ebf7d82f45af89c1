#include "operator/objective/room_table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "operator/base/check.h"
#include "operator/rules/between_pods.h"

namespace weft::objective {

using fabric::Claims;
using fabric::DomainIndex;
using fabric::Fabric;
using fabric::NodeIndex;
using fabric::Tier;
using rules::SlotQuery;

namespace {

// Kinds of workers that are kept: half a megabyte each on 125,000 nodes.
constexpr std::size_t kMostKinds = 24;

}  // namespace

RoomTable::RoomTable(const Claims& claims, const SlotQuery& query)
    : tiers_(claims.fabric().node_tier() + 1), sums_(tiers_ - 1), most_(tiers_, 0) {
  rules::CountSlots(claims, query, slots_);
  for (const std::uint32_t slots : slots_)
    most_.back() = std::max<std::uint64_t>(most_.back(), slots);
  for (Tier t = tiers_ - 1; t-- > Tier{0};) {
    const fabric::TierDomains& domains = claims.fabric().domains(t);
    sums_[t].resize(domains.size());
    for (DomainIndex d{0}; d < domains.EndIndex(); ++d) {
      for (DomainIndex c = domains.child_begin[d]; c < domains.child_begin[d + 1]; ++c) {
        sums_[t][d] += sum(t + 1, c);
      }
      most_[t] = std::max(most_[t], sums_[t][d]);
    }
  }
}

void RoomTable::Update(const Claims& claims, const SlotQuery& query,
                       std::span<const NodeIndex> nodes) {
  const Fabric& fabric = claims.fabric();
  for (const NodeIndex n : nodes) {
    for (Tier t{0}; t + 1 < tiers_; ++t) {
      std::uint64_t& sum = sums_[t][fabric.domains(t).of_node[n]];
      WEFT_CHECK(sum >= slots_[n]);  // a domain has the slots of its nodes
      sum -= slots_[n];
    }
    slots_[n] = 0;
  }
  rules::CountSlotsOf(claims, query, nodes, slots_);
  for (const NodeIndex n : nodes) {
    most_.back() = std::max<std::uint64_t>(most_.back(), slots_[n]);
    for (Tier t{0}; t + 1 < tiers_; ++t) {
      std::uint64_t& sum = sums_[t][fabric.domains(t).of_node[n]];
      most_[t] = std::max(most_[t], sum += slots_[n]);
    }
  }
}

FreeTable::FreeTable(const Claims& claims, bool ignore_claims) {
  const Fabric& fabric = claims.fabric();
  const Tier last = fabric.node_tier();
  used_.resize(last + 1);
  usable_.resize(last + 1);
  free_.resize(last + 1);
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    const bool used = !ignore_claims && !claims.wholly_free(n);
    usable_[last].push_back(fabric.usable(n) ? 1 : 0);
    used_[last].push_back(fabric.usable(n) && used ? 1 : 0);
  }
  for (Tier t = last + 1; t-- > Tier{0};) {
    const fabric::TierDomains& domains = fabric.domains(t);
    used_[t].resize(domains.size());
    usable_[t].resize(domains.size());
    free_[t].resize(domains.size());
    for (DomainIndex d{0}; d < domains.EndIndex(); ++d) {
      if (t != last) {
        for (DomainIndex c = domains.child_begin[d]; c < domains.child_begin[d + 1]; ++c) {
          used_[t][d] += used_[t + 1][c];
          usable_[t][d] += usable_[t + 1][c];
        }
      }
      Judge(t, d);
    }
  }
}

void FreeTable::Judge(Tier tier, DomainIndex domain) {
  free_[tier][domain] = usable_[tier][domain] > 0 && used_[tier][domain] == 0 ? 1 : 0;
}

void FreeTable::Update(const Claims& claims, std::span<const NodeIndex> nodes) {
  const Fabric& fabric = claims.fabric();
  const Tier last = fabric.node_tier();
  for (const NodeIndex n : nodes) {
    const std::uint32_t used = fabric.usable(n) && !claims.wholly_free(n) ? 1 : 0;
    const std::uint32_t before = used_[last][AsDomain(n)];
    if (used == before) continue;
    for (Tier t{0}; t <= last; ++t) {
      const DomainIndex d = fabric.domains(t).of_node[n];
      WEFT_CHECK(used_[t][d] >= before);  // a domain counts its nodes
      used_[t][d] = used_[t][d] - before + used;
      Judge(t, d);
    }
  }
}

// Power limits and rules between pods depend on more than one node, ComputeDomains on the job.
// Nodes are excluded for single jobs.
bool RoomTables::IsKept(const SlotQuery& query) const {
  return !rules::LooksAtPods(*claims_, query) && query.excluded.empty() &&
         !claims_->fabric().limits_power();
}

std::uint32_t RoomTables::MostOnEmptyNode(const SlotQuery& query) const {
  SlotQuery all = query;
  all.cap = std::numeric_limits<std::uint32_t>::max();
  all.ignore_claims = true;
  fabric::ByNode<std::uint32_t> slots;
  rules::CountSlotsByNode(*claims_, all, slots);
  return slots.empty() ? 0 : *std::max_element(slots.begin(), slots.end());
}

std::optional<std::vector<NodeIndex>> RoomTables::Changed(const Seen& seen) const {
  const Claims::History& history = claims_->history();
  if (seen.epoch != history.epoch) return std::nullopt;
  WEFT_CHECK(seen.nodes <= history.nodes.size());  // an epoch's history only grows
  std::vector<NodeIndex> nodes(history.nodes.begin() + static_cast<std::ptrdiff_t>(seen.nodes),
                               history.nodes.end());
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

// Whether the pods fit on the same nodes, if neither looks at other pods.
bool SameRoom(const rules::PodRequirements& a, const rules::PodRequirements& b) {
  return a.requests == b.requests && a.node_selector == b.node_selector &&
         a.required_affinity == b.required_affinity && a.level_labels == b.level_labels &&
         a.tolerations == b.tolerations && a.node_name == b.node_name && a.volumes == b.volumes;
}

// A cap that no node reaches is as good as none, so jobs of different sizes share a table.
RoomTables::Kind* RoomTables::Find(const SlotQuery& query) {
  for (const auto& kind : kinds_) {
    if (kind->query.ignore_claims == query.ignore_claims &&
        kind->query.ignore_health == query.ignore_health && kind->query.pools == query.pools &&
        kind->query.cap == std::min(query.cap, kind->most) && SameRoom(kind->pod, *query.pod)) {
      return kind.get();
    }
  }
  return nullptr;
}

RoomTables::Kind& RoomTables::Make(const SlotQuery& query) {
  if (kinds_.size() == kMostKinds) {
    kinds_.erase(std::min_element(kinds_.begin(), kinds_.end(), [](const auto& a, const auto& b) {
      return a->last_use < b->last_use;
    }));
  }
  auto kind = std::make_unique<Kind>();
  kind->pod = *query.pod;
  kind->query = query;
  kind->query.job.clear();
  kind->query.pod = &kind->pod;
  kind->most = MostOnEmptyNode(query);
  kind->query.cap = std::min(query.cap, kind->most);
  kind->table = std::make_shared<RoomTable>(*claims_, kind->query);
  kind->seen = Now();
  kinds_.push_back(std::move(kind));
  return *kinds_.back();
}

std::shared_ptr<const RoomTable> RoomTables::Rooms(const SlotQuery& query) {
  if (!IsKept(query)) return std::make_shared<const RoomTable>(*claims_, query);
  Kind* known = Find(query);
  Kind& kind = known != nullptr ? *known : Make(query);
  kind.last_use = ++uses_;
  if (query.ignore_claims) return kind.table;
  if (const auto changed = Changed(kind.seen)) {
    kind.table->Update(*claims_, kind.query, *changed);
  } else {
    kind.table = std::make_shared<RoomTable>(*claims_, kind.query);
  }
  kind.seen = Now();
  return kind.table;
}

std::shared_ptr<const FreeTable> RoomTables::Free(bool ignore_claims) {
  if (ignore_claims) {
    if (!all_free_) all_free_ = std::make_shared<FreeTable>(*claims_, true);
    return all_free_;
  }
  const auto changed = free_ ? Changed(free_seen_) : std::nullopt;
  if (changed) {
    free_->Update(*claims_, *changed);
  } else {
    free_ = std::make_shared<FreeTable>(*claims_, false);
  }
  free_seen_ = Now();
  return free_;
}

}  // namespace weft::objective
