#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"

namespace weft::search {

// Which workers of a small job may change roles: a permutation of the workers that leaves all bytes
// between them and all topology groups as they are (a ring turned round, two experts of a group)
// does not change what a placement costs. The exact search uses it to try one of them only.
class Automorphisms {
 public:
  // `order`: the order in which the search places the workers. `bytes`: between every two workers.
  Automorphisms(const objective::Instance& instance, std::span<const std::int64_t> bytes,
                std::span<const WorkerIndex> order);

  // The later indices i of the order for which a permutation moves worker order[i] to order[depth]
  // and leaves the workers before as they are. Computed at the first call for this depth.
  //
  // Cost  at most kMostTries comparisons of a row for each later worker; one that was not found
  //       within them is left out.
  std::span<const std::uint32_t> Orbit(std::size_t depth);

 private:
  bool Maps(std::size_t depth, std::size_t from);
  bool Extend(std::size_t at);
  bool Fits(std::size_t at, std::size_t image) const;

  std::size_t workers_;
  std::vector<std::uint32_t> label_;  // of each pair, by indices of the order; row by row
  std::vector<std::vector<std::uint32_t>> orbit_;
  std::vector<std::uint8_t> known_;  // by depth: whether orbit_ is computed
  std::vector<std::size_t> image_;   // by index of the order; scratch
  std::vector<std::uint8_t> taken_;
  std::uint32_t tries_ = 0;
};

}  // namespace weft::search
