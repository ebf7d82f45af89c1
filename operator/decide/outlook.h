#pragma once

#include <string>
#include <vector>

#include "operator/decide/plan.h"

namespace weft::decide {

// A holder that ends by a known time and then releases its resources.
struct Ending {
  std::int64_t seconds = 0;
  std::string name;                                       // "ns/name"
  const Holder* holder = nullptr;                         // set for a running holder, or
  const Workload* workload = nullptr;                     // for a workload of this plan
  const std::vector<fabric::NodeIndex>* nodes = nullptr;  // of `workload`
};

// Releases the holder's claims.
void GiveBack(const Ending& ending, fabric::Claims& claims);

// The latest time at which the problem fits, if all `endings` are on time and nothing else starts.
// Unknown if it does not fit even then.
// Cost  O(log endings) searches.
Outlook WhenItFits(fabric::Claims claims, const placement::Request& request,
                   const traffic::WorkerGraph& graph, std::vector<Ending> endings);

// A sentence: "It would fit within 3 h, when team-a/x ends.".
std::string OutlookText(const Outlook& outlook, bool ever);

}  // namespace weft::decide
