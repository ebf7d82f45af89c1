#include "operator/plan/plan_crashes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/base/check.h"
#include "operator/cluster/placement_pods.h"

namespace weft::plan {
namespace {

// Indices of the workloads that get nodes together.
std::vector<std::vector<std::size_t>> Together(const std::vector<std::string>& bundles) {
  std::vector<std::vector<std::size_t>> together;
  std::map<std::string_view, std::size_t> known;
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    const bool alone = bundles[i].empty();
    const auto at = alone ? known.end() : known.try_emplace(bundles[i], together.size()).first;
    if (alone || at->second == together.size()) together.emplace_back();
    (alone ? together.back() : together[at->second]).push_back(i);
  }
  return together;
}

bool IsForCrashes(const std::optional<Refusal>& refusal) {
  return refusal && refusal->reason == api::kSolverFailed;
}

}  // namespace

bool PlanCrashes::IsRefused(const cluster::WorkloadView& workload) const {
  return IsForCrashes(RefusalFor(cluster_, workload, asks_));
}

// Jobs also before they ask: of equal ones, the first to ask after a crash may be another.
void PlanCrashes::LearnJobs() {
  for (const api::TrainingJob& job : cluster_.inputs->jobs) {
    if (job.conditions.empty() || !job.unreadable.empty()) continue;
    if (cluster::HasCondition(job.conditions, "Placed")) continue;  // it has nodes
    if (!IsForCrashes(RefusalFor(job.conditions, job.meta.generation, asks_))) continue;
    const cluster::WorkloadView workload = cluster::WorkloadOf(job);
    const cluster::WorkloadView* const alone = &workload;
    kinds_.Add(CrashedKinds::KindOf({&alone, 1}), asks_.now);
  }
}

void PlanCrashes::Learn(const std::vector<cluster::WorkloadView>& workloads,
                        const std::vector<std::string>& bundles) {
  kinds_.DropBefore(asks_.now);
  LearnJobs();
  const auto together = Together(bundles);
  const auto kind_of = [&](const std::vector<std::size_t>& bundle) {
    std::vector<const cluster::WorkloadView*> parts;
    for (const std::size_t i : bundle) parts.push_back(&workloads[i]);
    return CrashedKinds::KindOf(parts);
  };
  for (const auto& bundle : together) {
    const bool any = std::any_of(bundle.begin(), bundle.end(), [&](std::size_t i) {
      return !workloads[i].is_job && IsRefused(workloads[i]);
    });
    if (any) kinds_.Add(kind_of(bundle), asks_.now);
  }
  if (kinds_.size() == 0) return;
  asked_.resize(workloads.size());
  for (const auto& bundle : together) {
    const auto asked = std::make_shared<Asked>(Asked{kind_of(bundle), bundle.size()});
    for (const std::size_t i : bundle) asked_[i] = asked;
  }
}

std::optional<Refusal> PlanCrashes::FindRefusal(std::size_t index,
                                                const cluster::WorkloadView& workload) const {
  if (auto own = RefusalFor(cluster_, workload, asks_)) return own;
  if (asked_.empty()) return std::nullopt;
  WEFT_CHECK(index < asked_.size() && asked_[index] != nullptr);
  const auto like = kinds_.Find(asked_[index]->kind);
  if (!like) return std::nullopt;
  return Refusal{std::string(api::kSolverFailed),
                 "The solver crashed twice on " + *like +
                     ", which asks for the same; this one is tried an hour after that one "
                     "was refused last",
                 true, CrashedKinds::kKeepSeconds};
}

void PlanCrashes::GotNodes(std::size_t index) {
  if (asked_.empty()) return;
  WEFT_CHECK(index < asked_.size() && asked_[index] != nullptr);
  Asked& asked = *asked_[index];
  WEFT_CHECK(asked.without_nodes > 0);  // each part gets nodes once
  if (--asked.without_nodes == 0) kinds_.Erase(asked.kind);
}

}  // namespace weft::plan
