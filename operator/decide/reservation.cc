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
  placement::Placement placement = placement::Place(claims, problem.request, graph, options);
  auto* plan = std::get_if<placement::Plan>(&placement);
  if (plan == nullptr) return std::nullopt;
  return Reservation{&workload, std::move(plan->nodes), outlook.within_seconds};
}

}  // namespace weft::decide
