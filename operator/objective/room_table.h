#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/rules/node_filter.h"

namespace weft::objective {

// How many workers of one kind each node and domain can take, ignoring which workers must stay
// together.
class RoomTable {
 public:
  RoomTable(const fabric::Claims& claims, const rules::SlotQuery& query);

  IndexSpan<fabric::NodeIndex, const std::uint32_t> slots() const { return slots_; }
  // All slots in a domain.
  std::uint64_t sum(fabric::Tier tier, fabric::DomainIndex domain) const {
    return tier + 1 == tiers_ ? slots_[AsNode(domain)] : sums_[tier][domain];
  }

  // No domain of the tier has more slots; seldom less than the most that one has.
  std::uint64_t most(fabric::Tier tier) const { return most_[tier]; }

  // Counts these nodes anew. The query must be that of the constructor, without power limits.
  void Update(const fabric::Claims& claims, const rules::SlotQuery& query,
              std::span<const fabric::NodeIndex> nodes);

 private:
  fabric::Tier tiers_;  // number of tiers; the last are the nodes
  fabric::ByNode<std::uint32_t> slots_;
  fabric::ByTier<fabric::ByDomain<std::uint64_t>> sums_;  // by tier wider than nodes, and domain
  fabric::ByTier<std::uint64_t> most_;                    // by tier
};

// Which domains are wholly free: no accelerator of a usable node of the domain is in use. A domain
// without usable nodes is not.
class FreeTable {
 public:
  FreeTable(const fabric::Claims& claims, bool ignore_claims);

  bool wholly_free(fabric::Tier tier, fabric::DomainIndex domain) const {
    return free_[tier][domain] != 0;
  }
  // Looks at these nodes anew.
  void Update(const fabric::Claims& claims, std::span<const fabric::NodeIndex> nodes);

 private:
  void Judge(fabric::Tier tier, fabric::DomainIndex domain);

  fabric::ByTier<fabric::ByDomain<std::uint32_t>> used_;  // by tier and domain: usable nodes in use
  fabric::ByTier<fabric::ByDomain<std::uint32_t>> usable_;  // and all usable nodes
  fabric::ByTier<fabric::ByDomain<std::uint8_t>> free_;
};

// The tables of one Claims object for the kinds of workers of the last jobs, for queues of many
// jobs on many nodes: from one job to the next a few nodes change, and only these are counted
// again. The answers are those of new tables.
//
// Cost  Rooms: O(nodes x (resources + tiers)) for a kind that is not known, else O(changed nodes x
//       (resources + tiers)).
// Thread-safety  None.
class RoomTables {
 public:
  // `claims` must outlive this object.
  explicit RoomTables(const fabric::Claims& claims) : claims_(&claims) {}
  RoomTables(const RoomTables&) = delete;
  RoomTables& operator=(const RoomTables&) = delete;

  const fabric::Claims& claims() const { return *claims_; }

  // Both stay as they are until the claims change and a table is asked for again; after that they
  // may show the new state.
  std::shared_ptr<const RoomTable> Rooms(const rules::SlotQuery& query);
  std::shared_ptr<const FreeTable> Free(bool ignore_claims);

 private:
  // How much of the history a table has seen.
  struct Seen {
    std::uint64_t epoch = 0;
    std::size_t nodes = 0;
  };
  struct Kind {
    rules::PodRequirements pod;
    rules::SlotQuery query;  // its pod is the one above
    std::uint32_t most = 0;  // slots of the roomiest node with nothing running
    std::shared_ptr<RoomTable> table;
    Seen seen;
    std::uint64_t last_use = 0;
  };

  bool IsKept(const rules::SlotQuery& query) const;
  std::uint32_t MostOnEmptyNode(const rules::SlotQuery& query) const;
  Kind* Find(const rules::SlotQuery& query);
  Kind& Make(const rules::SlotQuery& query);
  // The nodes that changed since; nothing if everything may have.
  std::optional<std::vector<fabric::NodeIndex>> Changed(const Seen& seen) const;
  Seen Now() const { return {claims_->history().epoch, claims_->history().nodes.size()}; }

  const fabric::Claims* claims_;
  std::vector<std::unique_ptr<Kind>> kinds_;
  std::shared_ptr<FreeTable> free_, all_free_;  // with claims, ignoring claims
  Seen free_seen_;
  std::uint64_t uses_ = 0;
};

}  // namespace weft::objective
