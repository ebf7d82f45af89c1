// The laws of what the status of a job tells, and of what a job lets go when it does not need it.

#include <algorithm>
#include <limits>
#include <sstream>

#include "operator/api/kueue.h"
#include "operator/base/timestamp.h"
#include "tests/world/laws.h"

namespace weft::world {
namespace {

// A suspended job's Placement goes within so long, a missing Service comes back, and a finished job
// is deleted. The clocks of two leaders may differ by 20 minutes.
constexpr seconds kLetGo{60}, kServiceBack{120}, kDeleted{1'300};
// Why a worker waits is told after 10 s, and after a fault all goes on within 30 s.
constexpr seconds kTold{40};
// A node that is lost so soon before or after a program's end explains it, and this is known so
// long after the node's condition.
constexpr seconds kBlamed{60}, kNewsOfNodes{30};

std::string Named(const Json& object) { return api::Show(KeyOf(object)); }

bool HasFinished(const Json& job) { return IsTrue(job, "Complete") || IsTrue(job, "Failed"); }

// Whether the pod's status says why a container of it waits.
bool HasTold(const Json& pod) {
  const Json& containers = At(pod, {"status", "containerStatuses"});
  return std::any_of(containers.begin(), containers.end(), [](const Json& container) {
    const std::string reason = TextAt(container, {"state", "waiting", "reason"});
    return !reason.empty() && reason != "ContainerCreating" && reason != "PodInitializing";
  });
}

// The cluster ended the pod, so no program has told an exit code.
bool IsTheClusters(const std::string& reason) {
  static const std::set<std::string> kReasons = {"PodDeleted", "NodeLost",   "Disrupted",
                                                 "Evicted",    "Terminated", "Preempting"};
  return kReasons.contains(reason);
}

}  // namespace

std::set<std::int64_t> NumbersOf(const std::string& indexes) {
  std::set<std::int64_t> numbers;
  std::istringstream text(indexes);
  for (std::string range; std::getline(text, range, ',');) {
    const std::size_t dash = range.find('-');
    const std::int64_t first = std::stoll(range);
    const std::int64_t last = dash == range.npos ? first : std::stoll(range.substr(dash + 1));
    for (std::int64_t number = first; number <= last; ++number) numbers.insert(number);
  }
  return numbers;
}

void Laws::Await(const std::string& what, bool waits, Instant::duration longest, Violation broken) {
  if (!waits) {
    awaited_.erase(what);
  } else {
    awaited_.try_emplace(what, Awaited{{}, longest, std::move(broken)});
  }
}

void Laws::TickAwaited(Instant::duration passed) {
  for (auto it = awaited_.begin(); it != awaited_.end();) {
    Awaited& one = it->second;
    one.since += passed;
    if (one.since <= one.longest) {
      ++it;
      continue;
    }
    Break(one.broken.law, one.broken.text);
    it = awaited_.erase(it);
  }
}

void Laws::LookAtHoldings(const Change& change) {
  if (change.resource == "trainingjobs.weft.dev") {
    const Json& job = *change.object;
    LookAtRest(UidOf(job));
    const bool gone = change.type == Change::Type::kDeleted;
    const Json& ttl = At(job, {"spec", "ttlSecondsAfterFinished"});
    const bool stays = !gone && !ttl.is_null() && HasFinished(job) && !IsDeleting(job);
    Await("ttl " + UidOf(job), stays, kDeleted + seconds(ttl.is_number() ? ttl.get<int>() : 0),
          {"I22", Named(job) + " has ended and is not deleted", {}});
    if (gone) return;
    static const Json kNone = Json::object();
    const Json& before = change.before ? *change.before : kNone;
    LookAtFailure(job, before);
    LookAtBlame(job, before);
    LookAtTrial(job, before);
    LookAtSelector(job, before);
  } else if (change.resource == "pods") {
    const std::string job = JobOf(*change.object);
    if (awaited_.contains("template " + job)) LookAtRest(job);
  } else if (change.resource == "services") {
    if (change.type == Change::Type::kDeleted) LookAtFiles(*change.object, change.user);
    for (const auto& [uid, job] : cluster_.jobs) {
      if (KeyOf(*job) == change.key) LookAtRest(uid);
    }
  } else if (change.resource == "placements.weft.dev") {
    const Json& placement = *change.object;
    const std::string job = JobOf(placement);
    if (!job.empty()) LookAtRest(job);
    bool controlled = false;
    for (const Json& owner : At(placement, {"metadata", "ownerReferences"})) {
      controlled |= At(owner, {"controller"}) == Json(true);
    }
    // One that has nodes already may lose its owner: the job was deleted and left it behind.
    const bool chosen =
        !NodesOf(placement).empty() && (!change.before || NodesOf(*change.before).empty());
    if (chosen && !controlled && At(placement, {"spec", "podSelector"}).is_null()) {
      Break("I22", Named(placement) + " gets nodes, but nobody's pods can use them");
    }
  }
}

// Workers that still store their state need each other's names.
void Laws::LookAtFiles(const Json& service, const std::string& user) {
  const auto job = cluster_.jobs.find(LabelOf(service, "weft.dev/job-uid"));
  if (job == cluster_.jobs.end() || !IsDeleting(*job->second)) return;
  if (user != "system:garbage-collector") return;  // people may
  for (const auto& pod : cluster_.LivePods(job->first)) {
    if (AttemptOf(*pod) != AttemptOf(service) || CountsAsGone(*pod)) continue;
    if (TextAt(*pod, {"spec", "nodeName"}).empty()) continue;
    return Break("I9", Named(service) + " is gone while " + Named(*pod) + " still runs");
  }
}

// What the job holds, and what it lacks.
void Laws::LookAtRest(const std::string& uid) {
  const auto found = cluster_.jobs.find(uid);
  const Json* job = found == cluster_.jobs.end() ? nullptr : found->second.get();
  const auto holds = [&] {
    const auto plans = cluster_.placements_of_job.find(uid);
    if (plans == cluster_.placements_of_job.end()) return false;
    return std::any_of(plans->second.begin(), plans->second.end(), [](const auto& one) {
      return !NodesOf(*one.second).empty() && !IsDeleting(*one.second);
    });
  };
  const bool suspended =
      job != nullptr && IsTrue(*job, "Suspended") && !IsDeleting(*job) && !HasFinished(*job);
  Await("holds " + uid, suspended && holds(), kLetGo,
        {"I22", (job ? Named(*job) : uid) + " is suspended and holds nodes", {}});
  // Only a suspended job may change its template, but the operator may not have seen that it was.
  // Without the Placement nobody knows what the pods were made for.
  const auto other = [&] {
    const auto live = cluster_.LivePods(uid);
    const auto grace = [](const Json& spec) { return At(spec, {"terminationGracePeriodSeconds"}); };
    const Json& wanted = grace(At(*job, {"spec", "workers", "template", "spec"}));
    return std::any_of(live.begin(), live.end(), [&](const auto& pod) {
      return !wanted.is_null() && !IsDeleting(*pod) && grace(At(*pod, {"spec"})) != wanted;
    });
  };
  const bool valid = job != nullptr && TextAt(ConditionOf(*job, "Accepted"), {"status"}) == "True";
  const bool placed = cluster_.placements_of_job.contains(uid) && holds();
  Await("template " + uid, valid && placed && !IsDeleting(*job) && !HasFinished(*job) && other(),
        kLetGo,
        {"I15", (job ? Named(*job) : uid) + " runs with another template than its own", {}});
  const bool runs =
      job != nullptr && IsTrue(*job, "PodsReady") && !IsDeleting(*job) && !HasFinished(*job);
  // A ResourceQuota of its namespace may refuse another one.
  const auto quota = job == nullptr ? quotas_of_services_.end()
                                    : quotas_of_services_.lower_bound({KeyOf(*job).space, ""});
  const bool limited = quota != quotas_of_services_.end() && quota->space == KeyOf(*job).space;
  Await("service " + uid, runs && !limited && !cluster_.services.contains(KeyOf(*job)),
        kServiceBack, {"I9", (job ? Named(*job) : uid) + " runs without its Service", {}});
  // Once its pods have ended; others could need the name. Quota is given back before, which waits
  // for Kueue.
  const auto service =
      job == nullptr ? cluster_.services.end() : cluster_.services.find(KeyOf(*job));
  const bool stays = service != cluster_.services.end() && HasFinished(*job) && !IsDeleting(*job) &&
                     LabelOf(*service->second, "weft.dev/job-uid") == uid &&
                     LabelOf(*job, api::kQueueNameLabel).empty() && cluster_.LivePods(uid).empty();
  Await("files " + uid, stays, kServiceBack,
        {"I22", (job ? Named(*job) : uid) + " has ended and keeps its Service", {}});
}

// A worker that waits at its kubelet for a reason that the kubelet has told, in the pod's status or
// in an event, is named in a condition, once the whole gang is bound.
void Laws::LookAtKubelets(const Change& change) {
  const Json& object = *change.object;
  const bool gone = change.type == Change::Type::kDeleted;
  if (change.resource == "trainingjobs.weft.dev") {
    telling_.insert(UidOf(object));
  } else if (change.resource == "pods" && !JobOf(object).empty()) {
    if (gone || TextAt(object, {"status", "phase"}) != "Pending") warned_.erase(UidOf(object));
    telling_.insert(JobOf(object));
  } else if (change.resource == "events" && TextAt(object, {"type"}) == "Warning") {
    const std::string pod = TextAt(object, {"involvedObject", "uid"});
    for (const auto& [job, pods] : cluster_.pods_of_job) {
      if (!pods.contains(pod)) continue;
      warned_.insert(pod);
      telling_.insert(job);
    }
  }
}

void Laws::LookAtTold(const std::string& uid) {
  const auto found = cluster_.jobs.find(uid);
  const Json* job = found == cluster_.jobs.end() ? nullptr : found->second.get();
  const std::string name = job == nullptr ? uid : Named(*job);
  bool waits = false, named = false;
  std::size_t bound = 0;
  if (job != nullptr && IsTrue(*job, "Placed") && !IsTrue(*job, "Restarting") &&
      !IsDeleting(*job) && !IsTrue(*job, "Suspended") && !HasFinished(*job)) {
    const Json& ready = ConditionOf(*job, "PodsReady");
    const std::string words = TextAt(ready, {"message"}), stage = TextAt(ready, {"reason"});
    // Something else is told while objects are missing, and once all were ready.
    const bool starts = stage != "Creating" && stage != "AllReady" && stage != "NotAllReady";
    for (const auto& pod : cluster_.LivePods(uid)) {
      const std::string node = TextAt(*pod, {"spec", "nodeName"});
      const bool of_this = AttemptOf(*pod) == NumberAt(*job, {"status", "attempt"});
      if (!of_this || node.empty() || IsDeleting(*pod) || !WorkerOf(*pod)) continue;
      ++bound;
      named |= words.find("worker " + std::to_string(*WorkerOf(*pod)) + " on " + node + ": ") !=
               words.npos;
      const bool told = HasTold(*pod) || warned_.contains(UidOf(*pod));
      waits |= starts && told && !cluster_.unhealthy.contains(node);
    }
  }
  const auto plan =
      planned_.find({uid, job == nullptr ? 0 : NumberAt(*job, {"status", "attempt"})});
  const bool whole = plan != planned_.end() && bound == plan->second.size();
  Await("kubelet " + uid, whole && waits && !named, kTold,
        {"I20", name + " does not say why its workers wait at their kubelets", {}});
}

void Laws::LookAtFailure(const Json& job, const Json& before) {
  const std::int64_t restarts = NumberAt(job, {"status", "restarts"});
  const std::int64_t were = NumberAt(before, {"status", "restarts"});
  if (restarts > were + 1 && !before.empty()) {
    Break("I5",
          Named(job) + ": restarts " + std::to_string(restarts) + " after " + std::to_string(were));
  }
  const Json& failure = At(job, {"status", "lastFailure"});
  if (failure.is_null() || failure == At(before, {"status", "lastFailure"})) return;
  const std::string reason = TextAt(failure, {"reason"});
  if (IsTheClusters(reason) && !At(failure, {"exitCode"}).is_null()) {
    Break("I5", Named(job) + ": lastFailure is " + reason +
                    " with the exit code of another: " + failure.dump());
  }
  const bool of_this = NumberAt(failure, {"attempt"}) == NumberAt(before, {"status", "attempt"});
  const auto succeeded = NumbersOf(TextAt(before, {"status", "completedIndexes"}));
  if (of_this && reason == "PodDeleted" && succeeded.contains(NumberAt(failure, {"worker"}))) {
    Break("I5", Named(job) + " restarts for a worker that has succeeded: " + failure.dump());
  }
}

// A job does not fail for good because programs died of a node that was lost.
void Laws::LookAtBlame(const Json& job, const Json& before) {
  if (!IsTrue(job, "Failed") || IsTrue(before, "Failed")) return;
  if (TextAt(job, {"status", "lastFailure", "cause"}) != "ProgramFailed") return;
  const std::int64_t attempt = NumberAt(job, {"status", "attempt"});
  UnixSeconds first = std::numeric_limits<UnixSeconds>::max();
  const auto pods = cluster_.pods_of_job.find(UidOf(job));
  if (pods == cluster_.pods_of_job.end()) return;
  for (const auto& [uid, pod] : pods->second) {
    if (AttemptOf(*pod) != attempt) continue;
    for (const Json& container : At(*pod, {"status", "containerStatuses"})) {
      const auto ended = ParseTime(TextAt(container, {"state", "terminated", "finishedAt"}));
      if (ended && NumberAt(container, {"state", "terminated", "exitCode"}) != 0) {
        first = std::min(first, *ended);
      }
    }
  }
  const UnixSeconds now = ParseTime(TextAt(job, {"status", "completionTime"})).value_or(0);
  for (const auto& pod : cluster_.LivePods(UidOf(job))) {
    const auto node = cluster_.nodes.find(TextAt(*pod, {"spec", "nodeName"}));
    if (AttemptOf(*pod) != attempt || node == cluster_.nodes.end()) continue;
    const Json& ready = ConditionOf(*node->second, "Ready");
    if (TextAt(ready, {"status"}) == "True") continue;
    const auto since = ParseTime(TextAt(ready, {"lastTransitionTime"}));
    if (!since || *since < first - kBlamed.count() || *since > first + kBlamed.count()) continue;
    if (now - *since < kNewsOfNodes.count()) continue;
    Break("I5", Named(job) + " has failed, and its node " + node->first + " is not Ready since " +
                    TextAt(ready, {"lastTransitionTime"}));
  }
}

// A job is accepted because a dry run of its own pods was.
void Laws::LookAtTrial(const Json& job, const Json& before) {
  const auto tried = tried_.find(UidOf(job));
  const bool adopts =
      NumberAt(job, {"status", "attempt"}) > NumberAt(before, {"status", "attempt"});
  // A dry run may have asked for a generation that came while it was under way.
  if (adopts && (tried == tried_.end() || *tried->second.rbegin() < GenerationOf(job))) {
    Break("I5", Named(job) + " gets nodes, and its spec had no dry run");
  }
  const Json& accepted = ConditionOf(job, "Accepted");
  if (TextAt(accepted, {"status"}) != "True" || IsTrue(before, "Accepted")) return;
  if (!tried_.contains(UidOf(job))) Break("I5", Named(job) + " is accepted without a dry run");
}

void Laws::LookAtSelector(const Json& job, const Json& before) {
  if (!IsTrue(job, "PodsReady") || IsTrue(before, "PodsReady")) return;
  const auto service = cluster_.services.find(KeyOf(job));
  if (service == cluster_.services.end()) return;
  const std::string attempt = TextAt(*service->second, {"spec", "selector", "weft.dev/attempt"});
  if (attempt.empty() || attempt == std::to_string(NumberAt(job, {"status", "attempt"}))) return;
  Break("I9", Named(job) + " runs with the Service of attempt " + attempt);
}

}  // namespace weft::world
