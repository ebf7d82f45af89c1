#include "operator/plan/reservation.h"
#include "operator/base/check.h"
#include "operator/cluster/problem.h"

#include <utility>

namespace weft::plan {

objective::Options ReservationOptions(bool empty) {
  objective::Options options;
  options.limits = objective::LimitsOf(objective::Effort::kQuick);
  options.bound = false;
  options.ignore_claims = empty;
  return options;
}

std::optional<Reservation> Reserve(fabric::Claims claims, const cluster::Workload& workload,
                                   const cluster::Problem& problem,
                                   const traffic::WorkerGraph& graph, const Outlook& outlook,
                                   const std::vector<Ending>& endings) {
  const Seat seat = [&](const fabric::Claims& then,
                        bool empty) -> std::optional<std::vector<fabric::NodeIndex>> {
    auto plan = placement::Solve(then, problem.request, graph, ReservationOptions(empty));
    if (!plan) return std::nullopt;
    return std::move(plan->nodes);
  };
  return Reserve(std::move(claims), workload, seat, outlook, endings);
}

std::optional<Reservation> Reserve(fabric::Claims claims, const cluster::Workload& workload,
                                   const Seat& seat, const Outlook& outlook,
                                   const std::vector<Ending>& endings) {
  if (outlook.within_seconds) {
    for (const Ending& ending : endings) {
      if (ending.seconds <= *outlook.within_seconds) GiveBack(ending, claims);
    }
  }
  auto nodes = seat(claims, !outlook.within_seconds);
  if (!nodes) return std::nullopt;
  WEFT_CHECK(nodes->size() == workload.workers);
  return Reservation{&workload, *std::move(nodes), outlook.within_seconds};
}

}  // namespace weft::plan
