#include "operator/launch/objects.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/kueue.h"
#include "operator/base/seeded_bug.h"
#include "operator/cluster/placement_pods.h"
#include "operator/framework/host_name.h"
#include "operator/framework/traits.h"
#include "operator/framework/worker_container.h"
#include "operator/launch/compute_domain.h"
#include "operator/launch/device_claims.h"
#include "operator/launch/environment.h"
#include "operator/launch/framework.h"
#include "operator/launch/host_file.h"
#include "operator/launch/metadata.h"
#include "operator/launch/pin.h"
#include "operator/launch/pod_group.h"
#include "operator/launch/verify_container.h"
#include "operator/launch/volumes.h"
#include "operator/life/job_view.h"
#include "operator/life/kueue_check.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

// Annotation of a pod: the Workload whose quota it uses.
constexpr const char* kWorkloadAnnotation = "kueue.x-k8s.io/workload";

Json Metadata(const Gang& gang, WorkerIndex worker, const Json& pod_template) {
  const api::TrainingJob& job = *gang.job;
  Json metadata = {{"name", PodName(job, gang.attempt, worker)},
                   {"namespace", job.meta.key.space},
                   {"ownerReferences", OwnedBy(job)}};
  Json labels = Json::object(), annotations = Json::object();
  if (const auto own = pod_template.find("metadata"); own != pod_template.end()) {
    labels = own->value("labels", Json::object());
    annotations = own->value("annotations", Json::object());
  }
  labels.update(JobLabels(job));
  labels[cluster::kAttemptLabel] = std::to_string(gang.attempt);
  labels[cluster::kWorkerIndexLabel] = std::to_string(worker.Raw());
  // Autoscalers must not evict pods of a gang.
  annotations["karpenter.sh/do-not-disrupt"] = "true";
  annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = "false";
  metadata["labels"] = std::move(labels);
  metadata["annotations"] = std::move(annotations);
  return metadata;
}

// What the assigned flavors and AdmissionChecks of Kueue add (life/kueue_quota_assignment.h).
void AddOfQueue(const api::Raw& queue, Json& pod) {
  if (!queue) return;
  const auto member = [&](const char* key) { return queue->value(key, Json::object()); };
  Json& metadata = pod["metadata"];
  metadata["labels"].update(member("labels"));
  metadata["labels"][life::kPodSetLabel] = api::kWorkersPodSet;
  metadata["annotations"].update(member("annotations"));
  metadata["annotations"][kWorkloadAnnotation] = queue->value("workload", "");
  Json& spec = pod["spec"];
  if (const Json selector = member("nodeSelector"); !selector.empty()) {
    if (!spec["nodeSelector"].is_object()) spec["nodeSelector"] = Json::object();
    spec["nodeSelector"].update(selector);
  }
  if (!queue->contains("tolerations")) return;
  Json& tolerations = spec["tolerations"];
  if (!tolerations.is_array()) tolerations = Json::array();
  for (const Json& one : queue->at("tolerations")) {
    if (std::find(tolerations.begin(), tolerations.end(), one) == tolerations.end()) {
      tolerations.push_back(one);
    }
  }
}

}  // namespace

std::string PodName(const api::TrainingJob& job, std::int64_t attempt, WorkerIndex worker) {
  return job.meta.key.name + "-" + std::to_string(attempt) + "-" +
         framework::PaddedWorker(job, worker);
}

Json MakePod(const Gang& gang, WorkerIndex worker) {
  const api::TrainingJob& job = *gang.job;
  const Json& pod_template = job.raw->at("spec").at("workers").at("template");
  Json spec = pod_template.at("spec");
  spec["restartPolicy"] = "Never";
  spec["hostname"] = framework::HostName(job, worker);
  spec["subdomain"] = job.meta.key.name;
  PinTo(gang.nodes[Seeded(Bug::kPinnedElsewhere) ? WorkerIndex{0} : worker], spec);
  if (Seeded(Bug::kTemplateChanged)) spec["hostNetwork"] = true;
  AddVerification(gang.verify_image, spec);
  AddVolumes(gang, spec);
  AddDeviceClaim(gang, spec);
  AddComputeDomainClaim(gang, spec);
  JoinPodGroup(gang, spec);
  AddFillContainer(gang, worker, spec);
  Environment environment = WorkerEnvironment(gang, worker);
  const Environment ranks = FrameworkEnvironment(gang, worker);
  environment.insert(environment.end(), ranks.begin(), ranks.end());
  Environment defaults = gang.fabric;
  const Environment more = FrameworkDefaults(gang);
  defaults.insert(defaults.end(), more.begin(), more.end());
  const auto serve = framework::TraitsOf(job.framework).serve;
  if (serve != nullptr && worker != WorkerIndex{0}) serve(job, spec);
  AddEnvironment(environment, defaults, spec);
  if (Json* container = framework::WorkerContainer(job, spec)) {
    AddOptions(FrameworkOptions(gang, worker), *container);
  }
  Json pod = {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", Metadata(gang, worker, pod_template)},
              {"spec", std::move(spec)}};
  AddOfQueue(gang.queue, pod);
  return pod;
}

Json MakeService(const api::TrainingJob& job, std::int64_t attempt) {
  Json selector = {{cluster::kJobUidLabel, job.meta.uid},
                   {cluster::kAttemptLabel, std::to_string(attempt)}};
  Json labels = JobLabels(job);
  labels.update(selector);
  Json metadata = {{"name", job.meta.key.name},
                   {"namespace", job.meta.key.space},
                   {"labels", std::move(labels)}};
  if (Seeded(Bug::kFilesGoEarly)) metadata["ownerReferences"] = OwnedBy(job);
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata", std::move(metadata)},
          {"spec",
           {{"clusterIP", "None"},
            {"publishNotReadyAddresses", true},
            {"selector", std::move(selector)}}}};
}

}  // namespace weft::launch
