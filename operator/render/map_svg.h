#pragma once

#include <string>

#include "operator/render/map_input.h"

namespace weft::render {

// The fabric as one SVG picture: levels as nested boxes, a cell a node, the plan's jobs in colour,
// earlier pods in grey, a bar under each domain's name for the bytes that leave it. Above
// kMostNodeCells nodes a narrowest domain is one cell. Colours are CSS variables with defaults, so
// that a page can follow the reader's theme.
// Cost  O(nodes).
std::string MapSvg(const MapInput& map);

inline constexpr std::uint32_t kMostNodeCells = 2'500;

// Colour of the plan's job number `index`, "#rrggbb"; distinct for the first dozen or two.
std::string JobColour(std::size_t index);

}  // namespace weft::render
