#include "operator/launch/workload.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "operator/api/kueue.h"
#include "operator/cluster/placement_pods.h"
#include "operator/launch/device_claims.h"
#include "operator/launch/metadata.h"
#include "operator/launch/pin.h"
#include "operator/life/kueue_quota.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

// The label of Kueue for the owner's uid.
constexpr const char* kOwnerUidLabel = "kueue.x-k8s.io/job-uid";

Json TemplateOf(const api::TrainingJob& job, const Json& tried, const std::string& node) {
  Json metadata = Json::object();
  const Json& own = tried.at("metadata");
  for (const char* member : {"labels", "annotations"}) {
    if (own.contains(member)) metadata[member] = own[member];
  }
  if (metadata.contains("labels")) {
    metadata["labels"].erase(cluster::kAttemptLabel);
    metadata["labels"].erase(cluster::kWorkerIndexLabel);
  }
  Json spec = tried.at("spec");
  for (const char* of_one : {"hostname", "subdomain", "nodeName"}) spec.erase(of_one);
  Unpin(node, spec);
  CountDeviceClaim(job, spec);
  return {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

void PutPriority(const Json& pod_spec, const QueuePriority& priority, Json& spec) {
  const std::string pod_class = pod_spec.value("priorityClassName", "");
  if (!priority.name.empty()) {
    spec["priority"] = priority.value;
    spec["priorityClassRef"] = {
        {"group", api::kKueueGroup}, {"kind", "WorkloadPriorityClass"}, {"name", priority.name}};
    return;
  }
  spec["priority"] = pod_spec.value("priority", 0);
  if (pod_class.empty()) return;
  spec["priorityClassRef"] = {
      {"group", "scheduling.k8s.io"}, {"kind", "PriorityClass"}, {"name", pod_class}};
}

// Ignored unless it is a number: the Workload's schema refuses anything else.
void PutMostSeconds(const api::TrainingJob& job, Json& spec) {
  const std::string_view text = job.meta.labels.At(api::kMostSecondsLabel).value_or("");
  std::int64_t seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (seconds > 0) spec["maximumExecutionTimeSeconds"] = seconds;
}

}  // namespace

Json MakeWorkload(const api::TrainingJob& job, const Json& tried, const std::string& node,
                  const QueuePriority& priority) {
  Json spec = {{"queueName", std::string(job.meta.labels.At(api::kQueueNameLabel).value_or(""))},
               {"active", true},
               {"podSets", Json::array({{{"name", api::kWorkersPodSet},
                                         {"count", job.replicas},
                                         {"template", TemplateOf(job, tried, node)}}})}};
  PutPriority(tried.at("spec"), priority, spec);
  PutMostSeconds(job, spec);
  return {{"apiVersion", std::string(api::kKueueGroup) + "/" + api::kKueueVersion},
          {"kind", "Workload"},
          {"metadata",
           {{"name", life::WorkloadName(job.meta)},
            {"namespace", job.meta.key.space},
            {"labels", {{kOwnerUidLabel, job.meta.uid}}},
            {"finalizers", Json::array({api::kWorkloadFinalizer})},
            {"ownerReferences", OwnedBy(job)}}},
          {"spec", std::move(spec)}};
}

}  // namespace weft::launch
