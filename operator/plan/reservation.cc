#include "operator/plan/reservation.h"
#include "operator/base/check.h"
#include "operator/cluster/problem.h"

#include <algorithm>
#include <utility>

namespace weft::plan {

objective::Options ReservationOptions(bool empty) {
  objective::Options options;
  options.limits = objective::LimitsOf(objective::Effort::kQuick);
  options.bound = false;
  options.ignore_claims = empty;
  return options;
}

std::int64_t TurnLeft(std::int64_t seconds) {
  const std::int64_t into = seconds % (2 * kReservationTurnSeconds);
  return std::max<std::int64_t>(0, kReservationTurnSeconds - into);
}

std::optional<Reservation> Reserve(fabric::Claims claims, const cluster::WorkloadView& workload,
                                   const cluster::Problem& problem,
                                   const traffic::WorkerGraph& graph, const FitTime& fit_time,
                                   const std::vector<Ending>& endings) {
  const NodeChooser choose = [&](const fabric::Claims& then,
                                 bool empty) -> std::optional<ByWorker<fabric::NodeIndex>> {
    auto plan = placement::Solve(then, problem.request, graph, ReservationOptions(empty));
    if (!plan) return std::nullopt;
    return std::move(plan->nodes);
  };
  return Reserve(std::move(claims), workload, choose, fit_time, endings);
}

std::optional<Reservation> Reserve(fabric::Claims claims, const cluster::WorkloadView& workload,
                                   const NodeChooser& choose, const FitTime& fit_time,
                                   const std::vector<Ending>& endings) {
  if (fit_time.within_seconds) {
    for (const Ending& ending : endings) {
      if (ending.seconds <= *fit_time.within_seconds) GiveBack(ending, claims);
    }
  }
  auto nodes = choose(claims, !fit_time.within_seconds);
  if (!nodes) return std::nullopt;
  WEFT_CHECK(nodes->size() == workload.workers);
  return Reservation{&workload, *std::move(nodes), fit_time.within_seconds};
}

}  // namespace weft::plan
