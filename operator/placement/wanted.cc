#include "operator/placement/wanted.h"

#include <algorithm>
#include <utility>

#include "operator/objective/levels.h"
#include "operator/rules/unwanted.h"

namespace weft::placement {

using fabric::ByNode;
using fabric::NodeIndex;
using objective::Request;

namespace {

Request Without(Request request, const ByNode<std::uint32_t>& unwanted, std::uint32_t most) {
  for (const NodeIndex n : unwanted.Indices()) {
    if (unwanted[n] > most) request.excluded.push_back(n);
  }
  std::sort(request.excluded.begin(), request.excluded.end());
  request.excluded.erase(std::unique(request.excluded.begin(), request.excluded.end()),
                         request.excluded.end());
  return request;
}

bool AsGood(const Request& request, const Plan& plan, const Plan& other, int tolerance_percent) {
  if (other.preferences != plan.preferences) return false;
  if (other.cost > objective::CostLimit(plan.cost, tolerance_percent)) return false;
  return !request.pool_choices ||
         (*request.pool_choices)[other.choice].rank == (*request.pool_choices)[plan.choice].rank;
}

}  // namespace

Plan OnWantedNodes(const fabric::Claims& claims, const Request& request,
                   const objective::Options& options, Plan plan,
                   const std::function<std::optional<Plan>(const Request&)>& solve) {
  const rules::SlotQuery query = {.pod = &request.pod,
                                  .job = request.job,
                                  .excluded = {},
                                  .cap = request.workers,
                                  .ignore_claims = options.ignore_claims};
  const ByNode<std::uint32_t> unwanted = rules::Unwanted(claims, query);
  if (unwanted.empty()) return plan;
  std::uint32_t worst = 0;
  for (const NodeIndex n : plan.nodes) worst = std::max(worst, unwanted[n]);
  std::vector<std::uint32_t> values;
  for (const std::uint32_t value : unwanted) {
    if (value < worst) values.push_back(value);
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  const int tolerance =
      options.cost_tolerance_percent.value_or(claims.fabric().spec().cost_tolerance_percent);
  std::optional<Plan> wanted;
  for (std::size_t low = 0, high = values.size(); low < high;) {
    const std::size_t middle = low + (high - low) / 2;
    std::optional<Plan> found = solve(Without(request, unwanted, values[middle]));
    if (found && AsGood(request, plan, *found, tolerance)) {
      wanted = std::move(found);
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  if (!wanted) return plan;
  wanted->exact = plan.exact;  // of all nodes, as is the bound
  wanted->lower_bound = plan.lower_bound;
  wanted->choices = std::move(plan.choices);
  return *std::move(wanted);
}

}  // namespace weft::placement
