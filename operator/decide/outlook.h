#pragma once

#include <string>
#include <vector>

#include "operator/decide/plan.h"

namespace weft::decide {

// Something that ends at a known time at the latest, and gives back what it holds.
struct Ending {
  std::int64_t seconds = 0;
  std::string name;                                       // "ns/name"
  const Holder* holder = nullptr;                         // what runs already, or
  const Workload* workload = nullptr;                     // what this plan started
  const std::vector<fabric::NodeIndex>* nodes = nullptr;  // of `workload`
};

// What it holds is free again.
void GiveBack(const Ending& ending, fabric::Claims& claims);

// When the problem would fit at the latest, if everything in `endings` ends in time and nothing
// else starts. Unknown where it does not fit even then.
// Cost  O(log endings) searches.
Outlook WhenItFits(fabric::Claims claims, const placement::Request& request,
                   const traffic::WorkerGraph& graph, std::vector<Ending> endings);

// A sentence: "It would fit within 3 h, once team-a/x has ended.".
std::string OutlookText(const Outlook& outlook, bool ever);

}  // namespace weft::decide
