#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "operator/base/random.h"
#include "tests/world/actor.h"
#include "tests/world/fibers.h"

namespace weft::world {

// The Job controller of kube-controller-manager, for Indexed Jobs of as many pods as completions:
// creates each index's pod again until it has succeeded, counts failures against backoffLimit
// (podFailurePolicy: Ignore for DisruptionTarget), suspends, and tracks pods by a finalizer.
// Left out   other completion modes, limits by index, success policies, deadlines, time to live
// Source     Kubernetes 1.36, pkg/controller/job
class JobController {
 public:
  JobController(Fibers& fibers, ApiServer& server, std::function<std::int64_t()> now_seconds,
                std::uint64_t seed);
  void OnChange(const Change& change);

 private:
  using Pods = std::vector<std::shared_ptr<const Json>>;
  struct Counts {
    std::set<std::int64_t> succeeded;
    std::int64_t failed = 0;
    std::set<std::int64_t> present;  // indexes with a pod that is not replaced yet
    std::int64_t active = 0, ready = 0;
  };
  void SyncSoon(const api::ObjectKey& key, Instant::duration delay);
  void Sync(const api::ObjectKey& key);
  Pods PodsOf(const api::ObjectKey& key, const std::string& uid) const;
  void Release(const Json& pod);
  Counts Count(const Json& job, const Pods& pods) const;
  void Finish(const Json& job, const Pods& pods, Json status, bool complete);
  void Suspend(const Json& job, const Pods& pods, Json status);
  void CreateMissing(const Json& job, const Counts& counts);
  void Write(const Json& job, const Json& status);

  Fibers& fibers_;
  Actor api_;
  const std::function<std::int64_t()> now_seconds_;
  SplitMix64 chance_;
  std::set<api::ObjectKey> due_;
  std::map<api::ObjectKey, Instant> wait_;  // no new pods before: the backoff after failures
};

}  // namespace weft::world
