#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/decide/outlook.h"
#include "operator/decide/plan.h"

namespace weft::decide {

// Nodes kept for a workload that has waited too long, so that smaller ones behind it do not take
// every node that comes free. Later workloads stay off them, but for those that end by themselves
// before the reservation begins (backfill).
struct Reservation {
  const Workload* workload = nullptr;
  std::vector<fabric::NodeIndex> nodes;
  // When all of the nodes are free at the latest, from now; unknown where what holds them does not
  // say how long it takes.
  std::optional<std::int64_t> within_seconds;

  bool LeavesRoomFor(const Workload& other) const {
    return within_seconds && other.expected_seconds && *other.expected_seconds <= *within_seconds;
  }
};

// Where the workload would go once enough of `endings` has ended, by its outlook; else where it
// would go with nothing else on the fabric. Nothing where it never fits.
// Cost  one search.
std::optional<Reservation> Reserve(fabric::Claims claims, const Workload& workload,
                                   const Problem& problem, const traffic::WorkerGraph& graph,
                                   const Outlook& outlook, const std::vector<Ending>& endings);

}  // namespace weft::decide
