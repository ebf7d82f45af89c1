#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/traffic/ranks.h"

namespace weft::traffic {

// Consecutive ranks of a group, in the group's order, that are in one worker.
struct Seat {
  WorkerIndex worker;
  std::uint32_t ranks = 0;
};

// The groups of one family by the workers that hold them. Consecutive groups whose k-th members are
// in the same worker, for every k, form one batch: if a worker holds whole groups of a faster axis,
// the groups of all its ranks are in one batch.
//
// Shapes  members: groups x group_size ranks, group-major. A batch's seats are in the group's
//         order; a worker has several if the group leaves it and comes back.
// Cost    O(members) to make; reading all batches costs O(seats).
class SeatedGroups {
 public:
  SeatedGroups(std::span<const RankIndex> members, std::uint32_t group_size,
               std::uint32_t per_worker);

  std::size_t batches() const { return groups_.size(); }
  std::size_t seats_in_all() const { return seats_.size(); }
  std::span<const Seat> seats(std::size_t batch) const {
    return std::span(seats_).subspan(begin_[batch], begin_[batch + 1] - begin_[batch]);
  }
  // Number of groups in the batch.
  std::uint32_t groups(std::size_t batch) const { return groups_[batch]; }

 private:
  void Add(std::span<const WorkerIndex> workers);

  std::vector<Seat> seats_;
  std::vector<std::uint32_t> begin_ = {0};
  std::vector<std::uint32_t> groups_;
};

}  // namespace weft::traffic
