#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/objective/job_grid.h"
#include "operator/objective/nodes.h"
#include "operator/objective/pair_cost.h"
#include "operator/objective/request.h"
#include "operator/objective/room_table.h"
#include "operator/rules/node_filter.h"
#include "operator/traffic/worker_graph.h"

// Words of this module; operator/docs/placement.md has the whole picture.
//   grid  the worker index as a number of several digits, about one for each axis (job_grid.h)
//   tile  a box of the grid; a natural tile has little traffic across its border
//   unit  the workers of one tile (units.h)
//   atom  workers that a group of the request keeps in one domain
namespace weft::objective {

// One prepared placement problem: the slots of each node and domain, and the workers that must stay
// together. Built once for each Place and choice of pools; the searches and the bound read it.
// Nodes outside `pools` take no workers; if `pools` is empty, all nodes may.
//
// Cost  O(nodes x (resources + tiers) + workers x groups); with Options::rooms O(nodes that changed
//       + workers x groups).
class Instance {
 public:
  Instance(const fabric::Claims& claims, const Request& request, const traffic::WorkerGraph& graph,
           const Options& options = {}, std::span<const fabric::PoolIndex> pools = {});

  const fabric::Fabric& fabric() const { return claims_->fabric(); }
  const fabric::Claims& claims() const { return *claims_; }
  const Request& request() const { return *request_; }
  const traffic::WorkerGraph& graph() const { return *graph_; }
  const JobGrid& grid() const { return grid_; }
  const SearchLimits& limits() const { return limits_; }
  const PairCost& pair_cost() const { return pair_cost_; }
  const rules::SlotQuery& query() const { return query_; }
  std::uint32_t workers() const { return request_->workers; }
  fabric::Tier node_tier() const { return fabric().node_tier(); }

  IndexSpan<fabric::NodeIndex, const std::uint32_t> slots() const { return rooms_->slots(); }
  // How many workers fit in the domain in whole atoms. Exact if all atoms of the tier have the same
  // size, else an upper bound.
  std::uint64_t capacity(fabric::Tier tier, fabric::DomainIndex domain) const {
    return capacity_.empty() ? rooms_->sum(tier, domain) : capacity_[tier][domain];
  }
  // No domain of the tier has more slots.
  std::uint64_t MostSlots(fabric::Tier tier) const { return rooms_->most(tier); }
  // All slots in the domain, ignoring which workers must stay together.
  std::uint64_t SlotsIn(fabric::Tier tier, fabric::DomainIndex domain) const {
    return rooms_->sum(tier, domain);
  }
  std::uint64_t TotalSlots() const {
    return slots().empty() ? 0 : rooms_->sum(fabric::kOutside, fabric::DomainIndex{0});
  }

  // Whether no accelerator of a usable node of the domain is in use.
  bool wholly_free(fabric::Tier tier, fabric::DomainIndex domain) const {
    return free_->wholly_free(tier, domain);
  }

  // Whether the job's last attempt had a worker on the node.
  bool was_used(fabric::NodeIndex node) const {
    return std::binary_search(previous_.begin(), previous_.end(), node);
  }
  // The nodes of the last attempt that still exist, ascending.
  std::span<const fabric::NodeIndex> previous() const { return previous_; }

  // The atom of each worker at a tier. Workers of a hard atom must share one domain of the tier;
  // workers of a soft atom must share one, or should because a group prefers it. Empty if every
  // worker is an atom of its own.
  IndexSpan<WorkerIndex, const std::uint32_t> hard_atoms(fabric::Tier tier) const {
    return hard_atoms_[tier];
  }
  IndexSpan<WorkerIndex, const std::uint32_t> soft_atoms(fabric::Tier tier) const {
    return soft_atoms_[tier];
  }
  bool has_groups() const { return has_groups_; }
  bool uniform_atoms() const { return uniform_atoms_; }
  // Workers that a group prefers to have in one domain of `tier`. Each distinct set is listed once,
  // at its narrowest tier.
  struct PreferredSet {
    fabric::Tier tier;
    std::span<const WorkerIndex> workers;
  };
  std::span<const PreferredSet> preferred_sets() const { return preferred_sets_; }

  // The narrowest tier at which those of `workers` that have a node share one domain; the node tier
  // if none has a node.
  fabric::Tier HullOf(std::span<const WorkerIndex> workers, Nodes nodes) const;
  fabric::Tier HullOfAll(Nodes nodes) const;

  // Size of the largest hard atom of the tier (not a unit of a tiling).
  std::uint32_t unit(fabric::Tier tier) const { return unit_[tier]; }

 private:
  void BuildAtoms();
  void BuildPreferredSets();
  void BuildCapacity();
  void BuildPrevious();

  const fabric::Claims* claims_;
  const Request* request_;
  const traffic::WorkerGraph* graph_;
  JobGrid grid_;
  SearchLimits limits_;
  PairCost pair_cost_;
  rules::SlotQuery query_;
  std::shared_ptr<const RoomTable> rooms_;
  std::shared_ptr<const FreeTable> free_;
  fabric::ByTier<fabric::ByDomain<std::uint64_t>>
      capacity_;  // empty if no workers must stay together
  fabric::ByTier<ByWorker<std::uint32_t>> hard_atoms_, soft_atoms_;
  std::vector<PreferredSet> preferred_sets_;
  std::vector<fabric::NodeIndex> previous_;
  fabric::ByTier<std::uint32_t> unit_;
  bool has_groups_ = false;
  bool uniform_atoms_ = true;
};

}  // namespace weft::objective
