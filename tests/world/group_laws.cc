// The laws of PodGroups: what the operator makes of them, what they are for, and that they go.

#include <algorithm>

#include "tests/world/laws.h"
#include "tests/world/pod_groups.h"

namespace weft::world {
namespace {

// kube-scheduler binds the pods of a gang one after the other, each in its own request.
constexpr seconds kBoundTogether{1};
// kube-controller-manager needs seconds; if it lacks the feature, Weft waits for a minute before it
// does the same, and a new leader for another one.
constexpr seconds kGroupGone{180};

// While kube-scheduler preempts for a gang, Weft waits for ten minutes beyond the bind deadline.
constexpr seconds kPreemptionAwaited{600};

std::string Called(const Json& object) { return api::Show(KeyOf(object)); }

// uid of the Placement that owns it, or "".
std::string PlacementOf(const Json& group) {
  for (const Json& owner : At(group, {"metadata", "ownerReferences"})) {
    if (TextAt(owner, {"kind"}) == "Placement") return TextAt(owner, {"uid"});
  }
  return "";
}

// Whether kube-scheduler says that the pod fits none of the nodes, and not only that its gang does
// not.
bool IsRefusedItself(const Json& pod) {
  return TextAt(ConditionOf(pod, "PodScheduled"), {"message"}).starts_with("0/");
}

// How often each node was excluded.
std::map<std::string, std::int64_t> Exclusions(const Json& job) {
  std::map<std::string, std::int64_t> times;
  for (const Json& one : At(job, {"status", "excludedNodes"})) {
    times[TextAt(one, {"node"})] = NumberAt(one, {"times"});
  }
  return times;
}

}  // namespace

void Laws::OnGates(bool all_on) {
  gates_on_ = all_on;
  gates_since_ = fibers_.now();
  half_bound_.clear();
}

void Laws::OnFailedBind(const Json& pod) { Excuse({JobOf(pod), AttemptOf(pod)}); }

void Laws::Excuse(const Gang& gang) {
  excused_.insert(gang);
  half_bound_.erase(gang);
}

void Laws::LookAtGroup(const Change& change) {
  const Json& group = *change.object;
  const std::string placement = PlacementOf(group), uid = UidOf(group);
  const bool gone = change.type == Change::Type::kDeleted;
  const bool by_operator = change.user.find("weft-operator") != std::string::npos;
  if (by_operator && change.type == Change::Type::kAdded) LookAtNewGroup(group, placement);
  if (by_operator && change.before && IsDeleting(*change.before)) LookAtLetGo(group, placement);
  if (gone) {
    groups_.erase(change.key);
  } else {
    groups_[change.key] = change.object;
  }
  LookAtGroupsEnd(change.key);
  if (gone) Await("group " + uid, false, {}, {});
  // What others make of it is not the operator's doing.
  const auto plan = cluster_.placements.find(placement);
  if (plan == cluster_.placements.end()) return;
  const auto workers = static_cast<std::int64_t>(NodesOf(*plan->second).size());
  if (gone || IsDeleting(group) || MinCountOf(group) != workers) {
    Excuse({JobOf(*plan->second), AttemptOf(*plan->second)});
  }
}

void Laws::LookAtNewGroup(const Json& group, const std::string& placement) {
  const std::string name = Called(group);
  if (placement.empty()) return Break("I25", "PodGroup " + name + " is of no Placement");
  for (const auto& [key, other] : groups_) {
    if (PlacementOf(*other) != placement) continue;
    return Break("I25", "PodGroup " + name + " is made beside " + api::Show(key));
  }
  // Somebody may delete the Placement while the request is under way.
  const auto plan = cluster_.placements.find(placement);
  if (plan == cluster_.placements.end()) return;
  const std::string begins = KeyOf(*plan->second).name + "-weft-";
  if (KeyOf(group).space != KeyOf(*plan->second).space || !KeyOf(group).name.starts_with(begins)) {
    Break("I25", "PodGroup " + name + " is of Placement " + Called(*plan->second));
  }
  const std::size_t workers = NodesOf(*plan->second).size();
  if (MinCountOf(group) != static_cast<std::int64_t>(workers)) {
    Break("I25", "PodGroup " + name + " has minCount " + std::to_string(MinCountOf(group)) +
                     ", and its attempt " + std::to_string(workers) + " workers");
  }
  if (!IsDisruptedAsOne(group)) Break("I25", "PodGroup " + name + " is not disrupted as one");
  const auto job = cluster_.jobs.find(JobOf(*plan->second));
  if (job == cluster_.jobs.end()) return;
  if (LabelOf(group, "weft.dev/job-uid") != job->first ||
      LabelOf(group, "weft.dev/job-name") != KeyOf(*job->second).name) {
    Break("I25", "PodGroup " + name + " has not the labels of its job");
  }
}

// The finalizer that the operator takes off is its own PodGroup's, and kube-scheduler needs it no
// more.
void Laws::LookAtLetGo(const Json& group, const std::string& placement) {
  if (placement.empty()) return Break("I9", "PodGroup " + Called(group) + " of others is let go");
  const auto pods = in_group_.find(KeyOf(group));
  if (pods == in_group_.end() || pods->second.empty()) return;
  Break("I26", "PodGroup " + Called(group) + " is let go with " +
                   std::to_string(pods->second.size()) + " pods in it");
}

// A PodGroup that is deleted, or whose Placement is gone, goes when its pods have ended.
void Laws::LookAtGroupsEnd(const api::ObjectKey& key) {
  const auto found = groups_.find(key);
  if (found == groups_.end()) return;
  const std::string uid = UidOf(*found->second), placement = PlacementOf(*found->second);
  const bool left = IsDeleting(*found->second) || !cluster_.placements.contains(placement);
  const auto pods = in_group_.find(key);
  const bool used = pods != in_group_.end() && !pods->second.empty();
  Await("group " + uid, !placement.empty() && left && !used, kGroupGone,
        {"I26", "PodGroup " + api::Show(key) + " stays, although no pod is in it", {}});
}

void Laws::LookAtGroupsOf(const Json& placement) {
  for (const auto& [key, group] : groups_) {
    if (PlacementOf(*group) == UidOf(placement)) return LookAtGroupsEnd(key);
  }
}

void Laws::LookAtPodInGroup(const Change& change) {
  const Json& pod = *change.object;
  const std::string name = GroupOf(pod);
  const bool gone = change.type == Change::Type::kDeleted;
  if (!name.empty()) {
    const api::ObjectKey group{change.key.space, name};
    if (gone || HasEnded(pod)) {
      in_group_[group].erase(UidOf(pod));
    } else {
      in_group_[group].insert(UidOf(pod));
    }
    LookAtGroupsEnd(group);
  }
  if (JobOf(pod).empty() || !WorkerOf(pod)) return;
  const Gang gang{JobOf(pod), AttemptOf(pod)};
  if (change.type == Change::Type::kAdded) LookAtSameGroup(pod);
  if (gone || IsDeleting(pod)) Excuse(gang);
  if (!TextAt(pod, {"status", "nominatedNodeName"}).empty()) {
    nominated_.try_emplace(gang, fibers_.now());
  }
  if (IsRefusedItself(pod)) refused_pods_[gang.first].insert(PinnedNode(pod));
  LookAtHalfBound(gang);
}

// All pods of an attempt are in its PodGroup, or none: of those that no server has changed.
void Laws::LookAtSameGroup(const Json& pod) {
  const Gang gang{JobOf(pod), AttemptOf(pod)};
  const auto [born, first] = gang_born_.try_emplace(gang, fibers_.now());
  if (GroupOf(pod).empty()) {
    Excuse(gang);
  } else if (first) {
    ++grouped_;
  }
  if (!gates_on_ || born->second <= gates_since_) return;
  for (const auto& other : cluster_.LivePods(gang.first)) {
    if (AttemptOf(*other) != gang.second || GroupOf(*other) == GroupOf(pod)) continue;
    // With its Placement somebody deleted the attempt's PodGroup and its record.
    const std::string named = GroupOf(pod).empty() ? GroupOf(*other) : GroupOf(pod);
    const auto group = groups_.find({KeyOf(pod).space, named});
    if (group == groups_.end() || IsDeleting(*group->second)) return;
    return Break("I25", Called(pod) + " is in PodGroup \"" + GroupOf(pod) + "\", " +
                            Called(*other) + " in \"" + GroupOf(*other) + "\"");
  }
}

void Laws::LookAtHalfBound(const Gang& gang) {
  const auto born = gang_born_.find(gang);
  const bool counts = gates_on_ && born != gang_born_.end() && born->second > gates_since_ &&
                      !excused_.contains(gang);
  if (counts && IsPartlyBound(gang)) {
    half_bound_.try_emplace(gang, fibers_.now());
  } else {
    half_bound_.erase(gang);
  }
}

void Laws::TickGroups() {
  for (auto it = half_bound_.begin(); it != half_bound_.end();) {
    if (fibers_.now() - it->second <= kBoundTogether) {
      ++it;
      continue;
    }
    const auto job = cluster_.jobs.find(it->first.first);
    Break("I25", (job == cluster_.jobs.end() ? it->first.first : Called(*job->second)) +
                     ": attempt " + std::to_string(it->first.second) +
                     " is partly bound, although it has a PodGroup");
    it = half_bound_.erase(it);
  }
}

// A gang for which others still leave its nodes is taken down.
void Laws::LookAtPreemption(const Json& job, const Gang& gang) {
  const auto since = nominated_.find(gang);
  if (since == nominated_.end() || !gates_on_ || excused_.contains(gang)) return;
  // The clock of another leader may be ahead.
  if (cluster_.led_anew > since->second || gates_since_ > since->second) return;
  if (fibers_.now() - since->second > kPreemptionAwaited) return;
  // Without one of its nodes the gang can never be bound.
  const std::vector<std::string>& planned = planned_[gang];
  if (std::any_of(planned.begin(), planned.end(),
                  [this](const auto& node) { return cluster_.unhealthy.contains(node); })) {
    return;
  }
  for (const auto& pod : cluster_.LivePods(gang.first)) {
    const std::string node = TextAt(*pod, {"status", "nominatedNodeName"});
    if (AttemptOf(*pod) != gang.second || node.empty()) continue;
    if (cluster_.unhealthy.contains(node)) return;
    for (const auto& [uid, other] : cluster_.on_node[node]) {
      if (!IsDeleting(*other)) continue;
      return Break("I25", Called(job) + " is taken down while kube-scheduler preempts " +
                              Called(*other) + " for it");
    }
  }
}

// A gang that is refused says of most of its pods nothing but that the gang is.
void Laws::LookAtExcluded(const Json& job, const Json& before) {
  const Json& why = ConditionOf(job, "Restarting");
  const bool begins = TextAt(why, {"status"}) == "True" && !IsTrue(before, "Restarting");
  if (!begins || TextAt(why, {"reason"}) != "BindRefused") return;
  LookAtPreemption(job, {UidOf(job), NumberAt(before, {"status", "attempt"})});
  const auto were = Exclusions(before);
  const std::set<std::string>& refused = refused_pods_[UidOf(job)];
  for (const auto& [node, times] : Exclusions(job)) {
    const auto was = were.find(node);
    const bool anew = was == were.end() || was->second < times;
    if (!anew || refused.contains(node) || cluster_.unhealthy.contains(node)) continue;
    Break("I10", Called(job) + ": node " + node + " is excluded, which has refused no pod");
  }
}

}  // namespace weft::world
