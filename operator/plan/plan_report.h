#pragma once

#include "operator/plan/plan.h"

namespace weft::plan {

// Whether waiting cannot help: the workload is invalid, the solver has crashed twice on it itself,
// or it would not fit even if nothing else ran and every node were healthy. While nodes are
// cordoned, not Ready or excluded, or if there are none at all, this is not known, so false.
bool NeverFits(const Refused& refused);

// Adds to each refusal that waiting can end how many such workloads are ahead of it on its fabric.
void AddAheadTexts(PlanReport& report);

}  // namespace weft::plan
