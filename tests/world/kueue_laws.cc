#include "tests/world/kueue_laws.h"

#include <algorithm>

#include "tests/world/kueue_status.h"

namespace weft::world {
namespace {

// Pods end within 30 s, on nodes that are lost within 6 min.
constexpr std::chrono::seconds kMostWait{900};
// What Weft knows may be older.
constexpr std::chrono::seconds kMostLag{60};
// --kueue-hold-seconds, less the rounding of times.
constexpr std::chrono::seconds kHold{598};

std::string ControllerOf(const Json& object, const char* kind) {
  for (const Json& one : At(object, {"metadata", "ownerReferences"})) {
    if (TextAt(one, {"kind"}) == kind && At(one, {"controller"}) == Json(true)) {
      return TextAt(one, {"uid"});
    }
  }
  return "";
}

std::string OwnerOf(const Json& workload) {
  const std::string job = ControllerOf(workload, "TrainingJob");
  return job.empty() ? ControllerOf(workload, "Job") : job;
}

std::string ShowKey(const Json& object) { return api::Show(KeyOf(object)); }

bool MayRun(const Json& workload) {
  return IsTrue(workload, "Admitted") && !IsTrue(workload, "Evicted");
}

}  // namespace

void KueueLaws::OnChange(const Change& change) {
  if (change.resource == "workloads.kueue.x-k8s.io") LookAtWorkload(change);
  if (change.resource == "placements.weft.dev") LookAtPlacement(change);
  if (change.resource == "pods") LookAtPod(change);
}

void KueueLaws::OnRestore(const ApiServer& server) {
  workloads_.clear();
  gone_.clear();
  reserved_.clear();  // nobody knows since when, so K7 waits for the next time
  waits_.clear();
  gangs_.clear();
  for (const char* resource : {"workloads.kueue.x-k8s.io", "placements.weft.dev", "pods"}) {
    for (const auto& [key, object] : server.All(resource)) {
      OnChange({Change::Type::kModified, 0, resource, key, object, object, "etcd"});
    }
  }
}

// A law of time: `what` must not last for long.
void KueueLaws::Wait(const std::string& what, bool waits) {
  if (waits) {
    waits_.try_emplace(what);
  } else if (waits_.erase(what) > 0) {
    ++wishes_;
  }
}

void KueueLaws::LookAtWorkload(const Change& change) {
  const Json& now = *change.object;
  const std::string uid = UidOf(now), name = ShowKey(now) + " (" + uid + ")";
  const bool gone = change.type == Change::Type::kDeleted;
  if (change.before && MayRun(*change.before)) admitted_[OwnerOf(now)] = fibers_.now();
  if (gone) {
    workloads_.erase(uid);
    gone_[uid] = fibers_.now();
    for (const auto& [id, placement] : laws_.cluster().placements) {
      const bool its = ControllerOf(*placement, "Workload") == uid;
      if (its) Wait("K3 a Placement outlives its Workload: " + ShowKey(*placement), true);
    }
  } else {
    workloads_[uid] = change.object;
  }
  if (!IsTrue(now, "QuotaReserved")) {
    reserved_.erase(uid);
  } else if (!change.before || !IsTrue(*change.before, "QuotaReserved")) {
    reserved_.try_emplace(uid, fibers_.now());
  }
  LookAtRetry(change);
  const bool over = gone || IsTrue(now, "Finished");
  const bool wished = IsTrue(now, "Evicted") || At(now, {"spec", "active"}) == Json(false);
  Wait("K1 quota is not given back: " + name, !over && wished && IsTrue(now, "QuotaReserved"));
  Wait("K2 the Workload is not let go: " + name, !gone && IsDeleting(now));
}

// Quota is given back only after it was held in vain for a while.
void KueueLaws::LookAtRetry(const Change& change) {
  if (change.type == Change::Type::kDeleted || !change.before) return;
  if (change.user.find("weft-operator") == std::string::npos) return;
  const auto retries = [](const Json& workload) {
    const Json& all = At(workload, {"status", "admissionChecks"});
    return std::any_of(all.begin(), all.end(),
                       [](const Json& one) { return TextAt(one, {"state"}) == "Retry"; });
  };
  const auto since = reserved_.find(UidOf(*change.object));
  if (since == reserved_.end() || !retries(*change.object) || retries(*change.before)) return;
  const auto held = fibers_.now() - since->second;
  if (held >= kHold) return;
  const auto held_seconds = std::chrono::duration_cast<seconds>(held).count();
  laws_.Break("K7", ShowKey(*change.object) + " is told to try again after it held quota for " +
                        std::to_string(held_seconds) + " s");
}

void KueueLaws::LookAtPlacement(const Change& change) {
  const Json& now = *change.object;
  const std::string uid = UidOf(now), workload = ControllerOf(now, "Workload");
  const bool gone = change.type == Change::Type::kDeleted;
  const std::string name = ShowKey(now);
  if (gone) {
    gangs_.erase(uid);
    Wait("K3 a Placement outlives its Workload: " + name, false);
    Wait("K6 a gang is partly bound: " + uid, false);
    return;
  }
  const auto nodes = NodesOf(now);
  if (JobOf(now).empty()) gangs_[uid].workers = nodes.size();
  const bool placed = !nodes.empty() && (!change.before || NodesOf(*change.before) != nodes);
  if (workload.empty()) return;
  const auto left = gone_.find(workload);
  if (left == gone_.end()) return;
  Wait("K3 a Placement outlives its Workload: " + name, true);
  if (placed && fibers_.now() - left->second > kMostLag) {
    laws_.Break("K3", name + " gets nodes for a Workload that is gone");
  }
}

void KueueLaws::LookAtPod(const Change& change) {
  const Json& pod = *change.object;
  const bool gone = change.type == Change::Type::kDeleted;
  const std::string job = JobOf(pod);
  if (change.type == Change::Type::kAdded && !job.empty()) {
    const auto& jobs = laws_.cluster().jobs;
    const auto owner = jobs.find(job);
    if (owner == jobs.end() || LabelOf(*owner->second, kQueueName).empty()) return;
    const bool may = std::any_of(workloads_.begin(), workloads_.end(), [&](const auto& one) {
      return OwnerOf(*one.second) == job && MayRun(*one.second);
    });
    const auto last = admitted_.find(job);
    const bool lately = last != admitted_.end() && fibers_.now() - last->second < kMostLag;
    if (!may && !lately) laws_.Break("K4", ShowKey(pod) + " was created without quota");
    return;
  }
  const std::string controller = LabelOf(pod, "batch.kubernetes.io/controller-uid");
  if (!controller.empty() && TextAt(pod, {"status", "phase"}) == "Succeeded") {
    succeeded_[controller].insert(LabelOf(pod, "batch.kubernetes.io/job-completion-index"));
  }
  const std::string placement = AnnotationOf(pod, "weft.dev/placement-uid");
  const auto found = gangs_.find(placement);
  if (placement.empty() || found == gangs_.end()) return;
  ForeignGang& gang = found->second;
  gang.job = controller;
  if (gone) {
    gang.pods.erase(UidOf(pod));
  } else {
    gang.pods[UidOf(pod)] = change.object;
    if (!TextAt(pod, {"spec", "nodeName"}).empty()) {
      gang.bound.insert(AnnotationOf(pod, "weft.dev/worker-index"));
    }
  }
}

void KueueLaws::Tick(bool hard) {
  for (const auto& [uid, gang] : gangs_) {
    // A Job that is admitted again makes no pods for indexes that have succeeded before.
    std::set<std::string> settled = gang.bound;
    if (const auto done = succeeded_.find(gang.job); done != succeeded_.end()) {
      settled.insert(done->second.begin(), done->second.end());
    }
    const bool partly = settled.size() < gang.workers &&
                        std::any_of(gang.pods.begin(), gang.pods.end(), [](const auto& one) {
                          return !TextAt(*one.second, {"spec", "nodeName"}).empty() &&
                                 !HasEnded(*one.second) && !IsDeleting(*one.second);
                        });
    Wait("K6 a gang is partly bound: " + uid, partly);
  }
  const Instant::duration passed = fibers_.now() - ticked_;
  ticked_ = fibers_.now();
  if (hard) return;
  for (auto& [what, time] : waits_) {
    const bool before = time <= kMostWait;
    time += passed;
    if (before && time > kMostWait) laws_.Break(what.substr(0, 2), what.substr(3));
  }
}

}  // namespace weft::world
