#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/decide/outlook.h"
#include "operator/decide/plan.h"

namespace weft::decide {

// Nodes reserved for a workload that has waited too long, so that smaller workloads behind it do
// not take every node that comes free. Later workloads do not use them, except those that end
// before the reservation begins (backfill).
struct Reservation {
  const Workload* workload = nullptr;
  std::vector<fabric::NodeIndex> nodes;
  // Seconds from now until all of the nodes are free at the latest; unknown if a holder does not
  // state its duration.
  std::optional<std::int64_t> within_seconds;

  bool LeavesRoomFor(const Workload& other) const {
    return within_seconds && other.expected_seconds && *other.expected_seconds <= *within_seconds;
  }
};

// The nodes that the workload would get when enough of `endings` have ended (by its outlook), else
// those on an empty fabric. Nothing if it never fits.
// Cost  one search.
std::optional<Reservation> Reserve(fabric::Claims claims, const Workload& workload,
                                   const Problem& problem, const traffic::WorkerGraph& graph,
                                   const Outlook& outlook, const std::vector<Ending>& endings);

}  // namespace weft::decide
