#include "operator/launch/objects.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "operator/decide/next_step.h"
#include "operator/decide/placement_pods.h"
#include "operator/launch/environment.h"
#include "operator/launch/pin.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

std::string Padded(const api::TrainingJob& job, std::uint32_t worker) {
  const std::size_t width = std::to_string(job.replicas - 1).size();
  std::string digits = std::to_string(worker);
  return std::string(width - digits.size(), '0') + digits;
}

Json JobLabels(const api::TrainingJob& job) {
  return {{api::kJobNameLabel, job.meta.key.name}, {decide::kJobUidLabel, job.meta.uid}};
}

Json Metadata(const api::TrainingJob& job, const Worker& worker, const Json& pod_template) {
  Json metadata = {{"name", PodName(job, worker)},
                   {"namespace", job.meta.key.space},
                   {"ownerReferences", OwnedBy(job)}};
  Json labels = Json::object(), annotations = Json::object();
  if (const auto own = pod_template.find("metadata"); own != pod_template.end()) {
    labels = own->value("labels", Json::object());
    annotations = own->value("annotations", Json::object());
  }
  labels.update(JobLabels(job));
  labels[decide::kAttemptLabel] = std::to_string(worker.attempt);
  labels[decide::kWorkerIndexLabel] = std::to_string(worker.index);
  // Autoscalers leave a gang alone.
  annotations["karpenter.sh/do-not-disrupt"] = "true";
  annotations["cluster-autoscaler.kubernetes.io/safe-to-evict"] = "false";
  metadata["labels"] = std::move(labels);
  metadata["annotations"] = std::move(annotations);
  return metadata;
}

}  // namespace

std::string PodName(const api::TrainingJob& job, const Worker& worker) {
  return job.meta.key.name + "-" + std::to_string(worker.attempt) + "-" + Padded(job, worker.index);
}

std::string HostName(const api::TrainingJob& job, std::uint32_t worker) {
  return job.meta.key.name + "-" + Padded(job, worker);
}

Json OwnedBy(const api::TrainingJob& job) {
  return Json::array({{{"apiVersion", std::string(api::kGroup) + "/" + api::kVersion},
                       {"kind", "TrainingJob"},
                       {"name", job.meta.key.name},
                       {"uid", job.meta.uid},
                       {"controller", true},
                       {"blockOwnerDeletion", true}}});
}

Json MakePod(const api::TrainingJob& job, const Worker& worker) {
  const Json& pod_template = job.raw->at("spec").at("workers").at("template");
  Json spec = pod_template.at("spec");
  spec["restartPolicy"] = "Never";
  spec["hostname"] = HostName(job, worker.index);
  spec["subdomain"] = job.meta.key.name;
  PinTo(worker.node, spec);
  AddEnvironment(WorkerEnvironment(job, worker), spec);
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", Metadata(job, worker, pod_template)},
          {"spec", std::move(spec)}};
}

Json MakeService(const api::TrainingJob& job) {
  return {{"apiVersion", "v1"},
          {"kind", "Service"},
          {"metadata",
           {{"name", job.meta.key.name},
            {"namespace", job.meta.key.space},
            {"labels", JobLabels(job)},
            {"ownerReferences", OwnedBy(job)}}},
          {"spec",
           {{"clusterIP", "None"},
            {"publishNotReadyAddresses", true},
            {"selector", {{decide::kJobUidLabel, job.meta.uid}}}}}};
}

}  // namespace weft::launch
