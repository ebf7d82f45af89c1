#pragma once

#include <string>
#include <vector>

#include "operator/render/map_svg.h"

namespace weft::render {

// One self-contained page: a section with its map for each fabric; no outside asset. A click on a
// job in the legend dims all others; light or dark as the reader's system is.
std::string MapHtml(const std::vector<MapInput>& maps);

}  // namespace weft::render
