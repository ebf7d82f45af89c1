// The queues and the scheduler of Kueue's manager: pkg/scheduler/scheduler.go, pkg/cache/queue.
#include <algorithm>

#include "tests/world/kueue.h"

namespace weft::world {
namespace {

constexpr Millis kKueueCycle{5}, kRequeueBatch{1'000};

// Those of one shape fit or do not fit together.
std::string ShapeOf(const Json& workload) {
  Json shape = {{"priority", NumberAt(workload, {"spec", "priority"})}};
  for (const Json& set : At(workload, {"spec", "podSets"})) {
    shape["sets"].push_back({At(set, {"name"}), At(set, {"count"}), At(set, {"template", "spec"})});
  }
  return shape.dump();
}

// Counts against the quota.
bool HoldsQuota(const Json& workload) {
  return IsTrue(workload, "QuotaReserved") && !IsTrue(workload, "Finished") &&
         At(workload, {"spec", "active"}) != Json(false);
}

}  // namespace

void Kueue::TryAgain(const api::ObjectKey& key) {
  for (auto& [name, refusals] : refusals_) refusals.tried.erase(key);
}

// Without a look at its backoff and at whether one like it was refused.
void Kueue::TryOnce(const std::string& cluster_queue, const Json& workload) {
  if (IsAdmissible(workload)) refusals_[cluster_queue].once.insert(KeyOf(workload));
}

void Kueue::DoNotTryOnce(const api::ObjectKey& key) {
  for (auto& [name, refusals] : refusals_) refusals.once.erase(key);
}

// Those that had no room are collected for a second; one that preempts is tried at once.
void Kueue::TryAllAgain(const std::string& cluster_queue) {
  Refusals& refusals = refusals_[cluster_queue];
  if (refusals.preemptor) refusals.tried.erase(*refusals.preemptor);
  ScheduleSoon();
  if (!again_.insert(cluster_queue).second) return;
  fibers_.After(kRequeueBatch, [this, cluster_queue] {
    again_.erase(cluster_queue);
    Refusals& all = refusals_[cluster_queue];
    all.tried.clear();
    all.shapes.clear();
    ScheduleSoon();
  });
}

void Kueue::TryAllAgain() {
  for (const auto& [key, queue] : api_.server().All("clusterqueues.kueue.x-k8s.io")) {
    TryAllAgain(key.name);
  }
}

std::string Kueue::LikeRefused(const std::string& cluster_queue, const Json& workload) const {
  const auto refusals = refusals_.find(cluster_queue);
  if (refusals == refusals_.end()) return "";
  const auto found = refusals->second.shapes.find(ShapeOf(workload));
  return found == refusals->second.shapes.end() ? "" : found->second;
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
  // Also one that is being deleted.
  return IsAdmissible(workload) &&
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

// Who is next there; null: nobody.
std::shared_ptr<const Json> Kueue::HeadOf(const std::string& cluster_queue) {
  std::shared_ptr<const Json> head;
  Refusals& refusals = refusals_[cluster_queue];
  if (refusals.preemptor) {
    head = api_.Find(kube::kWorkloads, *refusals.preemptor);
    if (head && MayQueue(*head)) {
      return refusals.tried.contains(*refusals.preemptor) ? nullptr : head;
    }
    refusals.preemptor.reset();
    head = nullptr;
  }
  for (const auto& [key, workload] : api_.server().All("workloads.kueue.x-k8s.io")) {
    const bool once = refusals.once.contains(key);
    if (!once && (refusals.tried.contains(key) || !MayQueue(*workload))) continue;
    const auto queue = QueueOf(*workload);
    if (!queue || TextAt(*queue, {"spec", "clusterQueue"}) != cluster_queue ||
        TextAt(*queue, {"spec", "stopPolicy"}).substr(0, 4) == "Hold") {
      continue;
    }
    if (!once && refusals.shapes.contains(ShapeOf(*workload))) {
      refusals.tried.insert(key);  // and nothing is written
    } else if (!head || IsBefore(*workload, *head)) {
      head = workload;
    }
  }
  return head;
}

// False if nothing waits there.
bool Kueue::ScheduleHead(const Json& cluster_queue) {
  if (!IsQueueActive(cluster_queue)) return false;
  const std::string name = TextAt(cluster_queue, {"metadata", "name"});
  const auto head = HeadOf(name);
  if (!head) return false;
  FlavorUsage used;
  std::vector<std::shared_ptr<const Json>> holders;
  for (const auto& [key, workload] : api_.server().All("workloads.kueue.x-k8s.io")) {
    if (!HoldsQuota(*workload) ||
        TextAt(*workload, {"status", "admission", "clusterQueue"}) != name) {
      continue;
    }
    AddTo(used, UsageOf(*workload), 1);
    holders.push_back(workload);
  }
  const api::ObjectKey key = KeyOf(*head);
  refusals_[name].tried.insert(key);
  refusals_[name].once.erase(key);
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
  return TryPreemption(*head, cluster_queue, found, victims);
}

// True: it was looked at.
bool Kueue::TryPreemption(const Json& head, const Json& cluster_queue,
                          const FlavorAssignment& found,
                          const std::vector<std::shared_ptr<const Json>>& victims) {
  Refusals& refusals = refusals_[TextAt(cluster_queue, {"metadata", "name"})];
  std::string reason = found.reason, message = found.message;
  refusals.preemptor.reset();
  if (victims.empty()) {
    const std::string shape = ShapeOf(head);
    refusals.shapes[shape] = reason;
    std::erase_if(refusals.once, [&](const api::ObjectKey& key) {
      const auto like = api_.Find(kube::kWorkloads, key);
      return !like || ShapeOf(*like) == shape;
    });
  } else {
    refusals.preemptor = KeyOf(head);
    reason = "WaitingForPreemptedWorkloads";
    message += ". Pending the preemption of " + std::to_string(victims.size()) + " workload(s)";
  }
  for (const auto& victim : victims) Preempt(KeyOf(*victim));
  Apply(KeyOf(head), [&](WorkloadStatus& now) { now.Unset(reason, message); });
  return true;
}

}  // namespace weft::world
