#pragma once

#include <string>

#include "operator/render/map_input.h"

namespace weft::render {

// With more nodes than kMostNodeCells, a cell of the picture is a domain of the narrowest level;
// with more of these domains than kMostDomainCells, a domain of a wider level.
inline constexpr std::uint32_t kMostNodeCells = 2'000;
inline constexpr std::uint32_t kMostDomainCells = 12'000;

enum class Legend : std::uint8_t { kNone, kDrawn };

// The fabric as one SVG picture. Levels are nested boxes, and a cell is a node; the plan's jobs are
// in colour, earlier pods in grey; a bar under each domain's name shows the bytes that leave it.
// Colours are CSS variables with light defaults, so that a page can set its own.
// Cost  O((nodes + workers) x tiers).
std::string MapSvg(const MapInput& map, Legend legend = Legend::kDrawn);

// The colour of the plan's job number `index`, "#rrggbb". There are a dozen, distinct also with
// colour blindness; further jobs use them again, with strokes in MapSvg.
std::string JobColour(std::size_t index);

// SVG elements of a square in the job's colour and strokes. The enclosing svg must contain
// MapPatterns.
inline constexpr int kMapSwatch = 14;  // side of a swatch in a legend
std::string JobSwatch(std::size_t job, int x, int y, int side);
std::string MapPatterns();

}  // namespace weft::render
