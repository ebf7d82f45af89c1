#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "operator/fabric/fabric.h"

namespace weft::objective {

using TorusSize = std::array<std::uint32_t, fabric::kTorusDimensions>;

// A box of places of a torus. Along a dimension that wraps, it may run past the end to the start.
struct Box {
  fabric::TorusPlace at{};
  TorusSize size{1, 1, 1};

  friend bool operator==(const Box&, const Box&) = default;
};

// The smallest box that holds all these nodes of one torus, at least one. Along a dimension that
// wraps, the box leaves out the longest run of places without a node.
Box BoxAround(const fabric::Torus& torus, std::span<const fabric::NodeIndex> nodes);

}  // namespace weft::objective
