#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/kube/kueue_resources.h"
#include "tests/world/actor.h"

namespace weft::world {

inline constexpr kube::Resource kLocalQueues{"kueue.x-k8s.io", "v1beta2", "localqueues",
                                             "LocalQueue", true};
inline constexpr kube::Resource kClusterQueues{"kueue.x-k8s.io", "v1beta2", "clusterqueues",
                                               "ClusterQueue", false};
inline constexpr kube::Resource kJobs{"batch", "v1", "jobs", "Job", true};
inline constexpr const char* kQueueName = "kueue.x-k8s.io/queue-name";
inline constexpr const char* kJobUid = "kueue.x-k8s.io/job-uid";
inline constexpr const char* kInUse = "kueue.x-k8s.io/resource-in-use";

// A Workload as Kueue's manager changes it: its conditions, admission and checks.
// Source  kubernetes-sigs/kueue ff69552e79, pkg/workload (workload.go, admissionchecks.go, evict,
//         finish) and the feature gates as they are by default.
class WorkloadStatus {
 public:
  WorkloadStatus(const Json& workload, std::int64_t now) : object_(workload), now_(now) {}

  const Json& object() const { return object_; }
  bool active() const;
  bool HasQuota() const { return IsTrue(object_, "QuotaReserved"); }
  bool IsAdmitted() const { return IsTrue(object_, "Admitted"); }
  bool IsEvicted() const { return IsTrue(object_, "Evicted"); }
  bool IsFinished() const { return IsTrue(object_, "Finished"); }
  bool HasCheck(const char* state) const;

  // Sets a condition as the API machinery does; its time changes with its status only.
  void Set(const char* type, bool is, const std::string& reason, const std::string& message);
  void Remove(const char* type);
  // Adds and removes checks of the ClusterQueue; false if they are as they should be.
  bool SyncChecks(const std::vector<std::string>& names);
  void SyncAdmitted();
  void Reserve(const Json& admission);
  // Gives the quota back.
  void Unset(const std::string& reason, const std::string& message);
  void Evict(const std::string& reason, const std::string& message);
  void SetRequeued(bool is, const std::string& reason, const std::string& message) {
    Set("Requeued", is, reason, message);
  }
  void SetRequeueAt(std::int64_t at, bool counts);
  void ClearRequeueAt();
  void ClearRequeueState();
  // When the workload may be queued again; 0: now.
  std::int64_t RequeueAt() const;
  // The latest time that a check in Retry asks for; 0: none.
  std::int64_t RetryAt() const;
  Json& status() { return object_["status"]; }

  // What makes `before` this, as a JSON merge patch; null: nothing.
  Json PatchOf(const Json& before) const;

 private:
  Json object_;
  const std::int64_t now_;
};

// May be in a queue, whether its time has come or not (Kueue's IsAdmissible).
bool IsAdmissible(const Json& workload);
// Complete or Failed.
bool IsOver(const Json& job);
std::int64_t TimeAt(const Json& object, std::initializer_list<const char*> path);

}  // namespace weft::world
