#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operator/cluster/workload.h"
#include "operator/plan/crashed_kinds.h"
#include "operator/plan/solver_crash.h"

namespace weft::plan {

// Which workloads of one plan the solver must not be asked for: it has crashed on them, or on equal
// ones (crashed_kinds.h).
//
// Cost           O(objects), and O(kMost) for each workload if anything is remembered.
// Thread-safety  none.
class PlanCrashes {
 public:
  // `cluster`, and `kinds` if it is not null, outlive this object. null: only the crashes that this
  // plan reads count.
  PlanCrashes(const cluster::Cluster& cluster, const CrashQuestion& asks, CrashedKinds* kinds)
      : cluster_(cluster), asks_(asks), kinds_(kinds != nullptr ? *kinds : own_) {}
  PlanCrashes(const PlanCrashes&) = delete;
  PlanCrashes& operator=(const PlanCrashes&) = delete;

  // `bundles`: by workload the name of its bundle; "": it is alone.
  void Learn(const std::vector<cluster::WorkloadView>& workloads,
             const std::vector<std::string>& bundles);
  // `index`: of the workload in the list learned from.
  std::optional<Refusal> FindRefusal(std::size_t index,
                                     const cluster::WorkloadView& workload) const;
  // Once all workloads of its bundle have nodes, nothing is refused for its like any more.
  void GotNodes(std::size_t index);

 private:
  // What a bundle, or a workload alone, asks for.
  struct Asked {
    CrashedKinds::Kind kind;
    std::size_t without_nodes = 0;  // of its parts
  };
  bool IsRefused(const cluster::WorkloadView& workload) const;
  void LearnJobs();

  const cluster::Cluster& cluster_;
  const CrashQuestion& asks_;
  CrashedKinds own_;
  CrashedKinds& kinds_;
  std::vector<std::shared_ptr<Asked>> asked_;  // by workload; empty if nothing is remembered
};

}  // namespace weft::plan
