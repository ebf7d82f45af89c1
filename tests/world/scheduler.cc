#include "tests/world/scheduler.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tests/world/pod_groups.h"
#include "tests/world/seen_cluster.h"

namespace weft::world {
namespace {

constexpr const char* kOtherNode = "didn't match Pod's node affinity/selector";

constexpr std::chrono::milliseconds kCycle{20};
constexpr std::chrono::seconds kRetry{5};

bool Tolerates(const Json& pod, const Json& taint) {
  for (const Json& one : At(pod, {"spec", "tolerations"})) {
    const std::string key = TextAt(one, {"key"}), effect = TextAt(one, {"effect"});
    if (!effect.empty() && effect != TextAt(taint, {"effect"})) continue;
    if (key.empty() && TextAt(one, {"operator"}) == "Exists") return true;
    if (key != TextAt(taint, {"key"})) continue;
    if (TextAt(one, {"operator"}) == "Exists") return true;
    if (TextAt(one, {"value"}) == TextAt(taint, {"value"})) return true;
  }
  return false;
}

bool HasValue(const Json& requirement, const std::string& value) {
  const Json& values = At(requirement, {"values"});
  return std::find(values.begin(), values.end(), Json(value)) != values.end();
}

bool Matches(const Json& requirement, bool exists, const std::string& value) {
  const std::string how = TextAt(requirement, {"operator"});
  if (how == "In") return exists && HasValue(requirement, value);
  if (how == "NotIn") return !exists || !HasValue(requirement, value);
  if (how == "Exists") return exists;
  if (how == "DoesNotExist") return !exists;
  return false;
}

bool TermMatches(const Json& term, const Json& node) {
  for (const Json& one : At(term, {"matchFields"})) {
    if (!Matches(one, true, TextAt(node, {"metadata", "name"}))) return false;
  }
  for (const Json& one : At(term, {"matchExpressions"})) {
    const Json& value = At(node, {"metadata", "labels", TextAt(one, {"key"}).c_str()});
    if (!Matches(one, value.is_string(), value.is_string() ? value.get<std::string>() : "")) {
      return false;
    }
  }
  return true;
}

bool SelectorMatches(const Json& pod, const Json& node) {
  for (const auto& [key, value] : At(pod, {"spec", "nodeSelector"}).items()) {
    if (At(node, {"metadata", "labels", key.c_str()}) != value) return false;
  }
  const Json& terms =
      At(pod, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
               "nodeSelectorTerms"});
  if (!terms.is_array()) return true;
  return std::any_of(terms.begin(), terms.end(),
                     [&](const Json& term) { return TermMatches(term, node); });
}

// The node that all of the pod's affinity names; "" if it is none or several.
std::string OnlyNode(const Json& pod) {
  const Json& terms =
      At(pod, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
               "nodeSelectorTerms"});
  return terms.size() == 1 ? PinnedNode(pod) : "";
}

}  // namespace

bool WaitsForNode(const Json& pod) {
  return TextAt(pod, {"spec", "nodeName"}).empty() && !IsDeleting(pod) && !HasEnded(pod) &&
         At(pod, {"spec", "schedulingGates"}).empty();
}

Scheduler::Scheduler(Fibers& fibers, ApiServer& server, std::uint64_t seed)
    : fibers_(fibers), api_(server, "kube-scheduler"), chance_(seed) {}

void Scheduler::OnChange(const Change& change) {
  if (change.resource == "nodes") return TryAllSoon();
  if (change.resource == kPodGroupResource) {
    const bool same = change.before && GenerationOf(*change.before) == GenerationOf(*change.object);
    return same ? void() : TryAllSoon();
  }
  if (change.resource != "pods") return;
  const Json& pod = *change.object;
  const std::string node = TextAt(pod, {"spec", "nodeName"});
  const bool gone = change.type == Change::Type::kDeleted;
  if (const std::string group = GroupOf(pod); !group.empty()) {
    std::set<api::ObjectKey>& members = members_[{change.key.space, group}];
    if (gone) {
      members.erase(change.key);
    } else {
      members.insert(change.key);
    }
  }
  if (!node.empty()) {
    if (gone || HasEnded(pod)) {
      if (held_[node].erase(change.key) > 0) TryAllSoon();
    } else {
      held_[node][change.key] = GpusOf(pod);
    }
  }
  if (gone) {
    const auto assumed = assumed_.find(change.key);
    if (assumed != assumed_.end()) {
      held_[assumed->second].erase(change.key);
      assumed_.erase(assumed);
    }
  }
  OnNomination(change.key, gone || !WaitsForNode(pod) ? nullptr : &pod);
  if (gone || !WaitsForNode(pod)) {
    pending_.erase(change.key);
  } else if (pending_.try_emplace(change.key, 0).second) {
    if (IsInGroup(pod)) return EnqueueGroup({change.key.space, GroupOf(pod)});
    Enqueue(change.key, kCycle);
  }
}

void Scheduler::SetSilent(bool silent) {
  silent_ = silent;
  if (!silent) TryAllSoon();
}

void Scheduler::SetGate(bool on) {
  groups_.gate = on;
  TryAllSoon();
}

void Scheduler::SetRefused(const std::string& node, Instant until) {
  refused_[node] = until;
  fibers_.At(until, [this] { TryAllSoon(); });
}

void Scheduler::Enqueue(const api::ObjectKey& pod, Instant::duration delay) {
  const std::chrono::microseconds jitter(chance_.Below(100'000));
  fibers_.After(delay + jitter, [this, pod] { Try(pod); });
}

void Scheduler::TryAllSoon() {
  if (std::exchange(sweep_, true)) return;
  fibers_.After(kCycle, [this] {
    sweep_ = false;
    std::vector<api::ObjectKey> all;
    std::set<api::ObjectKey> groups;
    for (const auto& [key, tries] : pending_) {
      const auto pod = api_.Find(kube::kPods, key);
      if (pod && IsInGroup(*pod)) {
        groups.insert({key.space, GroupOf(*pod)});
      } else {
        all.push_back(key);
      }
    }
    for (const api::ObjectKey& key : all) Try(key);
    for (const api::ObjectKey& group : groups) TryGroup(group);
  });
}

void Scheduler::OnNomination(const api::ObjectKey& key, const Json* pod) {
  const std::string node = pod == nullptr ? "" : TextAt(*pod, {"status", "nominatedNodeName"});
  const auto known = nominated_.find(key);
  const bool leaves = known != nominated_.end() && known->second.node != node;
  if (leaves) nominated_.erase(known);
  if (!node.empty()) {
    nominated_[key] = {.node = node,
                       .group = GroupOf(*pod),
                       .gpus = GpusOf(*pod),
                       .priority = NumberAt(*pod, {"spec", "priority"})};
  }
  if (leaves) TryAllSoon();
}

// GPUs of the node that pods of at least this one's priority wait for. Those of its own group are
// tried with it.
std::int64_t Scheduler::KeptFor(const std::string& node, const Json& pod) const {
  if (nominated_.empty()) return 0;
  const api::ObjectKey key = KeyOf(pod);
  const std::string group = GroupOf(pod);
  std::int64_t gpus = 0;
  for (const auto& [other, nomination] : nominated_) {
    const bool same_group = !group.empty() && other.space == key.space && nomination.group == group;
    if (other == key || same_group || nomination.node != node || assumed_.contains(other)) continue;
    if (nomination.priority >= NumberAt(pod, {"spec", "priority"})) gpus += nomination.gpus;
  }
  return gpus;
}

// Whether pods leave its nominated node for it. Until they have it takes no others' place, unless
// the node is not possible any more.
bool Scheduler::IsPreempting(const Json& pod) const {
  const auto known = nominated_.find(KeyOf(pod));
  if (known == nominated_.end()) return false;
  const auto node = api_.Find(kube::kNodes, {"", known->second.node});
  const auto held = held_.find(known->second.node);
  if (!node || held == held_.end() || WhyNot(pod, *node, UsedNow()) != "GPUs") return false;
  return std::any_of(held->second.begin(), held->second.end(), [&](const auto& one) {
    const auto other = api_.Find(kube::kPods, one.first);
    return other && IsDeleting(*other) &&
           NumberAt(*other, {"spec", "priority"}) < known->second.priority;
  });
}

// Why the node is not possible; "": it is. "GPUs" if only they are missing.
std::string Scheduler::WhyNot(const Json& pod, const Json& node, const Used& used) const {
  if (!SelectorMatches(pod, node)) return kOtherNode;
  if (At(node, {"spec", "unschedulable"}) == Json(true)) return "were unschedulable";
  for (const Json& taint : At(node, {"spec", "taints"})) {
    if (TextAt(taint, {"effect"}) != "PreferNoSchedule" && !Tolerates(pod, taint)) {
      return "had untolerated taint {" + TextAt(taint, {"key"}) + "}";
    }
  }
  const auto refused = refused_.find(TextAt(node, {"metadata", "name"}));
  if (refused != refused_.end() && fibers_.now() < refused->second) {
    return "had volume node affinity conflict";
  }
  const std::string name = TextAt(node, {"metadata", "name"});
  const auto held = used.find(name);
  const std::int64_t taken = (held == used.end() ? 0 : held->second) + KeptFor(name, pod);
  const std::int64_t there = NumberAt(node, {"status", "allocatable", "nvidia.com/gpu"});
  return taken + GpusOf(pod) > there ? "GPUs" : "";
}

Scheduler::Used Scheduler::UsedNow() const {
  Used used;
  for (const auto& [node, pods] : held_) AddUsed(node, used);
  return used;
}

void Scheduler::AddUsed(const std::string& node, Used& used) const {
  const auto held = held_.find(node);
  if (held == held_.end()) return;
  for (const auto& [key, gpus] : held->second) used[node] += gpus;
}

Scheduler::Fit Scheduler::FitNow(const Json& pod) const {
  const std::string only = OnlyNode(pod);
  if (only.empty()) return FitOf(pod, UsedNow());
  Used used;
  AddUsed(only, used);
  return FitOf(pod, used);
}

Scheduler::Fit Scheduler::FitOf(const Json& pod, const Used& used) const {
  Fit fit;
  std::map<std::string, int> reasons;
  const auto& nodes = api_.server().All("nodes");
  const std::string only = OnlyNode(pod);
  for (const auto& [name, node] : nodes) {
    const bool other = !only.empty() && name.name != only;
    const std::string why = other ? kOtherNode : WhyNot(pod, *node, used);
    if (why.empty()) fit.nodes.push_back(name.name);
    if (why == "GPUs") fit.crowded.push_back(name.name);
    if (!why.empty()) ++reasons[why == "GPUs" ? "Insufficient nvidia.com/gpu" : why];
  }
  fit.why_not = "0/" + std::to_string(nodes.size()) + " nodes are available: ";
  for (const auto& [why, count] : reasons) fit.why_not += std::to_string(count) + " " + why + ", ";
  fit.why_not.replace(fit.why_not.size() - 2, 2, ".");
  return fit;
}

// Makes room for the pod by ending pods of lower priority.
bool Scheduler::Preempt(const Json& pod, const std::string& node) {
  const std::int64_t priority = NumberAt(pod, {"spec", "priority"});
  std::vector<api::ObjectKey> victims;
  std::int64_t missing = GpusOf(pod);
  for (const auto& [key, gpus] : held_[node]) {
    const auto other = api_.Find(kube::kPods, key);
    if (!other || IsDeleting(*other)) return false;  // it goes already
    if (NumberAt(*other, {"spec", "priority"}) >= priority || missing <= 0) continue;
    victims.push_back(key);
    missing -= gpus;
  }
  if (victims.empty() || missing > 0) return false;
  std::vector<api::ObjectKey> less;  // lose their nomination
  for (const auto& [key, nomination] : nominated_) {
    if (nomination.node == node && nomination.priority < priority) less.push_back(key);
  }
  api_.Patch(kube::kPods, KeyOf(pod), {{"status", {{"nominatedNodeName", node}}}}, "status");
  for (const api::ObjectKey& key : less) {
    api_.Patch(kube::kPods, key, {{"status", {{"nominatedNodeName", nullptr}}}}, "status");
  }
  for (const api::ObjectKey& victim : WithTheirGroups(victims)) api_.Delete(kube::kPods, victim);
  return true;
}

void Scheduler::Refuse(const Json& pod, const Verdict& verdict) {
  const Json& known = ConditionOf(pod, "PodScheduled");
  const std::string nominated = TextAt(pod, {"status", "nominatedNodeName"});
  const std::string node = verdict.nominated.value_or(nominated);
  if (TextAt(known, {"status"}) == "False" && TextAt(known, {"message"}) == verdict.why &&
      node == nominated) {
    return;
  }
  Json status = {{"phase", "Pending"},
                 {"conditions",
                  {{{"type", "PodScheduled"},
                    {"status", "False"},
                    {"reason", verdict.reason},
                    {"message", verdict.why}}}}};
  if (node != nominated) status["nominatedNodeName"] = node.empty() ? Json() : Json(node);
  api_.Patch(kube::kPods, KeyOf(pod), {{"status", status}}, "status");
}

void Scheduler::Try(const api::ObjectKey& key) {
  if (silent_ || !pending_.contains(key) || assumed_.contains(key)) return;
  const auto pod = api_.Find(kube::kPods, key);
  if (!pod || !WaitsForNode(*pod)) return;
  if (IsInGroup(*pod)) return TryGroup({key.space, GroupOf(*pod)});
  const Fit fit = FitNow(*pod);
  if (!fit.nodes.empty()) {
    const std::string nominated = TextAt(*pod, {"status", "nominatedNodeName"});
    const auto kept = std::find(fit.nodes.begin(), fit.nodes.end(), nominated);
    const bool keeps = kept != fit.nodes.end();
    api_.Bind(key, UidOf(*pod), keeps ? *kept : fit.nodes[chance_.Below(fit.nodes.size())]);
    return;
  }
  if (IsPreempting(*pod)) {
    Refuse(*pod, {fit.why_not});
    return TryLater(key);
  }
  if (NumberAt(*pod, {"spec", "priority"}) > 0 && !fit.crowded.empty() &&
      Preempt(*pod, fit.crowded[chance_.Below(fit.crowded.size())])) {
    return;
  }
  Refuse(*pod, {fit.why_not, "Unschedulable", ""});
  TryLater(key);
}

void Scheduler::TryLater(const api::ObjectKey& key) {
  const auto still = pending_.find(key);
  if (still != pending_.end() && ++still->second < 8) Enqueue(key, kRetry);
}

}  // namespace weft::world
