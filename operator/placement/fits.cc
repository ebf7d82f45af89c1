#include "operator/placement/fits.h"

#include <algorithm>
#include <vector>

#include "operator/base/check.h"
#include "operator/placement/between.h"
#include "operator/placement/place.h"
#include "operator/placement/pool_sets.h"
#include "operator/rules/node_filter.h"

namespace weft::placement {
namespace {

bool HasGroups(const objective::Request& request) {
  return std::any_of(
      request.groups.begin(), request.groups.end(),
      [](const objective::GroupConstraint& one) { return one.required || one.preferred; });
}

bool HasRoom(const fabric::Claims& claims, const objective::Request& request, bool empty,
             const std::vector<fabric::PoolIndex>& pools) {
  const rules::SlotQuery query = {.pod = &request.pod,
                                  .job = request.job,
                                  .excluded = request.excluded,
                                  .cap = request.workers,
                                  .ignore_claims = empty,
                                  .pools = pools};
  fabric::ByNode<std::uint32_t> slots;
  rules::CountSlots(claims, query, slots);
  WEFT_CHECK(slots.size() == claims.fabric().node_count());
  const auto& begin = claims.fabric().domains(request.required.value_or(fabric::kOutside)).begin;
  for (fabric::DomainIndex d{0}; d + 1 < begin.EndIndex(); ++d) {
    std::uint64_t room = 0;
    for (fabric::NodeIndex n = begin[d]; n < begin[d + 1]; ++n) room += slots[n];
    if (room >= request.workers) return true;
  }
  return false;
}

}  // namespace

bool Fits(const fabric::Claims& claims, const objective::Request& request,
          const traffic::WorkerGraph& graph, const objective::Options& options) {
  if (HasGroups(request) || MayHaveWorkerRules(request)) {
    objective::Options greedy = options;
    greedy.bound = false;
    greedy.limits.after_normal = false;
    greedy.limits.exact_steps = greedy.limits.improve_steps = 0;
    greedy.limits.ring_steps = 0;
    greedy.limits.refine_starts = greedy.limits.fewest_starts = 0;
    return Solve(claims, request, graph, greedy).has_value();
  }
  if (!request.pool_choices) return HasRoom(claims, request, options.ignore_claims, {});
  const RoomByPool room = CountRoom(claims, request, options);
  for (const objective::PoolChoice& choice : *request.pool_choices) {
    for (const auto& pools : PoolSetsOf(claims.fabric(), request, choice, room).sets) {
      if (HasRoom(claims, request, options.ignore_claims, pools)) return true;
    }
  }
  return false;
}

}  // namespace weft::placement
