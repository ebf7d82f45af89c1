#pragma once

#include <string>

#include "operator/render/map_input.h"

namespace weft::render {

// With more nodes a square is a narrowest domain; with more of these, a wider
// one.
inline constexpr std::uint32_t kMostNodeCells = 2'000;
inline constexpr std::uint32_t kMostDomainCells = 12'000;

enum class Legend : std::uint8_t { kNone, kDrawn };

// The fabric as one SVG picture: levels as nested boxes, a cell a node, the plan's jobs in colour,
// earlier pods in grey, a bar under each domain's name for the bytes that leave it. Colours are CSS
// variables with light defaults, so that a page can set its own.
// Cost  O((nodes + workers) x tiers).
std::string MapSvg(const MapInput& map, Legend legend = Legend::kDrawn);

// Colour of the plan's job number `index`, "#rrggbb": a dozen, told apart in any kind of colour
// vision; then they come again, and MapSvg strikes them through to tell them apart.
std::string JobColour(std::size_t index);

// A square in the job's colour and strokes: SVG elements. The svg around it must hold MapPatterns.
std::string JobSwatch(std::size_t job, int x, int y, int side);
std::string MapPatterns();

}  // namespace weft::render
