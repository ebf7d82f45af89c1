#include "tests/world/seen_cluster.h"

namespace weft::world {

std::string JobOf(const Json& object) {
  for (const Json& owner : At(object, {"metadata", "ownerReferences"})) {
    if (At(owner, {"controller"}) == Json(true)) {
      return TextAt(owner, {"kind"}) == "TrainingJob" ? TextAt(owner, {"uid"}) : "";
    }
  }
  return "";
}

std::int64_t AttemptOf(const Json& object) {
  const std::string text = LabelOf(object, "weft.dev/attempt");
  return text.empty() ? 0 : std::stoll(text);
}

std::optional<std::int64_t> WorkerOf(const Json& pod) {
  const std::string text = LabelOf(pod, "weft.dev/worker-index");
  if (text.empty()) return std::nullopt;
  return std::stoll(text);
}

std::string PinnedNode(const Json& pod) {
  const Json& terms =
      At(pod, {"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution",
               "nodeSelectorTerms"});
  for (const Json& term : terms) {
    for (const Json& field : At(term, {"matchFields"})) {
      const Json& values = At(field, {"values"});
      if (TextAt(field, {"key"}) == "metadata.name" && values.size() == 1) {
        return values.front().get<std::string>();
      }
    }
  }
  return "";
}

std::vector<std::string> NodesOf(const Json& placement) {
  std::vector<std::string> nodes;
  for (const Json& node : At(placement, {"status", "nodes"})) {
    nodes.push_back(node.is_string() ? node.get<std::string>() : "");
  }
  return nodes;
}

void SeenCluster::Apply(const Change& change, Instant now) {
  const bool gone = change.type == Change::Type::kDeleted;
  const Json& object = *change.object;
  const std::string uid = UidOf(object);
  if (change.resource == "pods") {
    ApplyPod(change, now);
  } else if (change.resource == "nodes") {
    ApplyNode(change);
  } else if (change.resource == "placements.weft.dev") {
    auto& of_job = placements_of_job[JobOf(object)];
    if (gone) {
      of_job.erase(AttemptOf(object));
      placements.erase(uid);
    } else {
      of_job[AttemptOf(object)] = placements[uid] = change.object;
    }
  } else if (change.resource == "trainingjobs.weft.dev") {
    if (gone) {
      jobs.erase(uid);
    } else {
      jobs[uid] = change.object;
    }
  } else if (change.resource == "services") {
    if (gone) {
      services.erase(change.key);
      gone_services[change.key] = {change.object, now};
    } else {
      services[change.key] = change.object;
    }
  } else if (change.resource == "leases.coordination.k8s.io" && change.before) {
    const std::string holder = TextAt(object, {"spec", "holderIdentity"});
    const std::string was = TextAt(*change.before, {"spec", "holderIdentity"});
    if (!holder.empty() && holder != was) led_anew = now;
  }
}

void SeenCluster::ApplyPod(const Change& change, Instant now) {
  const Json& pod = *change.object;
  const std::string uid = UidOf(pod), owner = JobOf(pod), node = TextAt(pod, {"spec", "nodeName"});
  const bool gone = change.type == Change::Type::kDeleted;
  // Garbage collection takes the owner away from a pod that it leaves.
  const std::string was = change.before ? JobOf(*change.before) : owner;
  if (was != owner) pods_of_job[was].erase(uid);
  if (change.before && !was.empty()) live[was][AttemptOf(*change.before)].erase(uid);
  if (!owner.empty() && !gone && !HasEnded(pod)) live[owner][AttemptOf(pod)][uid] = change.object;
  if (!owner.empty()) {
    if (gone) {
      pods_of_job[owner].erase(uid);
    } else {
      pods_of_job[owner][uid] = change.object;
    }
  }
  if (node.empty()) return;
  if (gone || HasEnded(pod)) {
    on_node[node].erase(uid);
    bound_at.erase(uid);
  } else {
    on_node[node][uid] = change.object;
    bound_at.emplace(uid, now);
  }
}

void SeenCluster::ApplyNode(const Change& change) {
  const Json& node = *change.object;
  const std::string& name = change.key.name;
  const std::int64_t gpus = NumberAt(node, {"status", "allocatable", "nvidia.com/gpu"});
  const bool gone = change.type == Change::Type::kDeleted;
  const auto known = allocatable_.find(name);
  const bool less = known != allocatable_.end() && gpus < known->second;
  if (gone || less || !IsTrue(node, "Ready")) unhealthy.insert(name);
  allocatable_[name] = gone ? 0 : gpus;
  if (gone) {
    nodes.erase(name);
  } else {
    nodes[name] = change.object;
  }
}

std::int64_t SeenCluster::AllocatableOf(const std::string& node) const {
  const auto found = allocatable_.find(node);
  return found == allocatable_.end() ? 0 : found->second;
}

std::vector<SeenCluster::Object> SeenCluster::LivePods(const std::string& job) const {
  std::vector<Object> all;
  const auto found = live.find(job);
  if (found == live.end()) return all;
  for (const auto& [attempt, pods] : found->second) {
    for (const auto& [uid, pod] : pods) all.push_back(pod);
  }
  return all;
}

}  // namespace weft::world
