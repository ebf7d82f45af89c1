#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"

namespace weft::placement {

// Sets of nodes that cost the same whichever of them a worker takes: one narrowest domain, one
// scale-up domain, as many rails. Where nodes take several workers, every node is a cell. Those of
// one domain that are worth looking at: the ones in use, then others next to them, then the
// roomiest.
class Cells {
 public:
  Cells(const Instance& instance, std::span<const fabric::NodeIndex> nodes, fabric::Tier home,
        std::size_t most);

  std::uint32_t size() const { return static_cast<std::uint32_t>(slots_.size()); }
  std::uint32_t slots(std::uint32_t cell) const { return slots_[cell]; }
  // Cell of each worker of the placement that the cells were made for.
  std::span<const std::uint32_t> of_worker() const { return of_worker_; }
  // Cost of a byte between a worker in each.
  std::int64_t Weight(std::uint32_t a, std::uint32_t b) const {
    return weights_[weight_[std::size_t{a} * size() + b]];
  }
  std::int64_t most_weight() const { return *std::max_element(weights_.begin(), weights_.end()); }

  // nodes[worker] for cells by worker, none over its slots: of a cell first the nodes that the
  // first placement uses, each worker on its own where it stays in the cell.
  std::vector<fabric::NodeIndex> NodesFor(std::span<const std::uint32_t> cell_of_worker) const;

 private:
  struct Found {
    std::vector<fabric::NodeIndex> nodes;
    std::uint32_t slots = 0;
    bool used = false;
  };
  struct Run {
    fabric::NodeIndex begin = 0, end = 0;
  };
  std::vector<Run> RunsToLookAt(fabric::Tier home, fabric::NodeIndex begin,
                                fabric::NodeIndex end) const;
  std::vector<Found> FindAll(std::span<const Run> runs) const;
  void Keep(std::vector<Found> found, std::size_t most);
  void WeighPairs();

  const Instance& instance_;
  std::vector<fabric::NodeIndex> placed_;  // by worker
  bool single_ = true;                     // no node takes more than one worker
  std::vector<std::vector<fabric::NodeIndex>> nodes_;
  std::vector<std::uint32_t> slots_;
  struct Seat {
    fabric::NodeIndex node;
    std::uint32_t cell;
  };
  std::vector<Seat> seats_;  // all nodes of all cells, ascending
  std::vector<std::uint32_t> of_worker_, seat_of_worker_;
  std::vector<std::int64_t> weights_;  // the few that there are
  std::vector<std::uint16_t> weight_;  // cell x cell, index into weights_: small, to stay in cache
};

}  // namespace weft::placement
