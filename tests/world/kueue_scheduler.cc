// The queues and the scheduler of Kueue's manager: pkg/scheduler/scheduler.go, pkg/cache/queue.
#include <algorithm>

#include "tests/world/kueue.h"

namespace weft::world {
namespace {

constexpr Millis kKueueCycle{5};

// Counts against the quota.
bool HoldsQuota(const Json& workload) {
  return IsTrue(workload, "QuotaReserved") && !IsTrue(workload, "Finished") &&
         At(workload, {"spec", "active"}) != Json(false);
}

}  // namespace

void Kueue::TryAllAgain() {
  tried_.clear();
  ScheduleSoon();
}

void Kueue::ScheduleSoon() {
  if (std::exchange(scheduling_, true)) return;
  fibers_.After(kKueueCycle + Millis(chance_.Below(100)), [this] {
    scheduling_ = false;
    if (works()) Schedule();
  });
}

// Whether it waits for its turn.
bool Kueue::MayQueue(const Json& workload) const {
  const std::int64_t at = TimeAt(workload, {"status", "requeueState", "requeueAt"});
  return !IsDeleting(workload) && !IsTrue(workload, "QuotaReserved") &&
         !IsTrue(workload, "Finished") && At(workload, {"spec", "active"}) != Json(false) &&
         TextAt(ConditionOf(workload, "Requeued"), {"status"}) != "False" &&
         at <= options_.now_seconds();
}

// One cycle: the first of each ClusterQueue. There is another one while any is left.
void Kueue::Schedule() {
  bool again = false;
  const auto queues = api_.server().All("clusterqueues.kueue.x-k8s.io");
  for (const auto& [key, queue] : queues) {
    if (!IsDeleting(*queue)) again = ScheduleHead(*queue) || again;
  }
  if (again) ScheduleSoon();
}

// False if nothing waits there.
bool Kueue::ScheduleHead(const Json& cluster_queue) {
  if (!IsQueueActive(cluster_queue)) return false;
  const std::string name = TextAt(cluster_queue, {"metadata", "name"});
  std::shared_ptr<const Json> head;
  FlavorUsage used;
  std::vector<std::shared_ptr<const Json>> holders;
  for (const auto& [key, workload] : api_.server().All("workloads.kueue.x-k8s.io")) {
    if (HoldsQuota(*workload)) {
      if (TextAt(*workload, {"status", "admission", "clusterQueue"}) != name) continue;
      AddTo(used, UsageOf(*workload), 1);
      holders.push_back(workload);
      continue;
    }
    if (tried_.contains(key) || !MayQueue(*workload)) continue;
    const auto queue = QueueOf(*workload);
    if (!queue || TextAt(*queue, {"spec", "clusterQueue"}) != name ||
        TextAt(*queue, {"spec", "stopPolicy"}).substr(0, 4) == "Hold") {
      continue;
    }
    if (!head || IsBefore(*workload, *head)) head = workload;
  }
  if (!head) return false;
  const api::ObjectKey key = KeyOf(*head);
  tried_.insert(key);
  const FlavorAssignment found =
      Assign(*head, cluster_queue, used, [this](const std::string& flavor) {
        return api_.Find(kube::kResourceFlavors, {"", flavor});
      });
  if (found.mode == FlavorAssignment::Mode::kFit) {
    Apply(key, [&](WorkloadStatus& now) {
      now.Reserve(found.admission);
      const Json& checks =
          At(cluster_queue, {"spec", "admissionChecksStrategy", "admissionChecks"});
      if (At(now.object(), {"status", "admissionChecks"}).size() >= checks.size()) {
        now.SyncAdmitted();
      }
    });
    return true;
  }
  std::vector<std::shared_ptr<const Json>> victims;
  if (found.mode == FlavorAssignment::Mode::kPreempt) {
    victims = Victims(*head, found.usage, cluster_queue, used, holders);
  }
  for (const auto& victim : victims) Preempt(KeyOf(*victim));
  Refuse(key, victims.empty() ? found.reason : "WaitingForPreemptedWorkloads",
         victims.empty() ? found.message
                         : found.message + ". Pending the preemption of " +
                               std::to_string(victims.size()) + " workload(s)");
  return true;
}

void Kueue::Refuse(const api::ObjectKey& key, const std::string& reason,
                   const std::string& message) {
  Apply(key, [&](WorkloadStatus& now) { now.Unset(reason, message); });
}

}  // namespace weft::world
