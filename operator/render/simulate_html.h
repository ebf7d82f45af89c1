#pragma once

#include <string>
#include <vector>

#include "operator/render/simulate_map.h"
#include "operator/simulate/summary.h"

namespace weft::render {

// The report of `weft simulate --report`: one HTML page with the table and charts of all runs, and
// maps of the first ones, without anything that is loaded from elsewhere. Light and dark, for a
// screen, a phone and print.
// Shapes  maps: of the first runs; at most as many as there are summaries.
std::string SimulateHtml(const simulate::Scenario& scenario,
                         const std::vector<simulate::Summary>& summaries,
                         const std::vector<FleetMap>& maps);

// A run's name among the others: its policy, and its order and backfill where they differ.
std::string RunName(const simulate::Summary& one, const std::vector<simulate::Summary>& all);

}  // namespace weft::render
