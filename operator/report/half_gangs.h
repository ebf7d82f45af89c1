#pragma once

#include <string>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/cluster/note.h"

namespace weft::report {

// A warning for each gang of another controller that holds accelerators with some of its workers
// while others have no node: "MPIJob team/train holds 16 accelerators with 2 of 3 workers; train-2
// has no node: 0/4 nodes are available: ...". Nothing else can use what it holds until the others
// fit. TrainingJobs, and pods that wait for a Placement of Weft, start as a whole and are none.
//
// `space`  of one namespace; "": all.
// Cost     O(pods log pods).
std::vector<cluster::Note> HalfGangs(const api::Inputs& inputs, const std::string& space);

}  // namespace weft::report
