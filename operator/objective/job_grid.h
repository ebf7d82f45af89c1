#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/units.h"
#include "operator/traffic/worker_graph.h"

namespace weft::placement {

// A box of workers in the job's grid: its length along each digit.
using Shape = std::vector<std::uint32_t>;
std::uint64_t Volume(const Shape& tile);

// The job's grid of axes, and the bytes that boxes of it cut. A digit of the worker index that
// holds two axes one inside the other (expert groups inside the data axis, shard groups inside
// replicas) is split in two.
//
// How: bytes are counted on a sample of the workers, since axes are regular.
// Cost  O(sampled workers x neighbours x divisors of the digits).
class JobGrid {
 public:
  // `grid`: traffic::WorkerGrid; empty means one row of workers.
  JobGrid(const traffic::WorkerGraph& graph, std::span<const std::uint32_t> grid);

  // Sizes of the digits, fastest first.
  std::span<const std::uint32_t> sizes() const { return sizes_; }
  // Digits, the one that most bytes cross first.
  std::span<const std::size_t> heaviest_first() const { return heaviest_first_; }

  // Natural tiles, in a few sizes: tiles whose units keep much traffic inside. A divisor of a digit
  // qualifies if the bytes that leave a unit drop by more than a longer piece of a ring explains.
  // Never a single worker or the whole job.
  std::vector<Shape> NaturalTiles() const;

  // The tile of at most `room` workers that cuts the fewest bytes: along each digit a divisor of
  // `outer`'s length and a multiple of `inner`'s. Ties go to the larger tile.
  Shape BestTile(const Shape& inner, const Shape& outer, std::uint64_t room) const;

 private:
  struct Digit {
    std::vector<std::uint32_t> lengths;  // divisors of the size, ascending
    std::vector<Int128> leaving;         // bytes between blocks of that length
  };

  void Split(const traffic::WorkerGraph& graph, std::span<const std::uint32_t> sample);
  void Measure(const traffic::WorkerGraph& graph, std::span<const std::uint32_t> sample);
  Int128 Leaving(std::size_t digit, std::uint32_t length) const;

  std::uint32_t workers_ = 0;
  std::vector<std::uint32_t> sizes_;
  std::vector<Digit> digits_;
  std::vector<std::size_t> heaviest_first_;
};

// All divisors of n, ascending; n > 0.
std::vector<std::uint32_t> Divisors(std::uint32_t n);

}  // namespace weft::placement
