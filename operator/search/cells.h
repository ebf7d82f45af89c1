#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/check.h"
#include "operator/base/index.h"
#include "operator/objective/instance.h"

namespace weft::search {

using CellIndex = Index<struct CellTag>;
template <typename T>
using ByCell = IndexVector<CellIndex, T>;

// Cells: sets of nodes on each of which a worker costs the same, because they share the
// narrowest domain, the scale-up domain and the number of rails. If nodes take several workers, or
// on a torus, every node is a cell. Only some cells are kept: those in use, then their neighbours,
// then the roomiest.
class Cells {
 public:
  // Keeps `most` cells, or all cells in use if these are more; on a torus, all cells in use and
  // `most` others.
  Cells(const objective::Instance& instance, objective::Nodes nodes, fabric::Tier home,
        std::size_t most);

  std::uint32_t size() const { return static_cast<std::uint32_t>(slots_.size()); }
  CellIndex EndIndex() const { return slots_.EndIndex(); }
  std::uint32_t slots(CellIndex cell) const { return slots_[cell]; }
  // One of the cell's nodes.
  fabric::NodeIndex node(CellIndex cell) const { return nodes_[cell].front(); }
  // The cell of each worker in the placement that the cells were made for.
  IndexSpan<WorkerIndex, const CellIndex> of_worker() const { return of_worker_; }
  // Cost of a byte between a worker in cell `a` and one in cell `b`, with PairCost::Nudge.
  std::int64_t Weight(CellIndex a, CellIndex b) const {
    WEFT_DCHECK(a < EndIndex() && b < EndIndex());
    return weights_[weight_[PairOf(a, b)]];
  }
  // The six nearest cells on a torus; empty if there is no torus.
  std::span<const CellIndex> Near(CellIndex cell) const {
    if (near_begin_.empty()) return {};
    return std::span(near_).subspan(near_begin_[cell], near_begin_[cell + 1] - near_begin_[cell]);
  }
  std::int64_t most_weight() const { return *std::max_element(weights_.begin(), weights_.end()); }

  // The node of each worker, from the cell of each worker; no node gets more workers than slots. A
  // worker that stays in its cell keeps its node; others first get nodes that the placement used.
  ByWorker<fabric::NodeIndex> NodesFor(IndexSpan<WorkerIndex, const CellIndex> cell_of) const;

 private:
  struct Found {
    std::vector<fabric::NodeIndex> nodes;
    std::uint32_t slots = 0;
    bool used = false;
  };
  struct Run {
    fabric::NodeIndex begin{0}, end{0};
  };
  std::vector<Run> RunsToLookAt(fabric::Tier home, fabric::NodeIndex begin,
                                fabric::NodeIndex end) const;
  std::vector<Found> FindAll(std::span<const Run> runs) const;
  void Keep(std::vector<Found> found, std::size_t most);
  std::size_t PairOf(CellIndex a, CellIndex b) const {
    return std::size_t{a.Raw()} * size() + b.Raw();
  }
  void WeighPairs();
  void FindNear();

  const objective::Instance& instance_;
  ByWorker<fabric::NodeIndex> placed_;
  bool single_ = true;  // no node takes more than one worker
  ByCell<std::vector<fabric::NodeIndex>> nodes_;
  ByCell<std::uint32_t> slots_;
  struct NodeOfCell {
    fabric::NodeIndex node;
    CellIndex cell;
  };
  std::vector<NodeOfCell> listed_;  // all nodes of all cells, ascending
  ByWorker<CellIndex> of_worker_;
  ByWorker<std::uint32_t> listed_of_worker_;  // index into listed_
  std::vector<std::int64_t> weights_;         // the distinct weights
  std::vector<std::uint16_t> weight_;  // cell x cell, index into weights_: small, to stay in cache
  ByCell<std::uint32_t> near_begin_;
  std::vector<CellIndex> near_;
};

}  // namespace weft::search
