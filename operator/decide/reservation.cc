#include "operator/decide/reservation.h"

#include <utility>

namespace weft::decide {

std::optional<Reservation> Reserve(fabric::Claims claims, const Workload& workload,
                                   const Problem& problem, const traffic::WorkerGraph& graph,
                                   const Outlook& outlook, const std::vector<Ending>& endings) {
  placement::Options options;
  if (outlook.within_seconds) {
    for (const Ending& ending : endings) {
      if (ending.seconds <= *outlook.within_seconds) GiveBack(ending, claims);
    }
  } else {
    options.ignore_claims = true;
  }
  auto plan = placement::Solve(claims, problem.request, graph, options);
  if (!plan) return std::nullopt;
  return Reservation{&workload, std::move(plan->nodes), outlook.within_seconds};
}

}  // namespace weft::decide
