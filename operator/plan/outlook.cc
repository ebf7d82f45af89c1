#include "operator/plan/outlook.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "operator/base/check.h"
#include "operator/cluster/text.h"
#include "operator/placement/fits.h"

namespace weft::plan {
namespace {

bool FitsAfter(fabric::Claims claims, const Fits& fits, std::span<const Ending> endings) {
  for (const Ending& ending : endings) GiveBack(ending, claims);
  return fits(claims);
}

}  // namespace

void GiveBack(const Ending& ending, fabric::Claims& claims) {
  if (ending.holder != nullptr) {
    for (const cluster::Holding& holding : ending.holder->holdings) {
      WEFT_CHECK(holding.amounts != nullptr);
      claims.Remove(holding.node, *holding.amounts, holding.compute_domain, holding.neighbour);
    }
  }
  WEFT_CHECK(ending.workload == nullptr || ending.nodes != nullptr);
  if (ending.workload != nullptr) cluster::RemoveClaims(*ending.workload, *ending.nodes, claims);
}

FitTime WhenItFits(fabric::Claims claims, const objective::Request& request,
                   const traffic::WorkerGraph& graph, std::vector<Ending> endings) {
  const auto fits = [&](const fabric::Claims& then) {
    return placement::Fits(then, request, graph);
  };
  return WhenItFits(std::move(claims), fits, std::move(endings));
}

FitTime WhenItFits(fabric::Claims claims, const Fits& fits, std::vector<Ending> endings) {
  std::sort(endings.begin(), endings.end(), [](const Ending& a, const Ending& b) {
    return std::tie(a.seconds, a.name) < std::tie(b.seconds, b.name);
  });
  const auto fits_after = [&](std::size_t count) {
    return FitsAfter(claims, fits, std::span(endings).first(count));
  };
  if (endings.empty() || !fits_after(endings.size())) return {};
  std::size_t not_enough = 0, enough = endings.size();
  while (enough - not_enough > 1) {
    const std::size_t middle = not_enough + (enough - not_enough) / 2;
    (fits_after(middle) ? enough : not_enough) = middle;
  }
  WEFT_CHECK(enough == not_enough + 1 && enough <= endings.size());
  return {endings[enough - 1].seconds, endings[enough - 1].name};
}

std::string FitTimeText(const FitTime& fit_time, bool ever) {
  if (fit_time.within_seconds) {
    return "It would fit within " + DurationText(*fit_time.within_seconds) + ", when " +
           fit_time.after + " ends.";
  }
  if (!ever) return "It never fits this fabric, not even with nothing else running.";
  return "Its start time is unknown: too few of the running jobs state expectedDurationSeconds.";
}

}  // namespace weft::plan
