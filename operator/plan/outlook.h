#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operator/plan/plan_report.h"

namespace weft::plan {

// A holder that ends by a known time and then releases its resources.
struct Ending {
  std::int64_t seconds = 0;
  std::string name;                                    // "ns/name"
  const cluster::Holder* holder = nullptr;             // for a running holder; else null
  const cluster::WorkloadView* workload = nullptr;     // for a workload of this plan; else null
  const ByWorker<fabric::NodeIndex>* nodes = nullptr;  // of `workload`
};

// Releases the claims of the holder or workload.
void GiveBack(const Ending& ending, fabric::Claims& claims);

// The latest time at which the request fits, if all `endings` are on time and nothing else starts.
// Unknown if it would not fit even after all of them.
// Cost  O(log endings) searches.
FitTime WhenItFits(fabric::Claims claims, const objective::Request& request,
                   const traffic::WorkerGraph& graph, std::vector<Ending> endings);
// The same for another rule of what fits. `fits` must stay true when claims are released.
using Fits = std::function<bool(const fabric::Claims&)>;
FitTime WhenItFits(fabric::Claims claims, const Fits& fits, std::vector<Ending> endings);

// A sentence: "It would fit within 3 h, when team-a/x ends.".
std::string FitTimeText(const FitTime& fit_time, bool ever);

}  // namespace weft::plan
