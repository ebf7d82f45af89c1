#pragma once

#include <map>
#include <string>

#include "operator/api/kinds.h"
#include "operator/base/result.h"
#include "operator/decide/plan.h"
#include "operator/rules/pod_requirements.h"

namespace weft::decide {

// Annotation of a Placement in the planner's input: the priority of the Workload of Kueue that
// controls it.
inline constexpr const char* kPriorityAnnotation = "weft.dev/priority";

// A Placement of a Workload of Kueue, which has quota but no pods yet.
struct QueuedPods {
  placement::PodRequirements pod;  // of pods that do not exist yet
  std::string pod_set;
  std::string bundle;  // Placements of one bundle get nodes all together or not at all
};
using Queued = std::map<api::ObjectKey, QueuedPods>;  // by Placement

// As Plan of plan.h. Placements in `queued` need no pods, and if one of a bundle is refused, so are
// all others of it, with the same Refused.
Result<PlanReport> Plan(const Cluster& cluster, const PlanOptions& options, const Queued& queued);

// Whether waiting cannot help: the workload is invalid, the solver has crashed twice on it itself,
// or it would not fit even if nothing else ran and every node were healthy. While nodes are
// cordoned, not Ready or excluded, or if there are none at all, this is not known, so false.
bool NeverFits(const Refused& refused);

// Adds to each refusal that waiting can end how many such workloads are ahead of it on its fabric.
void TellAhead(PlanReport& report);

}  // namespace weft::decide
