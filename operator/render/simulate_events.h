#pragma once

#include <string>
#include <vector>

#include "operator/simulate/run.h"

namespace weft::render {

// The file of `weft simulate --events`: a CSV with a line for each event, in order. The first line:
//   run,seconds,event,job,gpus,nodes
inline constexpr const char* kEventColumns = "run,seconds,event,job,gpus,nodes\n";

// The lines of one run, which is called `run`. `nodes` are the names of the nodes of a job that
// starts, one for each worker in the order of workers, or of the node that the event is about,
// separated by spaces.
std::string EventLines(const std::string& run, const simulate::Scenario& scenario,
                       const std::vector<simulate::Event>& events);

}  // namespace weft::render
