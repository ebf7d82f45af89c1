// What happens to nodes and to what runs on them.

#include <algorithm>
#include <array>
#include <set>

#include "tests/world/faults.h"
#include "tests/world/world.h"

namespace weft::world {
namespace {

// What the pod collector says of a pod whose node is gone.
Json CollectedStatus(const Json& pod) {
  Json conditions = Json::array();
  for (const Json& one : At(pod, {"status", "conditions"})) {
    if (TextAt(one, {"type"}) != "DisruptionTarget") conditions.push_back(one);
  }
  conditions.push_back({{"type", "DisruptionTarget"},
                        {"status", "True"},
                        {"reason", "DeletionByPodGC"},
                        {"message", "PodGC: node no longer exists"}});
  return {{"phase", "Failed"}, {"conditions", conditions}};
}

}  // namespace

// Whether a pod that has not ended is bound to it.
bool Faults::IsUsed(const std::string& node) const {
  const auto& pods = world_.server_.All(NameOf(kube::kPods));
  return std::any_of(pods.begin(), pods.end(), [&](const auto& one) {
    return TextAt(*one.second, {"spec", "nodeName"}) == node && !HasEnded(*one.second);
  });
}

void Faults::Taint(const std::string& node, const std::string& key) {
  Json taints = At(*admin_.Find(kube::kNodes, {"", node}), {"spec", "taints"});
  if (taints.is_null()) taints = Json::array();
  taints.push_back({{"key", key}, {"effect", "NoSchedule"}});
  admin_.Patch(kube::kNodes, {"", node}, {{"spec", {{"taints", taints}}}});
}

void Faults::Untaint(const std::string& node, const std::string& key) {
  const auto there = admin_.Find(kube::kNodes, {"", node});
  if (!there) return;
  Json left = Json::array();
  for (const Json& one : At(*there, {"spec", "taints"})) {
    if (TextAt(one, {"key"}) != key) left.push_back(one);
  }
  admin_.Patch(kube::kNodes, {"", node}, {{"spec", {{"taints", left}}}});
}

std::string Faults::LoseNode() {
  const std::string node = AnyNode();
  if (node.empty() || world_.kubelets_.IsLost(node)) return "";
  const seconds time = Some(5, 1'200);
  const bool rebooted = Below(2) == 0;
  world_.kubelets_.Lose(node);
  if (Below(4) > 0) EndPeers(node);
  world_.fibers_.After(time, [this, node, rebooted] { world_.kubelets_.Return(node, rebooted); });
  return node + " for " + std::to_string(time.count()) + " s" + (rebooted ? ", rebooted" : "");
}

// The programs on the other nodes of its gangs see their peer's connection end, and fail.
void Faults::EndPeers(const std::string& node) {
  std::set<std::string> gangs;
  const auto pods = world_.server_.All("pods");
  const auto gang = [](const Json& pod) {
    return JobOf(pod).empty() ? "" : JobOf(pod) + " " + std::to_string(AttemptOf(pod));
  };
  for (const auto& [key, pod] : pods) {
    if (TextAt(*pod, {"spec", "nodeName"}) == node && Runs(*pod)) gangs.insert(gang(*pod));
  }
  gangs.erase("");
  for (const auto& [key, pod] : pods) {
    if (!gangs.contains(gang(*pod)) || !Runs(*pod)) continue;
    const std::string of = TextAt(*pod, {"spec", "nodeName"});
    if (of == node || world_.kubelets_.IsLost(of)) continue;
    world_.fibers_.After(Some(1, 8), [this, key = key, uid = UidOf(*pod)] {
      const auto there = world_.server_.Find("pods", key);
      if (!there || UidOf(*there) != uid) return;
      if (!world_.kubelets_.IsLost(TextAt(*there, {"spec", "nodeName"}))) {
        world_.kubelets_.Crash(key, 1);
      }
    });
  }
}

// An autoscaler, or a person who repairs it: the node is removed, and comes back under its name.
std::string Faults::MakeNodeAnew() {
  const std::string name = AnyNode();
  if (name.empty() || world_.kubelets_.IsLost(name)) return "";
  Json node = *admin_.Find(kube::kNodes, {"", name});
  const Json meta = {{"name", name}, {"labels", At(node, {"metadata", "labels"})}};
  node["metadata"] = meta;
  admin_.Delete(kube::kNodes, {"", name});
  world_.kubelets_.Lose(name);
  const seconds away = Some(1, 300);
  // The pod collector takes what was on it.
  world_.fibers_.After(std::min(away, seconds(60)), [this, name] {
    if (admin_.Find(kube::kNodes, {"", name})) return;
    const auto pods = world_.server_.All("pods");
    for (const auto& [key, pod] : pods) {
      if (TextAt(*pod, {"spec", "nodeName"}) != name) continue;
      // It marks them as failed first. Only those with a finalizer are seen after that.
      if (!HasEnded(*pod) && !At(*pod, {"metadata", "finalizers"}).empty()) {
        admin_.Patch(kube::kPods, key, {{"status", CollectedStatus(*pod)}}, "status");
      }
      admin_.Delete(kube::kPods, key, {.grace_seconds = 0});
    }
  });
  world_.fibers_.After(away, [this, name, node] {
    admin_.Create(kube::kNodes, node);
    admin_.Patch(kube::kNodes, {"", name}, {{"status", node.at("status")}}, "status");
    world_.kubelets_.Return(name, true);
  });
  return name + " for " + std::to_string(away.count()) + " s";
}

// An autoscaler taints a node that no pod uses, removes it if that is still so, and makes another
// one later. Weft may have chosen it meanwhile.
std::string Faults::ScaleDown() {
  constexpr const char* kTaint = "ToBeDeletedByClusterAutoscaler";
  const std::string name = AnyNode();
  if (name.empty() || world_.kubelets_.IsLost(name) || IsUsed(name)) return "";
  Taint(name, kTaint);
  const seconds tainted = Some(0, 60), away = Some(60, 900);
  const std::string other = "node-new-" + std::to_string(number_);
  world_.fibers_.After(tainted, [this, name, away, other] {
    const auto there = admin_.Find(kube::kNodes, {"", name});
    if (!there) return;
    if (IsUsed(name)) return Untaint(name, kTaint);
    Json node = *there;
    admin_.Delete(kube::kNodes, {"", name});
    world_.kubelets_.Lose(name);
    Json labels = At(node, {"metadata", "labels"});
    labels["kubernetes.io/hostname"] = other;
    node["metadata"] = {{"name", other}, {"labels", labels}};
    if (node.contains("spec")) node["spec"].erase("taints");
    world_.fibers_.After(away, [this, other, node] {
      admin_.Create(kube::kNodes, node);
      admin_.Patch(kube::kNodes, {"", other}, {{"status", node.at("status")}}, "status");
    });
  });
  return name + " after " + std::to_string(tainted.count()) + " s";
}

std::string Faults::RestartPlugin() {
  const std::string node = AnyNode();
  if (node.empty()) return "";
  world_.kubelets_.RestartPlugin(node, Some(2, 60));
  return node;
}

std::string Faults::FailStarts() {
  const seconds time = Some(10, 300);
  const std::uint64_t lacks = Below(3);
  world_.kubelets_.SetStartsFail(static_cast<Kubelets::Lacks>(lacks), world_.fibers_.now() + time);
  return std::string(std::array{"no image", "no Secret", "no volume"}[lacks]) + " for " +
         std::to_string(time.count()) + " s";
}

std::string Faults::CrashPod() {
  const auto pod = Any(kube::kPods, Runs);
  if (!pod) return "";
  const int code = std::array{1, 137, 139}[Below(3)];
  world_.kubelets_.Crash(KeyOf(*pod), code);
  return api::Show(KeyOf(*pod)) + " with " + std::to_string(code);
}

std::string Faults::Cordon() {
  const std::string node = AnyNode();
  if (node.empty()) return "";
  admin_.Patch(kube::kNodes, {"", node}, {{"spec", {{"unschedulable", true}}}});
  world_.fibers_.After(Some(10, 900), [this, node] {
    admin_.Patch(kube::kNodes, {"", node}, {{"spec", {{"unschedulable", nullptr}}}});
  });
  return node;
}

std::string Faults::TaintNode() {
  const auto node = Any(kube::kNodes, [](const Json& one) {
    return At(one, {"spec", "taints"}).empty();
  });
  if (!node) return "";
  const std::string name = TextAt(*node, {"metadata", "name"});
  Taint(name, "example.com/repair");
  world_.fibers_.After(Some(10, 900), [this, name] { Untaint(name, "example.com/repair"); });
  return name;
}

// A plug-in of kube-scheduler or the kubelet refuses what Weft plans there, and nothing of the Node
// shows why.
std::string Faults::RefuseNode() {
  const std::string node = AnyNode();
  if (node.empty()) return "";
  const seconds time = Some(60, 1'200);
  const Instant until = world_.fibers_.now() + time;
  const bool at_bind = Below(2) == 0;
  if (at_bind) {
    world_.scheduler_.SetRefused(node, until);
  } else {
    world_.kubelets_.SetRefused(node, until);
  }
  return node + (at_bind ? " at bind for " : " at start for ") + std::to_string(time.count()) +
         " s";
}

}  // namespace weft::world
