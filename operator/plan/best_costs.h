#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>

#include "operator/cluster/cluster.h"
#include "operator/cluster/problem.h"
#include "operator/cluster/workload.h"

namespace weft::plan {

// The solver's result on the empty fabric.
struct BestCost {
  Int128 cost = 0;
  Int128 cross_node_bytes = 0;

  friend bool operator==(const BestCost&, const BestCost&) = default;
};

// Remembers what jobs would cost on the empty fabric, because that search takes as long as the
// placement itself and does not depend on what runs. An answer belongs to all that the search reads
// except the job's name: the fabric as it was built, the traffic and the request. Jobs of one
// template share it; a change of any of these is a new question.
//
// One BestCosts serves plans with the same PlanOptions::place. The caller owns it.
// Cost           a lookup compares at most kMost small values; memory O(workers) for each answer.
// Thread-safety  none.
class BestCosts {
 public:
  // A cluster has fewer kinds of jobs than this, with their nodes of the last attempt. More only
  // cost another search, and 256 answers for jobs of 1,000 workers take about 5 MB.
  static constexpr std::size_t kMost = 256;

  // Forgets the answers on fabrics that the cluster no longer has.
  void DropOtherFabrics(const cluster::Cluster& cluster);

  // The remembered answer, whose value is absent if the job does not fit the empty fabric; null if
  // there is none. Valid until the next call of a method.
  const std::optional<BestCost>* Find(const cluster::ClusterFabric& on,
                                      const cluster::WorkloadView& workload,
                                      const cluster::Problem& problem);
  // Forgets the answer that was not used for longest if there are too many.
  void Add(const cluster::ClusterFabric& on, const cluster::WorkloadView& workload,
           const cluster::Problem& problem, std::optional<BestCost> best);

  std::size_t size() const { return answers_.size(); }

 private:
  struct Answer {
    std::shared_ptr<const fabric::Fabric> fabric;  // held, so that its address is not used again
    // The traffic is a function of these and of the number of workers.
    std::optional<traffic::Model> model;
    traffic::Parallelism parallelism;
    std::uint32_t per_worker = 0;
    objective::Request request;
    std::optional<BestCost> best;
  };

  objective::Request Interned(objective::Request request);

  std::list<Answer> answers_;  // the last used first
  // Limits of CSI drivers as requests have them, each once and without the volumes of running pods,
  // which the empty fabric does not have.
  std::vector<std::shared_ptr<const rules::DriverVolumes>> drivers_;
};

}  // namespace weft::plan
