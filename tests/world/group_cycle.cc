// The cycle of a PodGroup: kubernetes 1.37 pkg/scheduler/schedule_one_podgroup.go, its plug-in
// gangscheduling and framework/preemption/podgrouppreemption.go.

#include <algorithm>
#include <utility>

#include "tests/world/pod_groups.h"
#include "tests/world/pods.h"
#include "tests/world/scheduler.h"

namespace weft::world {
namespace {

constexpr std::chrono::milliseconds kGroupCycle{20};
constexpr std::chrono::seconds kFailedBind{1};
constexpr std::uint64_t kMostBindMillis = 400;  // each pod is bound by its own request
constexpr const char* kUnschedulable = "pod group is unschedulable";
constexpr const char* kInitiallyScheduled = "PodGroupInitiallyScheduled";

std::string WhyNotAll(std::int64_t least, std::int64_t scheduled, std::int64_t remaining) {
  return "minCount (" + std::to_string(least) +
         ") cannot be satisfied: " + std::to_string(scheduled) + " scheduled, " +
         std::to_string(remaining) + " remaining";
}

std::int64_t PriorityOf(const Json& object) { return NumberAt(object, {"spec", "priority"}); }

// kube-scheduler's words if a pod's priority is not its group's; "": all are the same.
std::string PriorityError(const Json& group, const std::vector<std::shared_ptr<const Json>>& pods) {
  for (const auto& pod : pods) {
    if (PriorityOf(*pod) == PriorityOf(group)) continue;
    return "all pods in a single pod group should have the same priority as the pod group's "
           "priority, got " +
           std::to_string(PriorityOf(*pod)) + " and " + std::to_string(PriorityOf(group));
  }
  return "";
}

}  // namespace

bool Scheduler::IsInGroup(const Json& pod) const { return groups_.gate && !GroupOf(pod).empty(); }

void Scheduler::EnqueueGroup(const api::ObjectKey& group) {
  if (!due_.insert(group).second) return;
  const std::chrono::microseconds jitter(chance_.Below(100'000));
  fibers_.After(kGroupCycle + jitter, [this, group] {
    due_.erase(group);
    TryGroup(group);
  });
}

// The group's pods; nothing if it is not tried, and nobody is told why: the PodGroup is not there,
// too few pods are, or a gate keeps one back.
std::optional<Scheduler::Gang> Scheduler::GangOf(const api::ObjectKey& key) const {
  Gang gang{.group = api_.Find(kube::kPodGroups, key), .waiting = {}, .bound = 0, .error = ""};
  if (gang.group == nullptr) return std::nullopt;
  const auto members = members_.find(key);
  if (members == members_.end()) return std::nullopt;
  Pods bound;
  for (const api::ObjectKey& name : members->second) {
    const auto found = api_.Find(kube::kPods, name);
    if (!found) continue;
    const Json& pod = *found;
    if (GroupOf(pod) != key.name || HasEnded(pod)) continue;
    if (!NodeOf(pod).empty() || assumed_.contains(name)) {
      bound.push_back(found);
    } else if (WaitsForNode(pod)) {
      gang.waiting.push_back(found);
    } else if (!IsDeleting(pod)) {
      return std::nullopt;
    }
  }
  gang.bound = static_cast<std::int64_t>(bound.size());
  const auto waiting = static_cast<std::int64_t>(gang.waiting.size());
  if (waiting == 0 || gang.bound + waiting < MinCountOf(*gang.group)) return std::nullopt;
  gang.error = PriorityError(*gang.group, gang.waiting);
  if (gang.error.empty()) gang.error = PriorityError(*gang.group, bound);
  return gang;
}

void Scheduler::TryGroup(const api::ObjectKey& key) {
  if (silent_ || !groups_.gate) return;
  const std::optional<Gang> gang = GangOf(key);
  if (!gang) return;
  if (!gang->error.empty()) {
    for (const auto& pod : gang->waiting) Refuse(*pod, {gang->error, "SchedulerError", ""});
    SetCondition(*gang->group, false, "SchedulerError", gang->error);
  } else if (const Trial trial = TryMembers(*gang, UsedNow()); trial.why.empty()) {
    BindMembers(trial);
    SetCondition(*gang->group, true, "Scheduled", "");
    return;
  } else {
    RefuseMembers(*gang, trial);
  }
  TryLater(KeyOf(*gang->waiting.front()));
}

// In turn, each with those before it on their nodes, until so many are refused that the others
// cannot be enough.
Scheduler::Trial Scheduler::TryMembers(const Gang& gang, Used used) {
  Trial trial;
  for (const auto& pod : gang.waiting) trial.members.push_back({pod, "", ""});
  const std::int64_t least = MinCountOf(*gang.group);
  std::int64_t scheduled = gang.bound, remaining = static_cast<std::int64_t>(trial.members.size());
  bool any = false;
  for (Member& member : trial.members) {
    const Fit fit = FitOf(*member.pod, used);
    --remaining;
    if (fit.nodes.empty()) {
      member.why = fit.why_not;
    } else {
      member.node = fit.nodes[chance_.Below(fit.nodes.size())];
      used[member.node] += GpusOf(*member.pod);
      ++scheduled;
      any = true;
    }
    if (scheduled + remaining >= least) continue;
    trial.why = WhyNotAll(least, scheduled, remaining);
    break;
  }
  if (trial.why.empty() && !any) trial.why = kUnschedulable;
  return trial;
}

void Scheduler::BindMembers(const Trial& trial) {
  for (const Member& member : trial.members) {
    if (member.node.empty()) {
      Refuse(*member.pod, {member.why});
      continue;
    }
    const api::ObjectKey key = KeyOf(*member.pod);
    assumed_[key] = member.node;
    held_[member.node][key] = GpusOf(*member.pod);
    fibers_.After(Millis(chance_.Below(kMostBindMillis)),
                  [this, pod = member.pod, node = member.node] { BindMember(pod, node); });
  }
}

void Scheduler::BindMember(const std::shared_ptr<const Json>& pod, const std::string& node) {
  const api::ObjectKey key = KeyOf(*pod);
  const auto there = api_.Find(kube::kPods, key);
  if (!there || UidOf(*there) != UidOf(*pod) || assumed_.erase(key) == 0) return;
  const bool lost = groups_.bind_fails && groups_.bind_fails();
  if (!lost && api_.Bind(key, UidOf(*pod), node) / 100 == 2) return;
  held_[node].erase(key);
  if (groups_.on_failed) groups_.on_failed(*pod);
  Enqueue(key, kFailedBind);
}

// Only a pod that was tried in vain is told of its own nodes.
void Scheduler::RefuseMembers(const Gang& gang, const Trial& trial) {
  const Preemption preemption = PreemptFor(gang);
  const std::string all = trial.why + ", " + preemption.told;
  for (const Member& member : trial.members) {
    const auto found = preemption.nominated.find(KeyOf(*member.pod));
    const bool nominates = found != preemption.nominated.end();
    Verdict verdict;
    if (nominates) verdict.nominated = found->second;
    if (!member.why.empty()) {
      verdict.why = member.why;
      if (!nominates) verdict.nominated = "";
    } else if (member.node.empty()) {
      verdict.why = trial.why;
    } else if (preemption.works) {
      verdict.why = all;
    } else {
      verdict.why = std::string(kUnschedulable) + ", " + all;
      verdict.nominated = "";
    }
    Refuse(*member.pod, verdict);
  }
  SetCondition(*gang.group, false, "Unschedulable", all);
  for (const api::ObjectKey& victim : preemption.victims) api_.Delete(kube::kPods, victim);
}

// As if all pods of less priority were gone; then those are spared that need not go.
Scheduler::Preemption Scheduler::PreemptFor(const Gang& gang) {
  Preemption preemption{"pod group preemption: ", false, {}, {}};
  const auto told = [&](const std::string& why) {
    preemption.told += why;
    return preemption;
  };
  if (TextAt(*gang.waiting.front(), {"spec", "preemptionPolicy"}) == "Never") {
    return told("not eligible due to preemptionPolicy=Never.");
  }
  Pods lower;
  std::set<std::string> left;  // nodes that a pod of less priority leaves
  for (const auto& [key, pod] : api_.server().All("pods")) {
    const std::string node = NodeOf(*pod);
    if (node.empty() || HasEnded(*pod) || PriorityOf(*pod) >= PriorityOf(*gang.group)) continue;
    lower.push_back(pod);
    if (IsDeleting(*pod)) left.insert(node);
  }
  for (const auto& pod : gang.waiting) {
    const std::string node = TextAt(*pod, {"status", "nominatedNodeName"});
    if (!node.empty()) preemption.nominated[KeyOf(*pod)] = node;
    preemption.works = preemption.works || left.contains(node);
  }
  if (preemption.works) return told("ongoing preemption on nominated nodes");
  preemption.nominated.clear();
  if (lower.empty()) return told("No preemption victims found for incoming preemptor");
  Used used = UsedNow();
  for (const auto& pod : lower) used[NodeOf(*pod)] -= GpusOf(*pod);
  const Trial trial = TryMembers(gang, used);
  if (!trial.why.empty()) return told(trial.why);
  preemption.works = true;
  preemption.victims = VictimsOf(lower, trial);
  for (const Member& member : trial.members) preemption.nominated[KeyOf(*member.pod)] = member.node;
  return told("found a placement for podgroup, preempting " +
              std::to_string(preemption.victims.size()) + " victims");
}

// Of the pods with less priority those that must go, if the members get their nodes. The most
// important ones are spared first.
std::vector<api::ObjectKey> Scheduler::VictimsOf(const Pods& lower, const Trial& trial) const {
  Used used = UsedNow();
  std::set<std::string> wanted;
  for (const auto& pod : lower) used[NodeOf(*pod)] -= GpusOf(*pod);
  for (const Member& member : trial.members) {
    used[member.node] += GpusOf(*member.pod);
    wanted.insert(member.node);
  }
  std::vector<Pods> units;
  for (auto& [name, pods] : UnitsOf(lower)) units.push_back(pods);
  std::stable_sort(units.begin(), units.end(), [](const Pods& one, const Pods& other) {
    return PriorityOf(*one.front()) > PriorityOf(*other.front());
  });
  std::vector<api::ObjectKey> victims;
  for (const Pods& unit : units) {
    Used with = used;
    for (const auto& pod : unit) with[NodeOf(*pod)] += GpusOf(*pod);
    const bool spared = std::all_of(unit.begin(), unit.end(), [&](const auto& pod) {
      const std::string node = NodeOf(*pod);
      const auto there = api_.Find(kube::kNodes, {"", node});
      return !wanted.contains(node) ||
             (there && with[node] <= NumberAt(*there, {"status", "allocatable", "nvidia.com/gpu"}));
    });
    if (spared) used = with;
    for (const auto& pod : unit) {
      if (!spared && !IsDeleting(*pod)) victims.push_back(KeyOf(*pod));
    }
  }
  return victims;
}

// Pods that go together, by a name: those of a PodGroup that is disrupted as one, or a single one.
std::map<std::string, Scheduler::Pods> Scheduler::UnitsOf(const Pods& pods) const {
  std::map<std::string, Pods> units;
  for (const auto& pod : pods) {
    const std::string space = KeyOf(*pod).space;
    const auto group =
        IsInGroup(*pod) ? api_.Find(kube::kPodGroups, {space, GroupOf(*pod)}) : nullptr;
    const bool as_one = group && IsDisruptedAsOne(*group);
    units[as_one ? "group " + space + "/" + GroupOf(*pod) : api::Show(KeyOf(*pod))].push_back(pod);
  }
  return units;
}

std::vector<api::ObjectKey> Scheduler::WithTheirGroups(
    const std::vector<api::ObjectKey>& victims) const {
  std::vector<api::ObjectKey> all = victims;
  if (!groups_.gate) return all;
  Pods bound;
  for (const auto& [key, pod] : api_.server().All("pods")) {
    if (!NodeOf(*pod).empty() && !HasEnded(*pod) && !IsDeleting(*pod)) bound.push_back(pod);
  }
  for (const auto& [name, unit] : UnitsOf(bound)) {
    const auto is_victim = [&](const auto& pod) {
      return std::find(victims.begin(), victims.end(), KeyOf(*pod)) != victims.end();
    };
    if (std::none_of(unit.begin(), unit.end(), is_victim)) continue;
    for (const auto& pod : unit) {
      if (!is_victim(pod)) all.push_back(KeyOf(*pod));
    }
  }
  return all;
}

// Once it is true it stays, whatever happens to pods that come later.
void Scheduler::SetCondition(const Json& group, bool scheduled, const char* reason,
                             const std::string& message) {
  const Json& known = ConditionOf(group, kInitiallyScheduled);
  const bool same = TextAt(known, {"status"}) == (scheduled ? "True" : "False") &&
                    TextAt(known, {"reason"}) == reason && TextAt(known, {"message"}) == message;
  if (same || TextAt(known, {"status"}) == "True") return;
  Json condition = {{"type", kInitiallyScheduled},
                    {"status", scheduled ? "True" : "False"},
                    {"reason", reason},
                    {"message", message},
                    {"observedGeneration", GenerationOf(group)}};
  if (groups_.time) condition["lastTransitionTime"] = groups_.time();
  api_.Patch(kube::kPodGroups, KeyOf(group), {{"status", {{"conditions", {condition}}}}}, "status");
}

}  // namespace weft::world
