#include "operator/life/as_of.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "operator/api/conditions.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/exclusion.h"
#include "operator/life/job_status.h"

namespace weft::life {
namespace {

// How long ago the condition changed; without one, how long ago the object was created.
std::int64_t SecondsSince(const api::Condition* condition, const api::ObjectMeta& meta,
                          UnixSeconds now) {
  std::optional<UnixSeconds> since;
  if (condition != nullptr) since = ParseTime(condition->last_transition_time);
  if (!since) since = ParseTime(meta.creation_timestamp);
  return std::max<std::int64_t>(0, now - since.value_or(now));
}

std::int64_t WaitedSeconds(const api::ObjectMeta& meta,
                           const std::vector<api::Condition>& conditions, UnixSeconds now) {
  const api::Condition* placed = api::FindCondition(conditions, "Placed");
  if (placed != nullptr && placed->status == "True") placed = nullptr;
  return SecondsSince(placed, meta, now);
}

api::WaitFacts FactsOf(const std::vector<api::ExcludedNode>& excluded,
                       const std::vector<api::Condition>& conditions, const api::ObjectMeta& meta,
                       UnixSeconds now, const NodeBirths& births) {
  return {ExcludedAt(excluded, now, api::ExclusionEffect::kNoSchedule, births),
          ExcludedAt(excluded, now, api::ExclusionEffect::kPreferNoSchedule, births),
          {},
          WaitedSeconds(meta, conditions, now)};
}

// Sets `wait` of an object that may have its nodes already. The nodes that it excludes count then
// too, for answers about other nodes for it; but it does not wait.
template <typename Object>
void SetFacts(Object& object, bool placed, UnixSeconds now, const NodeBirths& births) {
  SetWait(object, now, births);
  if (placed) object.wait.waited_seconds.reset();
}

}  // namespace

bool CountsDown(const api::TrainingJob& job) {
  return job.expected_duration_seconds && cluster::HasCondition(job.conditions, "Placed");
}

void CountDown(api::TrainingJob& job, UnixSeconds now) {
  if (!CountsDown(job)) return;
  const auto placed = Since(StatusOf(job), "Placed");
  if (!placed) return;
  job.expected_duration_seconds =
      std::max<std::int64_t>(0, *placed + *job.expected_duration_seconds - now);
}

NodeBirths BirthsIn(const SharedList<api::Node>& nodes) {
  using Births = std::unordered_map<std::string_view, std::string_view>;
  return [&nodes, births = std::make_shared<Births>()](
             const std::string& name) -> std::optional<UnixSeconds> {
    if (births->empty()) {
      for (const api::Node& node : nodes) {
        births->emplace(node.meta.key.name, node.meta.creation_timestamp);
      }
    }
    const auto found = births->find(name);
    return found == births->end() ? std::nullopt : ParseTime(found->second);
  };
}

void SetWait(api::TrainingJob& job, UnixSeconds now, const NodeBirths& births,
             const std::vector<std::string>& previous) {
  job.wait = FactsOf(job.record.excluded, job.conditions, job.meta, now, births);
  job.wait.previous_nodes = previous;
}

void SetWait(api::Placement& placement, UnixSeconds now, const NodeBirths& births) {
  placement.wait = FactsOf(placement.excluded, placement.conditions, placement.meta, now, births);
}

void SetWait(api::Workload& workload, UnixSeconds now) {
  const auto* reserved = api::FindCondition(workload.conditions, "QuotaReserved");
  workload.waited_seconds = SecondsSince(reserved, workload.meta, now);
}

void SetTimes(api::Inputs& live, UnixSeconds now) {
  const NodeBirths births = BirthsIn(live.nodes);
  for (std::size_t i = 0; i < live.jobs.size(); ++i) {
    api::TrainingJob& job = live.jobs.Edit(i);
    CountDown(job, now);
    SetFacts(job, cluster::HasCondition(job.conditions, "Placed"), now, births);
  }
  for (std::size_t i = 0; i < live.placements.size(); ++i) {
    const bool placed = !live.placements[i].nodes.empty();
    if (placed && live.placements[i].excluded.empty()) continue;
    SetFacts(live.placements.Edit(i), placed, now, births);
  }
  for (std::size_t i = 0; i < live.workloads.size(); ++i) {
    const auto& conditions = live.workloads[i].conditions;
    const bool waits = !cluster::HasCondition(conditions, "Admitted") &&
                       !cluster::HasCondition(conditions, "Finished");
    if (waits) SetWait(live.workloads.Edit(i), now);
  }
}

}  // namespace weft::life
