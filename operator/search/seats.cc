#include "operator/search/seats.h"

#include <algorithm>
#include <cstdlib>

#include "operator/base/check.h"

namespace weft::search {

using fabric::NodeIndex;
using fabric::Torus;
using fabric::TorusPlace;

namespace {

constexpr std::size_t kNearHosts = 8;  // 6 or 14 find placements that cost as much
constexpr int kMostHops = 4;           // hosts further away are not near

using Offset = std::array<int, fabric::kTorusDimensions>;

int LengthOf(const Offset& offset) {
  return std::abs(offset[0]) + std::abs(offset[1]) + std::abs(offset[2]);
}

// All offsets of one to kMostHops hops, the shortest first.
std::vector<Offset> OffsetsAround() {
  std::vector<Offset> offsets;
  for (int x = -kMostHops; x <= kMostHops; ++x) {
    for (int y = -kMostHops; y <= kMostHops; ++y) {
      for (int z = -kMostHops; z <= kMostHops; ++z) {
        const Offset offset = {x, y, z};
        if (LengthOf(offset) > 0 && LengthOf(offset) <= kMostHops) offsets.push_back(offset);
      }
    }
  }
  std::stable_sort(offsets.begin(), offsets.end(),
                   [](const Offset& a, const Offset& b) { return LengthOf(a) < LengthOf(b); });
  return offsets;
}

// The node at an offset; Torus::kNoNode past the end of a dimension that does not wrap.
NodeIndex NodeAt(const Torus& torus, NodeIndex from, const Offset& offset) {
  const fabric::TorusShape& shape = torus.ShapeAround(from);
  TorusPlace place{};
  for (std::size_t d = 0; d < offset.size(); ++d) {
    const int size = static_cast<int>(shape.sizes()[d]);
    int at = torus.place(from)[d] + offset[d];
    if (shape.wraps(d)) at = (at % size + size) % size;
    if (at < 0 || at >= size) return Torus::kNoNode;
    place[d] = static_cast<std::uint16_t>(at);
  }
  return torus.At(torus.torus_of(from), place);
}

}  // namespace

Seats::Seats(const objective::Instance& instance, objective::Nodes nodes, NodeIndex begin,
             NodeIndex end)
    : torus_(*instance.pair_cost().torus()), first_(instance.fabric().node_count(), kNone) {
  const fabric::TorusShape& shape = torus_.ShapeAround(nodes.front());
  for (std::size_t d = 0; d < hops_.size(); ++d) {
    const auto size = static_cast<std::int32_t>(shape.sizes()[d]);
    for (std::int32_t apart = 0; apart < size; ++apart) {
      const std::int32_t hops = shape.wraps(d) ? std::min(apart, size - apart) : apart;
      hops_[d][static_cast<std::size_t>(kMiddle + apart)] = static_cast<std::uint16_t>(hops);
      hops_[d][static_cast<std::size_t>(kMiddle - apart)] = static_cast<std::uint16_t>(hops);
    }
  }
  for (NodeIndex n = begin; n < end; ++n) {
    if (instance.slots()[n] == 0 || !torus_.SameTorus(n, nodes.front())) continue;
    first_[n] = size();
    const TorusPlace& place = torus_.place(n);
    const std::uint32_t seats = std::min(instance.slots()[n], instance.workers());
    one_a_host_ = one_a_host_ && seats == 1;
    node_.insert(node_.end(), seats, n);
    place_.resize(node_.size(), {place[0], place[1], place[2]});
  }
  FindNear();
}

void Seats::FindNear() {
  const std::vector<Offset> offsets = OffsetsAround();
  near_begin_.push_back(0);
  const auto add = [&](NodeIndex n, std::uint32_t except) {
    for (std::uint32_t s = first_[n]; s < size() && node_[s] == n; ++s) {
      if (s != except) near_.push_back(s);
    }
  };
  for (std::uint32_t seat = 0; seat < size(); ++seat) {
    add(node_[seat], seat);
    std::size_t hosts = 0;
    for (std::size_t i = 0; i < offsets.size() && hosts < kNearHosts; ++i) {
      const NodeIndex n = NodeAt(torus_, node_[seat], offsets[i]);
      // In a short dimension that wraps, two offsets may lead to one host, or back.
      if (n == Torus::kNoNode || n == node_[seat] || first_[n] == kNone) continue;
      add(n, kNone);
      ++hosts;
    }
    near_begin_.push_back(static_cast<std::uint32_t>(near_.size()));
  }
}

ByWorker<std::uint32_t> Seats::SeatsOf(objective::Nodes nodes) const {
  fabric::ByNode<std::uint32_t> next = first_;
  ByWorker<std::uint32_t> seats;
  seats.reserve(nodes.size());
  for (const NodeIndex n : nodes) {
    WEFT_CHECK(next[n] < size() && node_[next[n]] == n);  // no node has more workers than slots
    seats.push_back(next[n]++);
  }
  return seats;
}

}  // namespace weft::search
