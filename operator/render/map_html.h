#pragma once

#include <string>
#include <vector>

#include "operator/render/map_svg.h"

namespace weft::render {

// One self-contained page: for each fabric a section with its jobs as a table and its map; no
// outside asset. A click on a job, in the table or on the map, dims all others; pointing at one
// tells why it is there. Light or dark as the reader's system is.
std::string MapHtml(const std::vector<MapInput>& maps);

// A live page for a server: it reloads its content every `seconds` and keeps the highlighted job.
// `when`: time of the picture, for people.
std::string LiveMapHtml(const std::vector<const MapInput*>& maps, const std::string& when,
                        int seconds);

}  // namespace weft::render
