#include "operator/plan/best_costs.h"
#include "operator/base/check.h"
#include "operator/cluster/problem.h"

#include <algorithm>
#include <utility>

namespace weft::plan {
namespace {

bool SameGroup(const objective::GroupConstraint& a, const objective::GroupConstraint& b) {
  return a.required == b.required && a.preferred == b.preferred && a.sets.begin == b.sets.begin &&
         a.sets.workers == b.sets.workers;
}

bool SameChoice(const objective::PoolChoice& a, const objective::PoolChoice& b) {
  return a.pools == b.pools && a.rank == b.rank && a.one_pool == b.one_pool;
}

// A pod's own labels, which may name the job, count only for its terms on other pods.
bool SameWorker(rules::PodRequirements a, rules::PodRequirements b) {
  if (!a.terms.present()) a.labels = b.labels = {};
  return a == b;
}

// Whether the search gives the same answer for both, if fabric and traffic are the same.
bool SameRequest(const objective::Request& a, const objective::Request& b) {
  // A new member does not compile here: compare it below, unless the search on an empty fabric does
  // not read it or it follows from the others. The job's name only tells ComputeDomains of others,
  // relaxations are for refusals, and grid and ring follow from the traffic.
  const auto& [job, workers, pod, required, preferred, groups, excluded, previous, choices,
               relaxations, grid, ring] = a;
  if (workers != b.workers || required != b.required || preferred != b.preferred) return false;
  if (choices.has_value() != b.pool_choices.has_value()) return false;
  if (choices && !std::equal(choices->begin(), choices->end(), b.pool_choices->begin(),
                             b.pool_choices->end(), SameChoice)) {
    return false;
  }
  return SameWorker(pod, b.pod) && excluded == b.excluded && previous == b.previous_nodes &&
         std::equal(groups.begin(), groups.end(), b.groups.begin(), b.groups.end(), SameGroup);
}

}  // namespace

void BestCosts::DropOtherFabrics(const cluster::Cluster& cluster) {
  answers_.remove_if([&](const Answer& answer) {
    return std::none_of(
        cluster.fabrics.begin(), cluster.fabrics.end(),
        [&](const cluster::ClusterFabric& on) { return on.fabric == answer.fabric; });
  });
}

objective::Request BestCosts::Interned(objective::Request request) {
  if (request.pod.volumes->attached.empty()) return request;
  std::erase_if(drivers_, [](const auto& one) { return one.use_count() == 1; });
  rules::VolumeRules volumes = *request.pod.volumes;
  for (rules::VolumeRules::Attached& one : volumes.attached) {
    const auto same = std::find_if(drivers_.begin(), drivers_.end(), [&](const auto& known) {
      return known->limits == one.of->limits && known->classes == one.of->classes;
    });
    if (same == drivers_.end()) {
      one.of = std::make_shared<const rules::DriverVolumes>(
          rules::DriverVolumes{one.of->limits, {}, one.of->classes});
      drivers_.push_back(one.of);
    } else {
      one.of = *same;
    }
  }
  request.pod.volumes = std::move(volumes);
  return request;
}

const std::optional<BestCost>* BestCosts::Find(const cluster::ClusterFabric& on,
                                               const cluster::WorkloadView& workload,
                                               const cluster::Problem& problem) {
  const objective::Request request = Interned(problem.request);
  const auto found = std::find_if(answers_.begin(), answers_.end(), [&](const Answer& answer) {
    return answer.fabric == on.fabric && answer.per_worker == workload.accelerator->per_worker &&
           answer.model == *workload.model && answer.parallelism == *workload.parallelism &&
           SameRequest(answer.request, request);
  });
  if (found == answers_.end()) return nullptr;
  answers_.splice(answers_.begin(), answers_, found);
  return &found->best;
}

void BestCosts::Add(const cluster::ClusterFabric& on, const cluster::WorkloadView& workload,
                    const cluster::Problem& problem, std::optional<BestCost> best) {
  WEFT_CHECK(on.fabric != nullptr);  // an answer belongs to its fabric
  answers_.push_front({on.fabric, *workload.model, *workload.parallelism,
                       workload.accelerator->per_worker, Interned(problem.request),
                       std::move(best)});
  if (answers_.size() > kMost) answers_.pop_back();
  WEFT_CHECK(answers_.size() <= kMost);
}

}  // namespace weft::plan
