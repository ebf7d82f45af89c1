#include "tests/world/kueue_cluster.h"

#include <algorithm>

#include "tests/world/by_number.h"

namespace weft::world {
namespace {

constexpr const char* kKueueApi = "kueue.x-k8s.io/v1beta2";

bool IsOverNow(const Json& job) { return IsTrue(job, "Complete") || IsTrue(job, "Failed"); }

}  // namespace

KueueCluster::KueueCluster(Fibers& fibers, ApiServer& server, Laws& laws, Options options)
    : fibers_(fibers),
      admin_(server, "admin"),
      user_(server, "researcher"),
      options_(std::move(options)),
      chance_(options_.seed),
      kueue_(fibers, server, {.now_seconds = options_.now_seconds, .seed = chance_.Next()}),
      jobs_(fibers, server, kueue_, options_.now_seconds, chance_.Next()),
      job_controller_(fibers, server, options_.now_seconds, chance_.Next()),
      laws_(fibers, laws) {}

Json KueueCluster::QueueOf(const std::string& space, std::int64_t gpus) const {
  const Json quota = {
      {"name", "gpu"},
      {"resources", {{{"name", "nvidia.com/gpu"}, {"nominalQuota", std::to_string(gpus)}}}}};
  const Json groups = {{{"coveredResources", {"nvidia.com/gpu"}}, {"flavors", {quota}}}};
  Json spec = {{"namespaceSelector", Json::object()},
               {"preemption", {{"withinClusterQueue", "LowerPriority"}}},
               {"resourceGroups", groups}};
  // One queue has no check of Weft.
  if (space != options_.spaces.back()) {
    spec["admissionChecksStrategy"] = {{"admissionChecks", {{{"name", "placement"}}}}};
  }
  return {{"apiVersion", kKueueApi},
          {"kind", "ClusterQueue"},
          {"metadata", {{"name", space}}},
          {"spec", std::move(spec)}};
}

void KueueCluster::MakeQueues() {
  admin_.Create(
      kube::kResourceFlavors,
      {{"apiVersion", kKueueApi},
       {"kind", "ResourceFlavor"},
       {"metadata", {{"name", "gpu"}}},
       {"spec", {{"nodeLabels", {{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"}}}}}});
  admin_.Create(kube::kAdmissionChecks, {{"apiVersion", kKueueApi},
                                         {"kind", "AdmissionCheck"},
                                         {"metadata", {{"name", "placement"}}},
                                         {"spec", {{"controllerName", "weft.dev/placement"}}}});
  for (const auto& [name, value] : std::map<std::string, int>{{"low", 10}, {"high", 100}}) {
    admin_.Create(kube::kWorkloadPriorityClasses, {{"apiVersion", kKueueApi},
                                                   {"kind", "WorkloadPriorityClass"},
                                                   {"metadata", {{"name", name}}},
                                                   {"value", value}});
  }
  for (const std::string& space : options_.spaces) {
    admin_.Create(kClusterQueues, QueueOf(space, options_.nodes * 4));
    MakeLocalQueue(space);
  }
}

void KueueCluster::MakeLocalQueue(const std::string& space) {
  admin_.Create(kLocalQueues, {{"apiVersion", kKueueApi},
                               {"kind", "LocalQueue"},
                               {"metadata", {{"name", "queue"}, {"namespace", space}}},
                               {"spec", {{"clusterQueue", space}}}});
}

void KueueCluster::OnChange(const Change& change) {
  // A namespace that is made again gets its queue again.
  const auto& spaces = options_.spaces;
  if (change.resource == "namespaces" && change.type == Change::Type::kAdded &&
      std::find(spaces.begin(), spaces.end(), change.key.name) != spaces.end()) {
    fibers_.After(Some(1, 30), [this, space = change.key.name] { MakeLocalQueue(space); });
  }
  kueue_.OnChange(change);
  jobs_.OnChange(change);
  job_controller_.OnChange(change);
  laws_.OnChange(change);
}

std::optional<kube::Response> KueueCluster::Admit(const ApiServer::Attempt& attempt) const {
  return kueue_.Admit(attempt);
}

void KueueCluster::Dress(Json& training_job, std::size_t number) {
  chance_ = SplitMix64(ByNumber(options_.seed + 1, number));
  if (Below(2) == 0) return;
  Json& labels = training_job["metadata"]["labels"];
  labels[kQueueName] = "queue";
  if (Below(3) == 0) labels["kueue.x-k8s.io/priority-class"] = Below(2) == 0 ? "low" : "high";
}

void KueueCluster::SubmitJob(std::size_t number) {
  chance_ = SplitMix64(ByNumber(options_.seed + 2, number));
  const std::string space = options_.spaces[Below(options_.spaces.size())];
  const std::string name = "batch-" + std::to_string(number);
  const std::uint64_t pods = 1 + Below(Below(2) == 0 ? 3 : 8);
  const bool queued = Below(2) == 0;
  Json labels = Json::object(), pod_labels = Json::object();
  if (queued) {
    labels[kQueueName] = "queue";
    if (Below(3) == 0) labels["kueue.x-k8s.io/priority-class"] = Below(2) == 0 ? "low" : "high";
  } else {
    pod_labels["weft.dev/place"] = "true";
  }
  const Json ignore = {{"action", "Ignore"}, {"onPodConditions", {{{"type", "DisruptionTarget"}}}}};
  const Json container = {{"name", "trainer"},
                          {"image", "registry.example/train:1"},
                          {"resources", {{"limits", {{"nvidia.com/gpu", "8"}}}}}};
  const Json pod = {{"metadata",
                     {{"labels", pod_labels},
                      {"annotations",
                       {{"weft.test/run-seconds", std::to_string(10 + Below(1'200))},
                        {"weft.test/stop-seconds", std::to_string(Below(20))}}}}},
                    {"spec", {{"restartPolicy", "Never"}, {"containers", {container}}}}};
  user_.Create(kJobs, {{"apiVersion", "batch/v1"},
                       {"kind", "Job"},
                       {"metadata", {{"name", name}, {"namespace", space}, {"labels", labels}}},
                       {"spec",
                        {{"completionMode", "Indexed"},
                         {"completions", pods},
                         {"parallelism", pods},
                         {"backoffLimit", 50},
                         {"podFailurePolicy", {{"rules", {ignore}}}},
                         {"template", pod}}}});
}

bool KueueCluster::AllEnded() const {
  const auto& all = const_cast<Actor&>(admin_).server().All("jobs.batch");
  return std::all_of(all.begin(), all.end(),
                     [](const auto& one) { return IsOverNow(*one.second); });
}

std::set<std::string> KueueCluster::OldAssignments() const {
  ApiServer& server = const_cast<Actor&>(admin_).server();
  std::set<std::string> labels, old;
  for (const auto& [name, flavor] : server.All("resourceflavors.kueue.x-k8s.io")) {
    for (const auto& [key, value] : At(*flavor, {"spec", "nodeLabels"}).items()) labels.insert(key);
  }
  for (const auto& [key, job] : server.All("trainingjobs.weft.dev")) {
    const bool refused = TextAt(ConditionOf(*job, "Accepted"), {"status"}) == "False";
    if (IsTrue(*job, "Placed") || IsTrue(*job, "Restarting") || refused) continue;
    for (const auto& [label, value] : At(*job, {"status", "queue", "nodeSelector"}).items()) {
      if (!labels.contains(label)) {
        old.insert(api::Show(key) + " waits for nodes with " + label + ", which no flavor has");
      }
    }
  }
  return old;
}

void KueueCluster::LookAtEvening(Laws& laws) const {
  ApiServer& server = const_cast<Actor&>(admin_).server();
  for (const auto& [key, job] : server.All("jobs.batch")) {
    if (!IsOverNow(*job)) {
      laws.Break("I6", "Job " + api::Show(key) + " has not ended: " + At(*job, {"status"}).dump());
    }
  }
  for (const auto& [key, workload] : server.All("workloads.kueue.x-k8s.io")) {
    if (IsTrue(*workload, "QuotaReserved") && !IsTrue(*workload, "Finished")) {
      laws.Break("K1", "Workload " + api::Show(key) + " holds quota at rest");
    }
  }
}

}  // namespace weft::world
