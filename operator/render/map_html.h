#pragma once

#include <string>
#include <vector>

#include "operator/render/map_svg.h"

namespace weft::render {

// One self-contained page without external assets. Each fabric has a section with a table of its
// jobs and its map. A click on a job, in the table or on the map, dims all others; hovering over a
// job shows why it is there. Colours are light or dark like the reader's system.
std::string MapHtml(const std::vector<MapInput>& maps);

// A live page for a server: it reloads its content every `seconds` and keeps the highlighted job.
// `when`: the time of the picture as text.
std::string LiveMapHtml(const std::vector<const MapInput*>& maps, const std::string& when,
                        int seconds);

}  // namespace weft::render
