#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operator/cluster/problem.h"
#include "operator/plan/outlook.h"
#include "operator/plan/plan_report.h"

namespace weft::plan {

// Nodes that are reserved for a workload that has waited too long, so that smaller workloads do not
// take every node that becomes free. Later workloads may use them only if they end before the
// reservation begins (backfill).
struct Reservation {
  const cluster::WorkloadView* workload = nullptr;
  ByWorker<fabric::NodeIndex> nodes;
  // In how many seconds, at the latest, all these nodes are free; unknown if a holder has no
  // expected duration.
  std::optional<std::int64_t> within_seconds;

  bool LeavesRoomFor(const cluster::WorkloadView& other) const {
    return within_seconds && other.expected_seconds && *other.expected_seconds <= *within_seconds;
  }
};

// Where no running job says when it ends, reserved nodes would idle without a limit, perhaps for
// weeks. Such a reservation lasts a turn, then a turn passes without it, and so on.
inline constexpr std::int64_t kReservationTurnSeconds = 6 * 3600;
// The seconds that are left of the workload's turn; 0 between two turns.
// `seconds`: since its first reservation could begin.
std::int64_t TurnLeft(std::int64_t seconds);

// How the nodes of a reservation are searched: at quick effort and without a bound, because they
// only keep room. When the workload starts, it is placed anew.
objective::Options ReservationOptions(bool empty);

// The nodes that the workload gets at its fit time, after some of `endings`; without a fit time,
// those that it gets on an empty fabric. Nothing if it never fits.
// Cost  one search at quick effort.
std::optional<Reservation> Reserve(fabric::Claims claims, const cluster::WorkloadView& workload,
                                   const cluster::Problem& problem,
                                   const traffic::WorkerGraph& graph, const FitTime& fit_time,
                                   const std::vector<Ending>& endings);
// The same for another way to choose nodes. `choose` returns the nodes by worker on these claims,
// or on an empty fabric if `empty`; nothing if there are none.
using NodeChooser =
    std::function<std::optional<ByWorker<fabric::NodeIndex>>(const fabric::Claims&, bool empty)>;
std::optional<Reservation> Reserve(fabric::Claims claims, const cluster::WorkloadView& workload,
                                   const NodeChooser& choose, const FitTime& fit_time,
                                   const std::vector<Ending>& endings);

}  // namespace weft::plan
