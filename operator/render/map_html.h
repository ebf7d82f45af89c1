#pragma once

#include <string>
#include <vector>

#include "operator/render/map_svg.h"

namespace weft::render {

// One self-contained page: for each fabric a section with its jobs as a table and its map; no
// outside asset. A click on a job, in the table or on the map, dims all others; light or dark as
// the reader's system is.
std::string MapHtml(const std::vector<MapInput>& maps);

}  // namespace weft::render
