#include "operator/launch/pod_group.h"

#include <nlohmann/json.hpp>

#include "operator/api/pod_group.h"
#include "operator/base/seeded_bug.h"
#include "operator/base/short_hash.h"
#include "operator/launch/metadata.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

constexpr const char* kStockScheduler = "default-scheduler";
constexpr std::size_t kUidCharacters = 4;

const Json& PodSpecOf(const api::TrainingJob& job) {
  return job.raw->at("spec").at("workers").at("template").at("spec");
}

}  // namespace

bool MayJoinPodGroup(const api::TrainingJob& job) {
  const Json& spec = PodSpecOf(job);
  // The pods of a group are tried in an order that no affinity among them decides.
  const Json::json_pointer affinity(
      "/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution");
  if (spec.contains(affinity) && !spec.at(affinity).empty()) return false;
  const std::string scheduler = spec.value("schedulerName", "");
  return job.replicas > 1 && job.replicas <= kPodGroupWorkersAtMost &&
         (scheduler.empty() || scheduler == kStockScheduler) && !spec.contains("schedulingGroup");
}

std::string PodGroupName(const Gang& gang) {
  return FilesName(gang) + "-" + ShortHash(gang.placement_uid).substr(0, kUidCharacters);
}

Json MakePodGroup(const Gang& gang) {
  const Json& pod = PodSpecOf(*gang.job);
  const std::size_t workers = Seeded(Bug::kPodGroupSmall) ? 1 : gang.nodes.size();
  Json spec = {{"schedulingPolicy", {{"gang", {{"minCount", workers}}}}},
               {"disruptionMode", {{"all", Json::object()}}}};
  if (pod.contains("priority")) spec["priority"] = pod["priority"];
  if (const std::string name = gang.job->priority_class_name; !name.empty()) {
    spec["priorityClassName"] = name;
  }
  return {{"apiVersion", std::string(api::kSchedulingGroup) + "/v1beta1"},
          {"kind", "PodGroup"},
          {"metadata",
           {{"name", PodGroupName(gang)},
            {"namespace", gang.job->meta.key.space},
            {"labels", JobLabels(*gang.job)},
            {"ownerReferences", OwnedByPlacement(gang)}}},
          {"spec", std::move(spec)}};
}

void JoinPodGroup(const Gang& gang, Json& spec) {
  if (gang.pod_group.empty()) return;
  spec["schedulingGroup"] = {{"podGroupName", gang.pod_group}};
}

}  // namespace weft::launch
