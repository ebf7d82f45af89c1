#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/placement/cells.h"
#include "operator/placement/instance.h"

namespace weft::placement {

// What pieces of the job pull each other with: their traffic, and more than all of it between the
// pieces of a set of workers that a group prefers to see in one domain. `of`: piece by worker.
std::vector<traffic::Edge> PullsBetween(const Instance& instance, std::span<const std::uint32_t> of,
                                        std::uint32_t pieces);

// The same by single workers.
class Pulls {
 public:
  explicit Pulls(const Instance& instance);
  std::uint32_t workers() const { return static_cast<std::uint32_t>(begin_.size()) - 1; }
  std::span<const traffic::Neighbour> of(std::uint32_t worker) const {
    return std::span(peers_).subspan(begin_[worker], begin_[worker + 1] - begin_[worker]);
  }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<traffic::Neighbour> peers_;
};

// Divides the workers of two cells anew, pair of cells by pair, while that lowers the cost: a chain
// of single moves and swaps, each the best for the moment even where it costs more, of which the
// cheapest beginning is kept. So whole tiles change places that no single swap could.
//
// Cost    at most `steps` workers looked at.
// Source  Kernighan and Lin, "An efficient heuristic procedure for partitioning graphs", Bell
// System
//         Technical Journal, 1970; pairs of blocks as in Sanders and Schulz, "Engineering
//         multilevel graph partitioning algorithms", ESA 2011.
class Exchange {
 public:
  // `pulls` and `cells` outlive it.
  Exchange(const Pulls& pulls, const Cells& cells);

  // `cell_of`: by worker.
  void Run(std::vector<std::uint32_t>& cell_of, std::uint64_t steps);

 private:
  struct Pair {
    std::uint32_t a = 0, b = 0;
    friend auto operator<=>(const Pair&, const Pair&) = default;
  };
  struct Done {
    std::uint32_t worker, from, to;
  };
  struct Chain {
    std::vector<std::uint32_t> in_a, in_b;  // workers that have not moved yet
    std::vector<Done> done;
    Int128 change = 0;
  };

  std::vector<Pair> ConnectedPairs() const;
  bool Divide(Pair pair);
  bool Step(Pair pair, Chain& chain);
  void Move(Pair pair, std::uint32_t worker, Chain& chain);
  Int128 Gain(std::uint32_t worker, std::uint32_t to) const;
  Int128 Between(std::uint32_t a, std::uint32_t b) const;
  void MoveTo(std::uint32_t worker, std::uint32_t to);

  const Pulls& pulls_;
  const Cells& cells_;
  std::vector<std::uint32_t> cell_of_;
  std::vector<std::vector<std::uint32_t>> in_cell_;
  std::vector<std::uint32_t> free_;
  std::vector<Int128> gain_;  // of a worker of the pair: what it saves in the other cell
  std::vector<std::uint8_t> open_;
  std::uint64_t steps_ = 0;
};

}  // namespace weft::placement
