#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/base/random.h"
#include "tests/world/fibers.h"
#include "tests/world/kueue_quota.h"
#include "tests/world/kueue_status.h"

namespace weft::world {

// Kueue's manager without its integrations of kinds (kueue_jobs.h): the Workload controller, the
// scheduler and the queues. It reserves quota by priority and age, waits for admission checks,
// admits, preempts and evicts, and queues again what gave its quota back. Who owns a Workload gives
// the quota back after an eviction, and removes the finalizer.
//
// Left out   cohorts and borrowing, StrictFIFO, partial admission, topology-aware scheduling,
//            MultiKueue, elastic jobs, admission gates, fair sharing, retention
// Source     kubernetes-sigs/kueue ff69552e79, pkg/controller/core, pkg/scheduler, pkg/cache/queue
// Thread-safety  none
class Kueue {
 public:
  struct Options {
    std::function<std::int64_t()> now_seconds;
    std::uint64_t seed = 1;
    Millis most_delay{300};  // of one reconcile; now and then 20 times as long
    std::chrono::seconds pods_ready_timeout{1'800};
  };
  Kueue(Fibers& fibers, ApiServer& server, Options options);

  void OnChange(const Change& change);
  // Its webhook, for ApiServer::SetAdmission: refuses what it would refuse, and everything while it
  // is down.
  std::optional<kube::Response> Admit(const ApiServer::Attempt& attempt) const;

  // The process is gone: it does nothing, and its webhooks do not answer.
  void SetDown(bool down);
  bool down() const { return down_; }
  // It answers as before, but sees and does nothing.
  void SetSilent(bool silent);
  bool works() const { return !down_ && !silent_; }
  // It looks at everything again.
  void Resync();
  // Evicts it as for a workload of higher priority; false if it holds no quota.
  bool Preempt(const api::ObjectKey& workload);

 private:
  using Edit = std::function<void(WorkloadStatus&)>;
  void OnQueueChange(const Change& change);
  void ReconcileSoon(const api::ObjectKey& key);
  void Visit(const api::ObjectKey& key, std::int64_t at);
  void Reconcile(const api::ObjectKey& key);
  bool ReconcileOrphan(const api::ObjectKey& key, WorkloadStatus& now);
  bool ReconcileActive(const api::ObjectKey& key, WorkloadStatus& now);
  void ReconcileInactive(const api::ObjectKey& key, WorkloadStatus& now);
  bool ReconcileQueue(const api::ObjectKey& key, WorkloadStatus& now);
  bool ReconcileQuota(const api::ObjectKey& key, WorkloadStatus& now);
  bool ReconcileTimes(const api::ObjectKey& key, WorkloadStatus& now);
  void SayWhyPending(WorkloadStatus& now) const;
  void Write(const api::ObjectKey& key, const Json& before, const WorkloadStatus& now);
  // As it is now, changed by `edit`; false if it is gone or the write was refused.
  bool Apply(const api::ObjectKey& key, const Edit& edit);

  std::shared_ptr<const Json> QueueOf(const Json& workload) const;         // its LocalQueue
  std::shared_ptr<const Json> ClusterQueueOf(const Json& workload) const;  // of its LocalQueue
  bool IsQueueActive(const Json& cluster_queue) const;
  bool MayQueue(const Json& workload) const;
  void ScheduleSoon();
  void TryAgain(const api::ObjectKey& key);  // this one
  void TryOnce(const std::string& cluster_queue, const Json& workload);
  void DoNotTryOnce(const api::ObjectKey& key);
  void TryAllAgain(const std::string& cluster_queue);
  void TryAllAgain();
  void Schedule();
  bool ScheduleHead(const Json& cluster_queue);
  std::shared_ptr<const Json> HeadOf(const std::string& cluster_queue);
  bool TryPreemption(const Json& head, const Json& cluster_queue, const FlavorAssignment& found,
                     const std::vector<std::shared_ptr<const Json>>& victims);
  // The reason that one which is like it got; "" if it may be tried.
  std::string LikeRefused(const std::string& cluster_queue, const Json& workload) const;

  Fibers& fibers_;
  Actor api_;
  const Options options_;
  SplitMix64 chance_;
  bool down_ = false, silent_ = false, scheduling_ = false;
  std::set<api::ObjectKey> due_;  // a reconcile is on its way
  // Of a ClusterQueue, until something changes there.
  struct Refusals {
    std::set<api::ObjectKey> tried;             // inadmissible
    std::map<std::string, std::string> shapes;  // no room for those that are like these; why
    std::set<api::ObjectKey> once;              // next, even if their time has not come
    // It waits for those that it preempted, and all others wait for it.
    std::optional<api::ObjectKey> preemptor;
  };
  std::map<std::string, Refusals> refusals_;
  std::set<std::string> again_;  // ClusterQueues whose Workloads are all tried again soon
};

// The objects' definitions: what of their schemas limits Weft's writes.
std::vector<Json> KueueDefinitions();

}  // namespace weft::world
