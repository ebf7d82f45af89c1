#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "operator/placement/cells.h"
#include "operator/placement/exchange.h"
#include "operator/placement/instance.h"

namespace weft::placement {

// Local search on the contracted job: the workers of one unit that stand in one
// cell are a piece, and pieces swap places or move to free ones. A step is
// taken where the cost is no more than it was `history` steps ago (late
// acceptance), so the search climbs out of shallow valleys and comes to rest as
// the steps run out. Groups that miss their preferred level pull their pieces
// together.
//
// Cost    O(neighbours of a piece) a step.
// Source  Burke and Bykov, "The late acceptance hill-climbing heuristic",
// European Journal of
//         Operational Research 258, 2017.
class Refiner {
 public:
  // `limits` outlives the refiner.
  Refiner(const Instance& instance, const Candidate& start, const SearchLimits& limits);

  // Lets pieces of these units move, from where the last call ended, for so many quarters of the
  // limits' steps. `seed` beside the limits' own.
  void Run(std::span<const std::uint32_t> unit_of, std::uint32_t quarters, std::uint64_t seed);

  // Divides the workers of pairs of cells anew (exchange.h).
  void Divide(const Pulls& pulls);

  // The cell of each worker now: as units they move the whole content of a cell.
  std::vector<std::uint32_t> cells() const { return cell_of_; }

  // Where the pieces stand now, evaluated; nothing where that is no better than
  // the start.
  std::optional<Candidate> Better() const;

 private:
  const Instance& instance_;
  const Candidate& start_;
  const SearchLimits& limits_;
  Cells cells_;
  std::vector<std::uint32_t> cell_of_;  // worker
};

// From the best few of the candidates, sorted best first, for a quarter of the steps each, and then
// for longer from the best of all: the contents of whole cells, pieces of the groups that must or
// should share a domain, of the natural tiles from large to small, single workers, and at last
// pairs of cells. Adds what it finds in its place. Stops at a cost of `enough`.
void RefineBest(const Instance& instance, const SearchLimits& limits, Int128 enough,
                std::vector<Candidate>& candidates);

}  // namespace weft::placement
