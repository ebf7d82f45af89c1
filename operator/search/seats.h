#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/check.h"
#include "operator/objective/instance.h"

namespace weft::search {

// The seats of one torus: each host has one seat for every worker that it can take. Seats of a host
// follow each other.
class Seats {
 public:
  static constexpr std::uint32_t kNone = ~0U;

  // The hosts of the torus of `nodes` in [begin, end); `nodes` are among them.
  // Cost  O(hosts x (seats of a host)^2): a host's seats are near each other, and all seats of the
  //       few hosts around it are near each of them.
  Seats(const objective::Instance& instance, objective::Nodes nodes, fabric::NodeIndex begin,
        fabric::NodeIndex end);

  std::uint32_t size() const { return static_cast<std::uint32_t>(node_.size()); }
  fabric::NodeIndex node(std::uint32_t seat) const { return node_[seat]; }
  bool one_a_host() const { return one_a_host_; }
  // A seat for each worker of a placement.
  ByWorker<std::uint32_t> SeatsOf(objective::Nodes nodes) const;
  // Links between the hosts of two seats.
  std::uint32_t Hops(std::uint32_t a, std::uint32_t b) const {
    const Place &from = place_[a], &to = place_[b];
    WEFT_DCHECK(a < size() && b < size());
    std::uint32_t hops = 0;
    for (std::size_t d = 0; d < fabric::kTorusDimensions; ++d) {
      hops += hops_[d][static_cast<std::size_t>(from[d] - to[d] + kMiddle)];
    }
    return hops;
  }
  // The nearest other seats: those of the host itself, then all seats of a few hosts around it.
  std::span<const std::uint32_t> Near(std::uint32_t seat) const {
    return std::span(near_).subspan(near_begin_[seat], near_begin_[seat + 1] - near_begin_[seat]);
  }

 private:
  using Place = std::array<std::int32_t, fabric::kTorusDimensions>;
  static constexpr std::int32_t kMiddle = fabric::kTorusSizeAtMost;

  void FindNear();

  const fabric::Torus& torus_;
  fabric::ByNode<std::uint32_t> first_;  // the node's first seat; kNone if it has none
  std::vector<fabric::NodeIndex> node_;
  bool one_a_host_ = true;
  std::vector<Place> place_;
  // By dimension and difference of places, which is kMiddle where both are equal.
  std::array<std::array<std::uint16_t, std::size_t{2} * kMiddle>, fabric::kTorusDimensions> hops_{};
  std::vector<std::uint32_t> near_begin_, near_;
};

}  // namespace weft::search
