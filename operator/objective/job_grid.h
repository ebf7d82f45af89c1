#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/units.h"
#include "operator/traffic/worker_graph.h"

namespace weft::objective {

// The shape of a box of workers in the job's grid: its length along each digit.
using Shape = std::vector<std::uint32_t>;
std::uint64_t Volume(const Shape& tile);

// The job's grid of axes, and the bytes that cross the border of a box. A digit of the worker index
// is split in two if it holds one axis inside another (expert groups inside the data axis, shard
// groups inside replicas).
//
// How: bytes are counted on a sample of the workers, since axes are regular.
// Cost  O(sampled workers x neighbours x divisors of the digits).
class JobGrid {
 public:
  // `grid`: from traffic::WorkerGrid; empty means one row of workers.
  JobGrid(const traffic::WorkerGraph& graph, std::span<const std::uint32_t> grid);

  // Sizes of the digits; the digit that changes fastest with the worker index comes first.
  std::span<const std::uint32_t> sizes() const { return sizes_; }
  // The digits, ordered by the bytes that cross them, most first.
  std::span<const std::size_t> heaviest_first() const { return heaviest_first_; }

  // Natural tiles in a few sizes: units of such a tile keep much of their traffic inside. A divisor
  // of a digit qualifies if units of that length lose clearly fewer bytes than pieces of a plain
  // ring would. A single worker or the whole job is never a tile.
  std::vector<Shape> NaturalTiles() const;

  // The tile of at most `room` workers with the fewest bytes across its border. Its length along
  // each digit divides `outer`'s and is a multiple of `inner`'s. Ties go to the larger tile.
  Shape BestTile(const Shape& inner, const Shape& outer, std::uint64_t room) const;

 private:
  struct Digit {
    std::vector<std::uint32_t> lengths;  // divisors of the size, ascending
    std::vector<Int128> leaving;         // bytes between blocks of each length
  };

  void Split(const traffic::WorkerGraph& graph, std::span<const WorkerIndex> sample);
  void Measure(const traffic::WorkerGraph& graph, std::span<const WorkerIndex> sample);
  Int128 Leaving(std::size_t digit, std::uint32_t length) const;

  std::uint32_t workers_ = 0;
  std::vector<std::uint32_t> sizes_;
  std::vector<Digit> digits_;
  std::vector<std::size_t> heaviest_first_;
};

// All divisors of n, ascending; n > 0.
std::vector<std::uint32_t> Divisors(std::uint32_t n);

}  // namespace weft::objective
