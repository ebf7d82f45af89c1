#include "tests/world/kueue_cluster.h"

#include <algorithm>

#include "tests/world/by_number.h"

namespace weft::world {
namespace {

constexpr const char* kKueueApi = "kueue.x-k8s.io/v1beta2";
constexpr const char* kPlace = "weft.dev/place";

}  // namespace

KueueCluster::KueueCluster(Fibers& fibers, ApiServer& server, Laws& laws, Options options)
    : fibers_(fibers),
      admin_(server, "admin"),
      user_(server, "researcher"),
      options_(std::move(options)),
      chance_(options_.seed),
      kueue_(fibers, server, {.now_seconds = options_.now_seconds, .seed = chance_.Next()}),
      jobs_(fibers, server, kueue_, options_.now_seconds, chance_.Next()),
      laws_(fibers, laws) {
  ChooseFaults();
}

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

void KueueCluster::DressJob(Json& job, std::size_t number) {
  chance_ = SplitMix64(ByNumber(options_.seed + 2, number));
  if (Below(2) == 0) return;
  Json& labels = job["metadata"]["labels"];
  labels[kQueueName] = "queue";
  if (Below(3) == 0) labels["kueue.x-k8s.io/priority-class"] = Below(2) == 0 ? "low" : "high";
  // Its pods are placed for its Workload.
  job["spec"]["template"]["metadata"]["labels"].erase(kPlace);
}

std::set<std::string> KueueCluster::OldAssignments() const {
  ApiServer& server = const_cast<Actor&>(admin_).server();
  std::set<std::string> labels, old;
  for (const auto& [name, flavor] : server.All("resourceflavors.kueue.x-k8s.io")) {
    for (const auto& [key, value] : At(*flavor, {"spec", "nodeLabels"}).items()) labels.insert(key);
  }
  for (const auto& [key, job] : server.All("trainingjobs.weft.dev")) {
    const bool refused = TextAt(ConditionOf(*job, "Accepted"), {"status"}) == "False";
    // What Kueue assigned is taken with the next write, and says why there is none.
    const bool unwritten = TextAt(ConditionOf(*job, "Placed"), {"reason"}) == "NotWritten";
    if (IsTrue(*job, "Placed") || IsTrue(*job, "Restarting") || refused || unwritten) continue;
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
  for (const auto& [key, workload] : server.All("workloads.kueue.x-k8s.io")) {
    if (IsTrue(*workload, "QuotaReserved") && !IsTrue(*workload, "Finished")) {
      laws.Break("K1", "Workload " + api::Show(key) + " holds quota at rest");
    }
  }
}

}  // namespace weft::world
