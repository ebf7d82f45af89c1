#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "operator/base/random.h"
#include "tests/world/fibers.h"
#include "tests/world/kueue.h"

namespace weft::world {

// Kueue's integration of batch/v1 Jobs: one Workload for each Job in a queue; the Job starts when
// it is admitted, with what flavors and checks add to its pods, and is suspended when it is
// evicted. When no pod is active any more the quota is given back, before that the quota of pods
// that have succeeded.
// Left out   partial admission, Jobs without a queue
// Source     kubernetes-sigs/kueue ff69552e79, pkg/controller/jobframework/reconciler.go and
//            pkg/controller/jobs/job
class KueueJobs {
 public:
  KueueJobs(Fibers& fibers, ApiServer& server, const Kueue& kueue,
            std::function<std::int64_t()> now_seconds, std::uint64_t seed);
  void OnChange(const Change& change);
  // After the manager has started again.
  void Resync();

 private:
  void ReconcileSoon(const api::ObjectKey& key);
  void Reconcile(const api::ObjectKey& key);
  std::shared_ptr<const Json> WorkloadOf(const std::string& uid, const api::ObjectKey& key) const;
  void MakeWorkload(const Json& job);
  bool Reclaim(const Json& job, const Json& workload);
  bool ReportPods(const Json& job, const Json& workload);
  void Write(const Json& workload, const WorkloadStatus& now);
  void Start(const Json& job, const Json& workload);
  void Stop(const Json& job, const Json& workload);
  void GiveBack(const Json& job, const Json& workload);
  void RemoveFinalizer(const Json& workload);
  void DropOrphans(const api::ObjectKey& key);

  Fibers& fibers_;
  Actor api_;
  const Kueue& kueue_;
  const std::function<std::int64_t()> now_seconds_;
  SplitMix64 chance_;
  std::set<api::ObjectKey> due_;
};

}  // namespace weft::world
