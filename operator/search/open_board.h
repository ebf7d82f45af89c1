#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "operator/base/units.h"
#include "operator/objective/instance.h"
#include "operator/objective/levels.h"
#include "operator/search/open_sets.h"

namespace weft::search {

// Nodes of one narrowest domain on each of which an open worker costs the same.
using PlaceIndex = Index<struct PlaceTag>;

// A node for an open worker.
struct OpenSeat {
  fabric::NodeIndex node = objective::kUnplaced;
  PlaceIndex place{0};
};

// The open workers of a partial placement (open_sets.h), which are put on nodes and taken back in
// any order, with the objective of what stands there. Only the edges of open workers are priced:
// what the fixed workers send each other is the same in every completion.
//
// free      by node: how many open workers it can take. The fixed workers' nodes count in full in
//           the levels of the objective, as in a placement by Place.
// cost()    of all pairs with an open worker that has a node.
// ties()    the levels after the cost, in the order of objective::TieBreakers, in one list.
//
// Cost  O(workers x tiers + nodes + open workers x places x neighbours) to make; Put, Take and
//       Attach O(open neighbours + tiers).
class OpenBoard {
 public:
  OpenBoard(const objective::Instance& instance, objective::Nodes nodes,
            fabric::ByNode<std::uint32_t> free);

  const OpenSets& sets() const { return sets_; }
  std::uint32_t open() const { return static_cast<std::uint32_t>(sets_.workers().size()); }
  OpenIndex EndIndex() const { return OpenIndex(open()); }
  PlaceIndex EndPlace() const { return place_begin_.EndIndex() - 1; }

  // The cost of a worker's traffic with fixed workers, on any node of a place.
  Int128 Price(OpenIndex open, PlaceIndex place) const {
    return price_[std::size_t{open.Raw()} * EndPlace().Raw() + place.Raw()];
  }
  // Whether a fixed worker's rule lets the worker on the place.
  bool Allows(OpenIndex open, PlaceIndex place) const {
    return sets_.allowed(open).Has(place_nodes_[place_begin_[place]]);
  }
  // The places [first, second) of the narrowest domains that hold a node of the run.
  std::pair<PlaceIndex, PlaceIndex> PlacesIn(const NodeRun& run) const;
  // The nodes of the place that a worker may be put on now: those in use by open workers, and the
  // first by name that is not. Appends to `seats`.
  void AddSeats(OpenIndex open, PlaceIndex place, std::vector<OpenSeat>& seats) const;

  // The cost of all pairs of the worker with workers that have a node.
  Int128 Attach(OpenIndex open, const OpenSeat& seat) const;
  // Bytes between two open workers.
  struct Partner {
    OpenIndex open;
    std::int64_t bytes = 0;
  };
  std::span<const Partner> partners(OpenIndex open) const { return partners_[open]; }
  // No two workers on nodes of the board cost less for each byte.
  std::int64_t least_weight() const { return least_weight_; }
  std::uint64_t room(fabric::Tier tier, fabric::DomainIndex domain) const {
    return room_[tier][domain];
  }

  // Whether the rules of sets of open workers let the worker on the node, and leave room for the
  // rest of the set.
  bool MayPut(OpenIndex open, const OpenSeat& seat) const;
  void Put(OpenIndex open, const OpenSeat& seat);
  void Take(OpenIndex open);

  const ByOpen<OpenSeat>& seats() const { return seats_; }
  const ByOpen<fabric::NodeIndex>& nodes() const { return nodes_; }
  Int128 cost() const { return cost_; }
  objective::Preferences preferences() const { return sets_.Prefer(nodes_); }
  // Lower bounds for all completions if workers are without a node.
  void ReadTies(std::vector<std::uint32_t>& ties) const;
  // Whether the ties need more than constant time for each worker.
  bool slow_ties() const { return ring_; }

  ByWorker<fabric::NodeIndex> Whole() const;  // the fixed and the open workers' nodes

 private:
  void Count(objective::Nodes nodes);
  void BuildPlaces(const std::vector<std::uint8_t>& taken);
  void BuildTraffic();
  void BuildPrices(OpenIndex open, std::vector<std::pair<fabric::NodeIndex, std::int64_t>>& fixed);
  void BuildWide();
  void Use(fabric::NodeIndex node, bool put);
  void CountWide(OpenIndex open, fabric::NodeIndex node, bool put);

  const objective::Instance& instance_;
  OpenSets sets_;
  ByWorker<fabric::NodeIndex> fixed_;
  fabric::ByNode<std::uint32_t> free_;
  fabric::ByTier<fabric::ByDomain<std::uint64_t>> room_;  // free slots

  IndexVector<PlaceIndex, std::uint32_t> place_begin_;  // into place_nodes_; places + 1 entries
  std::vector<fabric::NodeIndex> place_nodes_;          // by name within a place
  fabric::ByNode<std::uint32_t> load_;                  // open workers on the node
  std::vector<Int128> price_;                           // open x place
  ByOpen<std::vector<Partner>> partners_;
  std::int64_t least_weight_ = 0;

  ByOpen<OpenSeat> seats_;
  ByOpen<fabric::NodeIndex> nodes_;
  std::vector<std::uint32_t> in_joint_;            // by joint: members with a node
  std::vector<fabric::DomainIndex> joint_domain_;  // by joint, if it has any
  Int128 cost_ = 0;

  // For the ties.
  fabric::ByTier<fabric::ByDomain<std::uint32_t>> used_;  // workers
  fabric::ByTier<std::uint32_t> broken_;
  fabric::ByTier<std::uint64_t> slots_;  // of used domains
  std::uint32_t moved_ = 0, moved_from_own_ = 0;
  bool ring_ = false;
  std::uint32_t least_ring_ = 0;
  std::vector<fabric::Tier> wide_tiers_;
  std::vector<Int128> wide_;  // bytes that leave the level, by wide_tiers_
  Int128 all_bytes_ = 0;
  ByOpen<std::vector<traffic::Neighbour>> neighbours_;  // only if wide_tiers_ is not empty
};

}  // namespace weft::search
