#include "tests/world/kubelets.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "operator/base/timestamp.h"

namespace weft::world {
namespace {

constexpr std::chrono::seconds kGrace{40};  // node-monitor-grace-period
constexpr std::chrono::seconds kStartRetry{20};
constexpr kube::Resource kCoreEvents{"", "v1", "events", "Event"};
constexpr std::int64_t kDefaultTolerance = 300;
constexpr const char* kUnreachable = "node.kubernetes.io/unreachable";
constexpr const char* kNotReady = "node.kubernetes.io/not-ready";

std::int64_t Seconds(const Json& pod, const char* annotation, std::int64_t otherwise) {
  const std::string text = AnnotationOf(pod, annotation);
  return text.empty() ? otherwise : std::stoll(text);
}

// -1: for ever.
std::int64_t RunSeconds(const Json& pod) {
  const std::int64_t runs = Seconds(pod, "weft.test/run-seconds", -1);
  const std::string worker = LabelOf(pod, "weft.dev/worker-index");
  if (runs < 0 || worker.empty()) return runs;
  return runs + std::stoll(worker) * Seconds(pod, "weft.test/worker-seconds", 0);
}

// How long the pod tolerates it; nothing: for ever.
std::optional<std::int64_t> Tolerance(const Json& pod, const char* taint) {
  for (const Json& one : At(pod, {"spec", "tolerations"})) {
    const std::string key = TextAt(one, {"key"}), effect = TextAt(one, {"effect"});
    if (!effect.empty() && effect != "NoExecute") continue;
    if (key != taint && !(key.empty() && TextAt(one, {"operator"}) == "Exists")) continue;
    const Json& limit = At(one, {"tolerationSeconds"});
    if (limit.is_null()) return std::nullopt;
    return limit.get<std::int64_t>();
  }
  return kDefaultTolerance;  // the admission plug-in adds it
}

}  // namespace

Kubelets::Kubelets(Fibers& fibers, ApiServer& server, std::function<std::int64_t()> now_seconds,
                   std::uint64_t seed)
    : fibers_(fibers),
      kubelet_(server, "kubelet"),
      controller_(server, "kube-controller-manager"),
      now_seconds_(std::move(now_seconds)),
      chance_(seed) {}

std::string Kubelets::Time() const { return FormatTime(now_seconds_()); }

void Kubelets::OnChange(const Change& change) {
  if (change.resource != "pods") return;
  const Json& pod = *change.object;
  const std::string uid = UidOf(pod);
  if (change.type == Change::Type::kDeleted) {
    const auto run = runs_.find(change.key);
    if (run != runs_.end() && run->second.uid == uid) runs_.erase(run);
    return;
  }
  if (TextAt(pod, {"spec", "nodeName"}).empty()) return;
  Run& run = runs_[change.key];
  if (run.uid != uid) {
    run = {.uid = uid};
    fibers_.After(std::chrono::milliseconds(50 + chance_.Below(1'500)),
                  [this, key = change.key, uid] { Begin(key, uid); });
  }
  if (IsDeleting(pod) && !run.stopping) {
    run.stopping = true;
    Stop(change.key, pod);
  }
}

// The pod as it is now, if it is that one and its kubelet lives.
bool Kubelets::Here(const api::ObjectKey& key, const std::string& uid,
                    std::shared_ptr<const Json>& pod) {
  pod = kubelet_.Find(kube::kPods, key);
  if (!pod || UidOf(*pod) != uid) return false;
  const std::string node = TextAt(*pod, {"spec", "nodeName"});
  return !lost_.contains(node) && kubelet_.Find(kube::kNodes, {"", node}) != nullptr;
}

void Kubelets::Begin(const api::ObjectKey& key, const std::string& uid) {
  std::shared_ptr<const Json> pod;
  if (!Here(key, uid, pod) || IsDeleting(*pod) || HasEnded(*pod)) return;
  const std::string node = TextAt(*pod, {"spec", "nodeName"});
  const auto lasts = [&](const std::map<std::string, Instant>& all) {
    const auto until = all.find(node);
    return until != all.end() && until->second > fibers_.now();
  };
  if ((lasts(no_devices_) || lasts(refused_)) && GpusOf(*pod) > 0) {
    return Refuse(*pod, "UnexpectedAdmissionError",
                  "Allocate failed due to no healthy devices present; cannot allocate unhealthy "
                  "devices nvidia.com/gpu");
  }
  if (no_starts_until_ > fibers_.now()) {
    TellWait(*pod);
    return fibers_.After(kStartRetry, [this, key, uid] { Begin(key, uid); });
  }
  Started(key, uid);
}

// The words are those of a kubelet with containerd: they differ from try to try.
void Kubelets::TellWait(const Json& pod) {
  const std::uint64_t tries = ++runs_[KeyOf(pod)].tries;
  Json waiting = {{"reason", "ContainerCreating"}};
  if (lacks_ == Lacks::kSecret) {
    waiting = {{"reason", "CreateContainerConfigError"}, {"message", "secret \"none\" not found"}};
  } else if (lacks_ == Lacks::kImage && tries % 2 == 0) {
    waiting = {{"reason", "ImagePullBackOff"}, {"message", "Back-off pulling image \"i\""}};
  } else if (lacks_ == Lacks::kImage) {
    waiting = {{"reason", "ErrImagePull"},
               {"message", "failed to pull image \"i\": dial tcp: lookup i: read udp 10.0.0.1:" +
                               std::to_string(40'000 + chance_.Below(9'000)) +
                               "->10.96.0.10:53: i/o timeout"}};
  }
  Json containers = Json::array();
  for (const Json& container : At(pod, {"spec", "containers"})) {
    containers.push_back({{"name", container.at("name")},
                          {"image", "i"},
                          {"ready", false},
                          {"restartCount", 0},
                          {"state", {{"waiting", waiting}}}});
  }
  kubelet_.Patch(kube::kPods, KeyOf(pod),
                 {{"status", {{"phase", "Pending"}, {"containerStatuses", containers}}}}, "status");
  if (lacks_ == Lacks::kVolume) TellMount(pod, tries);
}

void Kubelets::TellMount(const Json& pod, std::uint64_t tries) {
  const api::ObjectKey key = KeyOf(pod), event{key.space, key.name + "." + UidOf(pod)};
  const Json told = {{"lastTimestamp", Time()}, {"count", tries}};
  if (kubelet_.Find(kCoreEvents, event)) return (void)kubelet_.Patch(kCoreEvents, event, told);
  Json object = {
      {"apiVersion", "v1"},
      {"kind", "Event"},
      {"metadata", {{"name", event.name}, {"namespace", event.space}}},
      {"involvedObject",
       {{"kind", "Pod"}, {"namespace", key.space}, {"name", key.name}, {"uid", UidOf(pod)}}},
      {"type", "Warning"},
      {"reason", "FailedMount"},
      {"message", "MountVolume.SetUp failed for volume \"config\" : configmap \"none\" not found"},
      {"firstTimestamp", Time()},
      {"source", {{"component", "kubelet"}}}};
  object.update(told);
  kubelet_.Create(kCoreEvents, object);
}

void Kubelets::Refuse(const Json& pod, const std::string& reason, const std::string& message) {
  kubelet_.Patch(kube::kPods, KeyOf(pod),
                 {{"status", {{"phase", "Failed"}, {"reason", reason}, {"message", message}}}},
                 "status");
}

void Kubelets::Started(const api::ObjectKey& key, const std::string& uid) {
  std::shared_ptr<const Json> pod;
  if (!Here(key, uid, pod) || IsDeleting(*pod) || HasEnded(*pod)) return;
  Json containers = Json::array();
  for (const Json& container : At(*pod, {"spec", "containers"})) {
    containers.push_back({{"name", container.at("name")},
                          {"ready", true},
                          {"started", true},
                          {"restartCount", 0},
                          {"state", {{"running", {{"startedAt", Time()}}}}}});
  }
  Json conditions = Json::array();
  for (const char* type :
       {"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"}) {
    conditions.push_back({{"type", type}, {"status", "True"}, {"lastTransitionTime", Time()}});
  }
  kubelet_.Patch(kube::kPods, key,
                 {{"status",
                   {{"phase", "Running"},
                    {"startTime", Time()},
                    {"podIP", "10.0.0.1"},
                    {"conditions", conditions},
                    {"containerStatuses", containers}}}},
                 "status");
  const auto run = runs_.find(key);
  if (run != runs_.end()) run->second.started = true;
  const std::int64_t runs = RunSeconds(*pod);
  if (runs < 0) return;
  const int code = static_cast<int>(Seconds(*pod, "weft.test/exit-code", 0));
  fibers_.After(std::chrono::seconds(runs) + std::chrono::milliseconds(chance_.Below(1'000)),
                [this, key, uid, code] { Ended(key, uid, code); });
}

void Kubelets::Ended(const api::ObjectKey& key, const std::string& uid, int code,
                     const std::string& reason) {
  std::shared_ptr<const Json> pod;
  if (!Here(key, uid, pod) || HasEnded(*pod)) return;
  Json containers = Json::array();
  for (const Json& container : At(*pod, {"spec", "containers"})) {
    containers.push_back({{"name", container.at("name")},
                          {"ready", false},
                          {"started", false},
                          {"restartCount", 0},
                          {"state",
                           {{"terminated",
                             {{"exitCode", code},
                              {"reason", code == 0        ? "Completed"
                                         : reason.empty() ? "Error"
                                                          : reason},
                              {"finishedAt", Time()}}}}}});
  }
  Json conditions = Json::array();
  for (const char* type : {"Ready", "ContainersReady"}) {
    conditions.push_back({{"type", type}, {"status", "False"}, {"lastTransitionTime", Time()}});
  }
  kubelet_.Patch(kube::kPods, key,
                 {{"status",
                   {{"phase", code == 0 ? "Succeeded" : "Failed"},
                    {"conditions", conditions},
                    {"containerStatuses", containers}}}},
                 "status");
}

void Kubelets::Stop(const api::ObjectKey& key, const Json& pod) {
  const std::int64_t grace =
      std::max<std::int64_t>(0, NumberAt(pod, {"metadata", "deletionGracePeriodSeconds"}));
  const std::int64_t takes = std::min(grace, Seconds(pod, "weft.test/stop-seconds", 0));
  const auto run = runs_.find(key);
  const bool running = run != runs_.end() && run->second.started && !HasEnded(pod);
  const auto wait = std::chrono::milliseconds((running ? takes * 1'000 : 0) + 50 +
                                              static_cast<std::int64_t>(chance_.Below(500)));
  fibers_.After(wait, [this, key, uid = UidOf(pod)] { Remove(key, uid); });
}

void Kubelets::Remove(const api::ObjectKey& key, const std::string& uid) {
  std::shared_ptr<const Json> pod;
  if (!Here(key, uid, pod)) return;
  const auto run = runs_.find(key);
  const bool started = run != runs_.end() && run->second.started;
  if (started && !HasEnded(*pod)) {
    Ended(key, uid, static_cast<int>(Seconds(*pod, "weft.test/stop-code", 143)));
  }
  // One that never started ends as well (KEP-3329): a Job's pod stays, for its finalizer, and is
  // made anew only when it has ended. Any other is gone with the next call.
  const bool stays = !At(*pod, {"metadata", "finalizers"}).empty();
  if (!started && stays && !HasEnded(*pod)) Ended(key, uid, 137, "ContainerStatusUnknown");
  kubelet_.Delete(kube::kPods, key,
                  {.only = {.uid = uid, .resource_version = ""}, .grace_seconds = 0});
}

void Kubelets::Crash(const api::ObjectKey& pod, int code) {
  const auto run = runs_.find(pod);
  if (run == runs_.end() || !run->second.started) return;
  Ended(pod, run->second.uid, code, code == 137 ? "OOMKilled" : "");
}

void Kubelets::SetCondition(const std::string& node, const std::string& status) {
  controller_.Patch(kube::kNodes, {"", node},
                    {{"status",
                      {{"conditions",
                        {{{"type", "Ready"},
                          {"status", status},
                          {"reason", status == "True" ? "KubeletReady" : "NodeStatusUnknown"},
                          {"lastTransitionTime", Time()}}}}}}},
                    "status");
}

void Kubelets::Taint(const std::string& node, bool tainted) {
  const auto known = controller_.Find(kube::kNodes, {"", node});
  if (!known) return;
  Json taints = Json::array();
  for (const Json& one : At(*known, {"spec", "taints"})) {
    const std::string key = TextAt(one, {"key"});
    if (key != kUnreachable && key != kNotReady) taints.push_back(one);
  }
  if (tainted) {
    for (const char* effect : {"NoSchedule", "NoExecute"}) {
      taints.push_back({{"key", kUnreachable}, {"effect", effect}, {"timeAdded", Time()}});
    }
  }
  controller_.Patch(kube::kNodes, {"", node},
                    {{"spec", {{"taints", taints.empty() ? Json() : taints}}}});
}

void Kubelets::Lose(const std::string& node) {
  if (!kubelet_.Find(kube::kNodes, {"", node}) || !lost_.insert(node).second) return;
  const std::uint64_t absence = ++absences_[node];
  fibers_.After(kGrace, [this, node, absence] {
    if (!lost_.contains(node) || absences_[node] != absence) return;
    SetCondition(node, "Unknown");
    Taint(node, true);
    EvictSoon(node);
  });
}

// Taint-based eviction of the pods that are on the node now.
void Kubelets::EvictSoon(const std::string& node) {
  for (const auto& [key, pod] : controller_.server().All("pods")) {
    if (TextAt(*pod, {"spec", "nodeName"}) != node) continue;
    const auto tolerance = Tolerance(*pod, kUnreachable);
    if (!tolerance) continue;
    fibers_.After(std::chrono::seconds(*tolerance), [this, node, key = key, uid = UidOf(*pod)] {
      const auto there = controller_.Find(kube::kPods, key);
      if (!lost_.contains(node) || !there || UidOf(*there) != uid || IsDeleting(*there)) return;
      controller_.Delete(kube::kPods, key, {.only = {.uid = uid, .resource_version = ""}});
    });
  }
}

void Kubelets::Return(const std::string& node, bool rebooted) {
  if (lost_.erase(node) == 0 || !kubelet_.Find(kube::kNodes, {"", node})) return;
  SetCondition(node, "True");
  Taint(node, false);
  const auto pods = kubelet_.server().All("pods");
  for (const auto& [key, pod] : pods) {
    if (TextAt(*pod, {"spec", "nodeName"}) != node) continue;
    const std::string uid = UidOf(*pod);
    const auto run = runs_.find(key);
    const bool started = run != runs_.end() && run->second.started;
    if (IsDeleting(*pod)) {
      fibers_.After(std::chrono::seconds(1), [this, key = key, uid] { Remove(key, uid); });
    } else if (!started) {
      fibers_.After(std::chrono::seconds(1), [this, key = key, uid] { Begin(key, uid); });
    } else if (rebooted) {
      Ended(key, uid, 255, "Unknown");
    } else if (const std::int64_t runs = RunSeconds(*pod); runs >= 0) {
      // What has ended meanwhile is told now.
      const int code = static_cast<int>(Seconds(*pod, "weft.test/exit-code", 0));
      fibers_.After(std::chrono::seconds(runs),
                    [this, key = key, uid, code] { Ended(key, uid, code); });
    }
  }
}

void Kubelets::SetReady(const std::string& node, bool ready) {
  if (lost_.contains(node)) return;
  SetCondition(node, ready ? "True" : "False");
}

void Kubelets::RestartPlugin(const std::string& node, Instant::duration time) {
  const auto known = kubelet_.Find(kube::kNodes, {"", node});
  if (!known || lost_.contains(node)) return;
  const Json before = At(*known, {"status", "capacity", kGpu});
  no_devices_[node] = fibers_.now() + time;
  kubelet_.Patch(kube::kNodes, {"", node}, {{"status", {{"allocatable", {{kGpu, "0"}}}}}},
                 "status");
  fibers_.After(time, [this, node, before] {
    if (no_devices_[node] > fibers_.now()) return;
    kubelet_.Patch(kube::kNodes, {"", node}, {{"status", {{"allocatable", {{kGpu, before}}}}}},
                   "status");
  });
}

}  // namespace weft::world
