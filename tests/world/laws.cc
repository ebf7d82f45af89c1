#include "tests/world/laws.h"

#include <algorithm>

#include "operator/base/timestamp.h"
#include "tests/world/pod_groups.h"

namespace weft::world {
namespace {

constexpr const char* kFinalizer = "weft.dev/claims";
constexpr const char* kLeafLabel = "example.com/leaf";
// Two leaders may overlap for a moment, and the second one knows what the first one did only then.
constexpr std::chrono::seconds kOverlap{30};
// A deletion while watches are broken, after their longest gap and a reflector's longest pause.
constexpr std::chrono::seconds kDeletionUnknown{75};
// Less than the shortest exclusion of a node.
constexpr std::chrono::seconds kExcluded{200};

std::string Show(const Json& object) { return api::Show(KeyOf(object)); }

std::string Short(const Json& pod) {
  return Show(pod) + " on " + TextAt(pod, {"spec", "nodeName"}) + ", " +
         TextAt(pod, {"status", "phase"}) + (IsDeleting(pod) ? ", being deleted" : "");
}

bool HasWeftsFinalizer(const Json& job) {
  const Json& all = At(job, {"metadata", "finalizers"});
  return std::find(all.begin(), all.end(), Json(kFinalizer)) != all.end();
}

// Whether it is placed or says why not.
bool Speaks(const Json& job) {
  if (IsDeleting(job) || IsTrue(job, "Placed") || IsTrue(job, "Suspended")) return true;
  for (const char* type : {"Accepted", "Placed"}) {
    const Json& one = ConditionOf(job, type);
    if (TextAt(one, {"status"}) == "False" && !TextAt(one, {"reason"}).empty() &&
        !TextAt(one, {"message"}).empty()) {
      return true;
    }
  }
  if (TextAt(ConditionOf(job, "Placed"), {"reason"}) == "NotWritten") return true;
  return IsTrue(job, "Complete") || IsTrue(job, "Failed");
}

bool ProgramFailed(const std::string& reason) {
  static const std::set<std::string> kReasons = {"Error", "OOMKilled", "ContainerCannotRun",
                                                 "PodFailed", "StartupTimeout"};
  return kReasons.contains(reason);
}

}  // namespace

void Laws::Break(const std::string& law, const std::string& text) {
  broken_.push_back({law, text, fibers_.now()});
}

void Laws::OnChange(const Change& change) {
  cluster_.Apply(change, fibers_.now());
  LookAtHoldings(change);
  LookAtKubelets(change);
  if (change.resource == "pods") LookAtPod(change);
  if (change.resource == "pods") LookAtPodInGroup(change);
  if (change.resource == kPodGroupResource) LookAtGroup(change);
  if (change.resource == "placements.weft.dev") LookAtPlacement(change);
  if (change.resource == "trainingjobs.weft.dev") LookAtJob(change);
  if (change.resource == "leases.coordination.k8s.io") {
    if (!holder_.empty()) held_[holder_] = fibers_.now();
    holder_ = change.type == Change::Type::kDeleted
                  ? ""
                  : TextAt(*change.object, {"spec", "holderIdentity"});
    if (!holder_.empty()) leader_ = holder_;
  }
  if (change.resource == "nodes") leaf_[change.key.name] = LabelOf(*change.object, kLeafLabel);
  if (change.resource == "resourcequotas") {
    quotas_of_services_.erase(change.key);
    const bool limits = !At(*change.object, {"spec", "hard", "services"}).is_null();
    if (change.type != Change::Type::kDeleted && limits) quotas_of_services_.insert(change.key);
  }
}

void Laws::LookAtPod(const Change& change) {
  const Json& pod = *change.object;
  const std::string node = TextAt(pod, {"spec", "nodeName"});
  const bool gone = change.type == Change::Type::kDeleted;
  if (!node.empty() && !gone && !HasEnded(pod) && !cluster_.unhealthy.contains(node)) {
    std::int64_t held = 0;
    for (const auto& [uid, one] : cluster_.on_node[node]) held += GpusOf(*one);
    if (held > cluster_.AllocatableOf(node)) {
      Break("I1'", Show(pod) + ": node " + node + " holds " + std::to_string(held) + " GPUs");
    }
  }
  if (JobOf(pod).empty() || !WorkerOf(pod)) return;
  LookAtProgram(pod);
  if (TextAt(pod, {"status", "phase"}) == "Succeeded" && !IsDeleting(pod)) {
    succeeded_[{JobOf(pod), AttemptOf(pod)}].insert(*WorkerOf(pod));
  }
  if (change.type == Change::Type::kAdded) LookAtNewPod(pod);
  if (change.type == Change::Type::kDeleted) {
    created_[{{JobOf(pod), AttemptOf(pod)}, *WorkerOf(pod)}] = fibers_.now();
  }
  LookAtWindow(pod);
}

void Laws::LookAtNewPod(const Json& pod) {
  const std::string job = JobOf(pod);
  const std::int64_t attempt = AttemptOf(pod), worker = *WorkerOf(pod);
  // Somebody may delete the Placement while pods are being created.
  const auto plan = planned_.find({job, attempt});
  const auto nodes = plan == planned_.end() ? std::vector<std::string>{} : plan->second;
  if (worker >= static_cast<std::int64_t>(nodes.size())) {
    Break("I2a", Show(pod) + " was created without a plan");
  } else if (PinnedNode(pod) != nodes[static_cast<std::size_t>(worker)]) {
    Break("I2a", Show(pod) + " is tied to " + PinnedNode(pod) + ", the plan says " +
                     nodes[static_cast<std::size_t>(worker)]);
  }
  // A new leader does not know what went before it began to work.
  const Instant went = std::exchange(created_[{{job, attempt}, worker}], Instant::max());
  if (went != Instant{} && went >= readers_[leader_].since) {
    Break("I3", Show(pod) + " was created twice");
  }
  LookAtOthers(pod);
  const auto owner = cluster_.jobs.find(job);
  if (owner == cluster_.jobs.end()) return;
  const std::int64_t known = NumberAt(*owner->second, {"status", "attempt"});
  if (attempt < known) {
    Break("I4", Show(pod) + " was created in attempt " + std::to_string(known));
  }
  LookAtTemplate(pod);
}

void Laws::LookAtOthers(const Json& pod) {
  const auto grace = [](const Json& one) {
    return At(one, {"spec", "terminationGracePeriodSeconds"});
  };
  const std::int64_t attempt = AttemptOf(pod);
  for (const auto& [of, pods] : cluster_.live[JobOf(pod)]) {
    if (of > attempt) return;
    for (const auto& [uid, other] : pods) {
      if (of < attempt && !CountsAsGone(*other)) {
        Break("I3", Show(pod) + " was created beside " + Short(*other));
      }
      if (of < attempt || uid == UidOf(pod)) continue;
      if (grace(*other) != grace(pod)) {
        Break("I15", Show(pod) + " is of another template than " + Short(*other));
      }
      break;  // which was compared with the others
    }
  }
}

void Laws::LookAtTemplate(const Json& pod) {
  const Json& job = *cluster_.jobs.at(JobOf(pod));
  // A request may be under way while the template changes.
  const std::vector<Json>& all = templates_[UidOf(job)];
  const Json& grace = At(pod, {"spec", "terminationGracePeriodSeconds"});
  const auto of = std::find_if(all.begin(), all.end(), [&](const Json& one) {
    return At(one, {"terminationGracePeriodSeconds"}) == grace;
  });
  const Json& wanted = of == all.end() ? At(job, {"spec", "workers", "template", "spec"}) : *of;
  for (const char* field : {"nodeSelector", "priorityClassName", "terminationGracePeriodSeconds",
                            "hostNetwork", "hostPID", "serviceAccountName"}) {
    const Json& made = At(pod, {"spec", field});
    if (!At(wanted, {field}).is_null() && made != At(wanted, {field})) {
      Break("I15", Show(pod) + ": " + field + " is not the template's");
    }
    if (made == Json(true) && At(wanted, {field}) != Json(true)) {
      Break("I15", Show(pod) + ": " + field + " is not the template's");
    }
  }
  const std::int64_t asked = GpusOf(pod),
                     gpus = NumberAt(job, {"spec", "accelerator", "perWorker"});
  if (asked != gpus) Break("I15", Show(pod) + " asks for " + std::to_string(asked) + " GPUs");
}

// Nobody confirms an end on a node that is lost; being deleted is enough there.
bool Laws::CountsAsGone(const Json& pod) const {
  return IsDeleting(pod) && cluster_.unhealthy.contains(TextAt(pod, {"spec", "nodeName"}));
}

void Laws::LookAtWindow(const Json& pod) {
  const Gang gang{JobOf(pod), AttemptOf(pod)};
  if (!TextAt(pod, {"spec", "nodeName"}).empty()) bound_[gang].insert(*WorkerOf(pod));
  if (!IsPartlyBound(gang)) {
    open_.erase(gang);
  } else if (open_.try_emplace(gang).second) {
    ++windows_;
  }
}

bool Laws::IsPartlyBound(const Gang& gang) {
  const auto plan = planned_.find(gang);  // somebody may have deleted the Placement since
  const std::size_t bound = bound_[gang].size();
  const bool whole = plan != planned_.end() && bound == plan->second.size();
  const auto pods = cluster_.pods_of_job.find(gang.first);
  if (bound == 0 || whole || pods == cluster_.pods_of_job.end()) return false;
  return std::any_of(pods->second.begin(), pods->second.end(), [&](const auto& one) {
    const Json& pod = *one.second;
    return AttemptOf(pod) == gang.second && !TextAt(pod, {"spec", "nodeName"}).empty() &&
           !HasEnded(pod) && !CountsAsGone(pod);
  });
}

void Laws::LookAtPlacement(const Change& change) {
  const Json& placement = *change.object;
  if (change.type == Change::Type::kDeleted) return LookAtGroupsOf(placement);
  const std::string job = JobOf(placement);
  if (change.type == Change::Type::kAdded && !job.empty() && cluster_.jobs.contains(job)) {
    const std::int64_t known = NumberAt(*cluster_.jobs.at(job), {"status", "attempt"});
    if (AttemptOf(placement) < known) {
      Break("I4", Show(placement) + " was created in attempt " + std::to_string(known));
    }
  }
  const auto nodes = NodesOf(placement);
  const auto before = change.before ? NodesOf(*change.before) : std::vector<std::string>{};
  if (!before.empty() && before != nodes && !job.empty()) {
    Break("I2d", Show(placement) + ": its nodes have changed");
  }
  if (nodes.empty() || !before.empty()) return;
  if (!job.empty()) {
    planned_[{job, AttemptOf(placement)}] = nodes;
    // Of the same attempt before etcd was restored there may be pods.
    std::set<std::int64_t>& bound = bound_[{job, AttemptOf(placement)}];
    bound.clear();
    for (const auto& [uid, pod] : cluster_.live[job][AttemptOf(placement)]) {
      if (!TextAt(*pod, {"spec", "nodeName"}).empty() && WorkerOf(*pod)) {
        bound.insert(*WorkerOf(*pod));
      }
    }
  }
  LookAtClaims(placement);
  LookAtTopology(placement);
  if (!job.empty()) LookAtExclusion(placement);
}

void Laws::LookAtClaims(const Json& placement) {
  if (cluster_.led_anew != Instant::min() && fibers_.now() - cluster_.led_anew < kOverlap) return;
  const std::string job = JobOf(placement);
  const std::int64_t attempt = AttemptOf(placement);
  std::int64_t wanted = NumberAt(placement, {"spec", "accelerator", "perWorker"});
  if (wanted == 0) wanted = 8;
  std::map<std::string, std::int64_t> held;
  for (const std::string& node : NodesOf(placement)) held[node] += wanted;
  const auto count = [&](const Json& pod, const std::string& node) {
    const bool own = !job.empty() && JobOf(pod) == job && AttemptOf(pod) == attempt;
    if (own || !held.contains(node)) return;
    // kube-scheduler binds pods of others meanwhile, and no write of Weft can know of it; nor while
    // the leader hears of nothing.
    const auto bound = cluster_.bound_at.find(UidOf(pod));
    const bool of_others = JobOf(pod).empty() && LabelOf(pod, "weft.dev/placement").empty();
    const Instant heard = std::min(fibers_.now(), hard_since_) - kOverlap;
    if (of_others && bound != cluster_.bound_at.end() && bound->second > heard) return;
    held[node] += GpusOf(pod);
  };
  for (const auto& [node, gpus] : std::map(held)) {
    for (const auto& [uid, pod] : cluster_.on_node[node]) count(*pod, node);
  }
  for (const auto& [of, pods] : cluster_.pods_of_job) {
    for (const auto& [uid, pod] : pods) {
      if (TextAt(*pod, {"spec", "nodeName"}).empty() && !HasEnded(*pod)) {
        count(*pod, PinnedNode(*pod));
      }
    }
  }
  for (const auto& [node, gpus] : held) {
    if (gpus > cluster_.AllocatableOf(node) && !cluster_.unhealthy.contains(node)) {
      Break("I1", Show(placement) + ": with it " + std::to_string(gpus) + " GPUs of node " + node +
                      " are given out");
    }
  }
}

// A group that is required is all or nothing.
void Laws::LookAtTopology(const Json& placement) {
  if (TextAt(placement, {"spec", "topology", "required"}) != "leaf") return;
  std::set<std::string> leaves;
  for (const std::string& node : NodesOf(placement)) leaves.insert(leaf_[node]);
  if (leaves.size() > 1) {
    Break("I12", Show(placement) + " must be on one leaf, is on " + std::to_string(leaves.size()));
  }
}

void Laws::LookAtExclusion(const Json& placement) {
  const auto job = cluster_.jobs.find(JobOf(placement));
  if (job == cluster_.jobs.end()) return;
  const Json& why = ConditionOf(*job->second, "Restarting");
  const auto last = refused_at_bind_.find(job->first);
  if (TextAt(why, {"reason"}) != "BindRefused" || last == refused_at_bind_.end()) return;
  if (fibers_.now() - last->second > kExcluded) return;
  if (cluster_.led_anew > last->second) return;  // the leader's clock is another
  if (!options_.dates) return;  // or behind the node's creation, so that it is taken for a new one
  const std::string words = TextAt(why, {"message"});
  for (const std::string& node : NodesOf(placement)) {
    const auto at = words.find(node);
    if (at == std::string::npos) continue;
    const std::size_t end = at + node.size();
    if (end < words.size() && std::isalnum(static_cast<unsigned char>(words[end])) != 0) continue;
    Break("I10", Show(placement) + ": planned on " + node + ", which refused it before: " + words);
  }
}

void Laws::LookAtJob(const Change& change) {
  const Json& job = *change.object;
  LookAtDeparture(change);
  if (change.type == Change::Type::kDeleted) {
    mute_.erase(UidOf(job));
    templates_.erase(UidOf(job));
    ForgetUntold(UidOf(job), true);
    return;
  }
  const Json& made = At(job, {"spec", "workers", "template", "spec"});
  std::vector<Json>& all = templates_[UidOf(job)];
  if (std::find(all.begin(), all.end(), made) == all.end()) all.push_back(made);
  LookAtSpeech(job);
  if (Mentions(job, "")) ForgetUntold(UidOf(job), true);
  static const Json kNone = Json::object();
  const Json& before = change.before ? *change.before : kNone;
  LookAtSuccess(job);
  LookAtEnd(job, before);
  LookAtWhyFailed(job, before);
  LookAtHaste(job, before);
  LookAtAdmission(job, before);
  LookAtCounters(job, before);
  LookAtLosses(job, before);
  LookAtService(job, before);
  LookAtExcluded(job, before);
}

void Laws::LookAtSpeech(const Json& job) {
  if (Speaks(job)) {
    mute_.erase(UidOf(job));
  } else {
    mute_.try_emplace(UidOf(job));
  }
}

void Laws::LookAtEnd(const Json& job, const Json& before) {
  int ends = 0;
  for (const char* type : {"Complete", "Failed"}) {
    ends += IsTrue(job, type) ? 1 : 0;
    if (IsTrue(before, type) && !IsTrue(job, type)) {
      Break("I5", Show(job) + " is no longer " + type);
    }
  }
  if (ends > 1) Break("I5", Show(job) + " is Complete and Failed");
  if (!IsTrue(job, "Complete") || IsTrue(before, "Complete")) return;
  const Gang gang{UidOf(job), NumberAt(job, {"status", "attempt"})};
  const auto plan = planned_.find(gang);
  if (plan != planned_.end() && succeeded_[gang].size() < plan->second.size()) {
    Break("I5", Show(job) + " is Complete with " + std::to_string(succeeded_[gang].size()) +
                    " workers that succeeded");
  }
}

// Of a pod that was deleted nobody knows whether it had done its work.
void Laws::LookAtSuccess(const Json& job) {
  const auto& done = succeeded_[{UidOf(job), NumberAt(job, {"status", "attempt"})}];
  for (const std::int64_t worker : NumbersOf(TextAt(job, {"status", "completedIndexes"}))) {
    if (done.contains(worker)) continue;
    return Break("I5", Show(job) + " says that worker " + std::to_string(worker) +
                           " has succeeded, which was told to stop");
  }
}

void Laws::LookAtCounters(const Json& job, const Json& before) {
  // A node turned out to be to blame.
  const bool given_back = TextAt(before, {"status", "lastFailure", "cause"}) == "ProgramFailed" &&
                          TextAt(job, {"status", "lastFailure", "cause"}) != "ProgramFailed" &&
                          IsTrue(job, "Restarting") && IsTrue(before, "Restarting");
  for (const char* field : {"attempt", "observedGeneration", "restarts"}) {
    const std::int64_t now = NumberAt(job, {"status", field});
    const std::int64_t was = NumberAt(before, {"status", field});
    if (now < was && !(now == was - 1 && field == std::string("restarts") && given_back)) {
      Break(field == std::string("attempt") ? "I4" : "I5",
            Show(job) + ": " + field + " " + std::to_string(now) + " after " + std::to_string(was));
    }
  }
  if (NumberAt(job, {"status", "observedGeneration"}) > NumberAt(job, {"metadata", "generation"})) {
    Break("I5", Show(job) + ": observedGeneration is of the future");
  }
  const Json& why = ConditionOf(job, "Restarting");
  const bool begins = TextAt(why, {"status"}) == "True" && !IsTrue(before, "Restarting");
  if (begins && TextAt(why, {"reason"}) == "BindRefused") {
    refused_at_bind_[UidOf(job)] = fibers_.now();
  }
  if (begins && ProgramFailed(TextAt(why, {"reason"})) &&
      NumberAt(job, {"status", "restarts"}) <= NumberAt(before, {"status", "restarts"})) {
    Break("I5", Show(job) + " restarted for " + TextAt(why, {"reason"}) + " and did not count it");
  }
  for (const Json& was : At(before, {"status", "conditions"})) {
    const Json& now = ConditionOf(job, TextAt(was, {"type"}));
    // Except that a leader opens a bind window anew if a clock that was ahead opened it
    // (life/bind_window.h).
    const auto then = ParseTime(TextAt(was, {"lastTransitionTime"}));
    const auto time = ParseTime(TextAt(now, {"lastTransitionTime"}));
    const bool anew = TextAt(was, {"type"}) == "PodsReady" && then && time && *time + 60 < *then;
    if (!now.is_null() && TextAt(now, {"status"}) == TextAt(was, {"status"}) && time != then &&
        !anew) {
      Break("I5", Show(job) + ": " + TextAt(was, {"type"}) + " is as before, at another time");
    }
  }
}

void Laws::LookAtDeparture(const Change& change) {
  const Json& job = *change.object;
  const bool had = change.before && HasWeftsFinalizer(*change.before);
  if (change.type != Change::Type::kDeleted && (!had || HasWeftsFinalizer(job))) return;
  if (!had || change.user.find("weft-operator") == std::string::npos) return;  // others may
  for (const auto& [uid, pod] : cluster_.pods_of_job[UidOf(job)]) {
    if (!CountsAsGone(*pod) && !HasEnded(*pod)) {
      Break("I11", Show(job) + " was let go before its pod " + Short(*pod));
    }
  }
}

void Laws::LookAtService(const Json& job, const Json& before) {
  if (!IsTrue(job, "PodsReady") || IsTrue(before, "PodsReady")) return;
  const std::string uid = UidOf(job);
  std::set<std::string> own = {uid};
  for (const auto& [attempt, placement] : cluster_.placements_of_job[uid]) {
    own.insert(UidOf(*placement));
  }
  const auto is_ours = [&own](const Json& service) {
    const Json& owners = At(service, {"metadata", "ownerReferences"});
    for (const Json& owner : owners) {
      if (own.contains(TextAt(owner, {"uid"}))) return true;
    }
    // Nobody owns the operator's: its label names the job.
    return owners.empty() &&
           own.contains(TextAt(service, {"metadata", "labels", "weft.dev/job-uid"}));
  };
  for (const auto& pod : cluster_.LivePods(uid)) {
    const std::string name = TextAt(*pod, {"spec", "subdomain"});
    const auto service = cluster_.services.find({KeyOf(*pod).space, name});
    bool ours = service != cluster_.services.end() && is_ours(*service->second);
    // That somebody has just deleted it is not known yet.
    const auto gone = cluster_.gone_services.find({KeyOf(*pod).space, name});
    if (service == cluster_.services.end() && gone != cluster_.gone_services.end()) {
      ours = is_ours(*gone->second.first) && fibers_.now() - gone->second.second < kDeletionUnknown;
    }
    if (!ours) return Break("I9", Show(job) + " runs with a Service that is not its own: " + name);
  }
}

// A large gang takes longer to create.
Instant::duration Laws::WindowOf(const Gang& gang) const {
  const auto plan = planned_.find(gang);
  if (plan == planned_.end()) return options_.window;
  return options_.window + plan->second.size() * options_.each;
}

void Laws::Tick(bool hard) {
  const Instant::duration passed = fibers_.now() - ticked_;
  ticked_ = fibers_.now();
  TickGroups();
  for (const std::string& job : std::exchange(telling_, {})) LookAtTold(job);
  hard_since_ = hard ? std::min(hard_since_, fibers_.now()) : Instant::max();
  if (hard) return untold_.clear();
  TickAwaited(passed);
  for (auto it = open_.begin(); it != open_.end();) {
    if (!IsPartlyBound(it->first)) {  // its node was lost meanwhile
      it = open_.erase(it);
      continue;
    }
    it->second += passed;
    if (it->second <= WindowOf(it->first)) {
      ++it;
      continue;
    }
    const auto job = cluster_.jobs.find(it->first.first);
    Break("I2c", (job == cluster_.jobs.end() ? it->first.first : Show(*job->second)) +
                     ": attempt " + std::to_string(it->first.second) +
                     " is partly bound for too long");
    it = open_.erase(it);
  }
  for (auto it = mute_.begin(); it != mute_.end();) {
    it->second += passed;
    if (it->second <= options_.visible) {
      ++it;
      continue;
    }
    const auto job = cluster_.jobs.find(it->first);
    Break("I20", (job == cluster_.jobs.end() ? it->first : Show(*job->second)) +
                     " is neither placed nor says why");
    it = mute_.erase(it);
  }
}

}  // namespace weft::world
