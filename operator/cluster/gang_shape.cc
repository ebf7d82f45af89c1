#include "operator/cluster/gang_shape.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/gang_annotations.h"
#include "operator/api/json_reader.h"
#include "operator/api/names.h"
#include "operator/api/pod_requirements.h"
#include "operator/cluster/gang_spec.h"
#include "operator/cluster/pod_labels.h"

namespace weft::cluster {
namespace {

using api::Field;

std::vector<api::IndexLabel> JobSetIndex(std::int64_t pods_per_job) {
  return {{.key = kJobSetIndex, .stride = pods_per_job}, {.key = kCompletionIndex}};
}

// The workers of a Job (template): they run at once, so there are as many as completions.
std::int64_t WorkersOf(const Field& job_spec) {
  const std::int64_t parallelism = job_spec["parallelism"].Int(api::kReplicas, 1);
  const Field completions = job_spec["completions"];
  const std::int64_t wanted = completions.Int({.min = 0}, parallelism);
  if (wanted > parallelism) {
    completions.Fail("must not exceed parallelism, " + std::to_string(parallelism) +
                     ": the workers of a gang run at once");
  }
  return std::min(wanted, parallelism);
}

GangShape OfJob(const Field& root) {
  GangShape shape{WorkersOf(root["spec"]), {}};
  if (root["spec"]["completionMode"].Str() == "Indexed") {
    shape.index_labels = {{.key = kCompletionIndex}};
  }
  return shape;
}

GangShape OfRayCluster(const Field& root, std::string_view part) {
  if (part == "headgroup") return {1, {}};
  const Field groups = root["spec"]["workerGroupSpecs"];
  for (const Field& group : groups.Items()) {
    if (group["groupName"].Str() != part) continue;
    const std::int64_t hosts = group["numOfHosts"].Int(api::kReplicas, 1);
    return {hosts * group["replicas"].Int(api::kReplicas, 1), {}};
  }
  groups.Fail("has no group \"" + std::string(part) + "\"");
  return {};
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

// A replica type of a Kubeflow job.
struct Replicas {
  std::string type;
  std::int64_t count = 0;

  // Rank 0 is the chief's, the master's or the launcher's; workers come next.
  std::pair<int, std::string_view> order() const {
    const bool first = type == "chief" || type == "master" || type == "launcher";
    return {first ? 0 : type == "worker" ? 1 : 2, type};
  }
};

// Whether the pods of the template are workers: they ask to be placed, and use an accelerator,
// perhaps by a claim.
bool IsPlaced(const Field& pod_template, std::span<const std::string> more) {
  const Field spec = pod_template["spec"];
  return pod_template["metadata"]["labels"][api::kPlaceLabel].Str() == "true" &&
         (spec["resourceClaims"].present() ||
          AcceleratorOf(api::DecodePodSpec(spec).requests, more).has_value());
}

// Of a JobSet.
struct ReplicatedJob {
  std::string name;
  std::int64_t replicas = 1, each = 1;  // Jobs, and the pods of one of them
  bool placed = false;
};

ReplicatedJob ReplicatedJobOf(const Field& job, std::span<const std::string> more) {
  const Field spec = job["template"]["spec"];
  return {job["name"].Str(), job["replicas"].Int(api::kReplicas, 1), WorkersOf(spec),
          IsPlaced(spec["template"], more)};
}

// The controller creates the pods of `job` when those of the other are Ready or have ended.
void CheckDependsOn(const Field& job, std::string_view other) {
  for (const Field& before : job["dependsOn"].Items()) {
    if (before["name"].Str() != other) continue;
    before.Fail("must not be \"" + std::string(other) +
                "\": the pods of both jobs are workers of one gang, which get their nodes "
                "together; remove the dependency from the JobSet, or from the TrainJob's runtime");
  }
}

// The launcher and the nodes of a TrainJob; the launcher is a worker if it uses accelerators.
// With MPI's runLauncherAsNode it is one of the TrainJob's nodes.
GangShape OfTrainer(const Field& spec, std::span<const std::string> more) {
  const Field jobs = spec["replicatedJobs"];
  std::vector<ReplicatedJob> parts;
  for (const std::string_view name : {kTrainerLauncher, kTrainerNode}) {
    for (const Field& job : jobs.Items()) {
      if (job["name"].Str() == name) parts.push_back(ReplicatedJobOf(job, more));
    }
  }
  const auto is_placed = [](const ReplicatedJob& part) { return part.placed; };
  const bool any = std::any_of(parts.begin(), parts.end(), is_placed);
  std::erase_if(parts, [&](const ReplicatedJob& part) {
    return any ? !part.placed : part.name != kTrainerNode;
  });
  if (parts.empty()) jobs.Fail("has no job \"node\"");
  GangShape shape;
  api::IndexLabel part{.key = kJobSetPart};
  std::int64_t stride = 0;  // of all that have several Jobs
  bool even = true;
  for (const ReplicatedJob& one : parts) {
    part.values[one.name] = shape.workers;
    shape.workers += one.replicas * one.each;
    shape.pods_per_job = std::max(shape.pods_per_job, one.each);
    if (one.replicas == 1) continue;
    even = even && (stride == 0 || stride == one.each);
    stride = one.each;
  }
  if (even) shape.index_labels = JobSetIndex(stride == 0 ? shape.pods_per_job : stride);
  if (parts.size() < 2) return shape;
  if (even) shape.index_labels.insert(shape.index_labels.begin(), std::move(part));
  if (const Field order = spec["startupPolicy"]["startupPolicyOrder"]; order.Str() == "InOrder") {
    order.Fail(
        "must not be InOrder: the pods of launcher and node are workers of one gang, which "
        "get their nodes together");
  }
  for (const Field& job : jobs.Items()) {
    const std::string name = job["name"].Str();
    if (name == kTrainerLauncher) CheckDependsOn(job, kTrainerNode);
    if (name == kTrainerNode) CheckDependsOn(job, kTrainerLauncher);
  }
  return shape;
}

GangShape OfJobSet(const Field& root, std::string_view part, std::span<const std::string> more) {
  const Field jobs = root["spec"]["replicatedJobs"];
  if (part.empty()) return OfTrainer(root["spec"], more);
  for (const Field& job : jobs.Items()) {
    if (job["name"].Str() != part) continue;
    const ReplicatedJob one = ReplicatedJobOf(job, more);
    return {one.replicas * one.each, JobSetIndex(one.each), one.each};
  }
  jobs.Fail("has no job \"" + std::string(part) + "\"");
  return {};
}

std::vector<Replicas> ReplicasOf(const Field& spec, std::string_view part,
                                 std::span<const std::string> more) {
  std::vector<Replicas> chosen;
  for (const Field& member : spec.Members()) {
    if (!member.key().ends_with("ReplicaSpecs")) continue;
    for (const Field& one : member.Members()) {
      const std::string type = Lower(one.key());
      const std::int64_t count = one["replicas"].Int({.min = 0, .max = api::kReplicas.max}, 1);
      if (count > 0 && (part.empty() ? IsPlaced(one["template"], more) : type == part)) {
        chosen.push_back({type, count});
      }
    }
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const Replicas& a, const Replicas& b) { return a.order() < b.order(); });
  return chosen;
}

GangShape OfKubeflow(const Field& root, std::string_view part, std::span<const std::string> more) {
  const std::vector<Replicas> all = ReplicasOf(root["spec"], part, more);
  if (all.empty()) {
    root["spec"].Fail(part.empty() ? std::string("has no replicas whose template has the label ") +
                                         api::kPlaceLabel + ": \"true\" and requests an accelerator"
                                   : "has no replicas of type " + std::string(part));
  }
  GangShape shape;
  api::IndexLabel type{.key = kKubeflowType};
  for (const Replicas& one : all) {
    type.values[one.type] = shape.workers;
    shape.workers += one.count;
  }
  shape.index_labels = {{.key = kKubeflowIndex}};
  if (all.size() > 1) shape.index_labels.insert(shape.index_labels.begin(), std::move(type));
  return shape;
}

// The launcher of an MPIJob has an index only if it is a worker too, and the workers then begin at
// 1. In all other cases the order of names is the order of ranks.
GangShape OfMpiJob(const Field& root, std::string_view part, std::span<const std::string> more) {
  GangShape shape = OfKubeflow(root, part, more);
  const bool all = shape.index_labels.size() > 1;
  const bool launcher_works = root["spec"]["runLauncherAsWorker"].Bool();
  shape.index_labels.clear();
  if (all == launcher_works) shape.index_labels = {{.key = kKubeflowIndex}};
  return shape;
}

}  // namespace

Result<std::optional<GangShape>> ShapeOfPod(const ForeignGang& gang, const api::Pod& pod) {
  using Known = std::optional<GangShape>;
  if (gang.kind == "LeaderWorkerSet") {
    if (const auto size = FindNumber(pod, kLeaderSize)) {
      return Known({*size, {{.key = kLeaderWorker}}});
    }
  }
  if (gang.kind == "Pod") {
    if (const auto size = FindNumber(pod, kPodGroupSize)) {
      const bool indexed = FindNumber(pod, kPodGroupIndex).has_value();
      if (indexed) return Known({*size, {{.key = kPodGroupIndex}}});
      return Known({*size, {}});
    }
  }
  auto annotations = api::DecodeGangAnnotations(pod.meta.annotations);
  if (!annotations) return annotations.error();
  if (!annotations->workers) return Known();
  GangShape shape{*annotations->workers, {}};
  if (gang.kind == "Job" && FindNumber(pod, kCompletionIndex)) {
    shape.index_labels = {{.key = kCompletionIndex}};
  }
  if (const auto jobs = FindNumber(pod, kJobSetJobs); jobs && gang.selector.contains(kJobSetPart)) {
    if (*jobs < 1 || shape.workers % *jobs != 0) {
      return Invalid("annotation " + std::string(api::kWorkersAnnotation) + ": " +
                     std::to_string(shape.workers) + " workers do not divide evenly into " +
                     std::to_string(*jobs) + " jobs");
    }
    shape.pods_per_job = shape.workers / *jobs;
    shape.index_labels = JobSetIndex(shape.pods_per_job);
  } else if (jobs) {
    shape.pods_per_job = shape.workers;
  }
  return Known(std::move(shape));
}

Status CheckCreatedAtOnce(const ForeignGang& gang, const api::Pod& pod, const GangShape& shape) {
  const auto has = [&](const char* key) { return pod.meta.annotations.contains(key); };
  const char* key = nullptr;
  std::string why = " are created only when the first has a node, but Weft finds nodes for all " +
                    std::to_string(shape.workers) + " workers at once";
  std::string instead =
      " and put weft.dev/topology: '{\"required\": \"LEVEL\"}' on the pod template";
  if (gang.kind == "LeaderWorkerSet" && has(kLeaderExclusive) && shape.workers > 1) {
    key = kLeaderExclusive;
  } else if (gang.kind == "LeaderWorkerSet" && has(kSubgroupExclusive) && shape.workers > 1) {
    key = kSubgroupExclusive;
    why = " have other affinity in other subgroups, but Weft finds nodes for all " +
          std::to_string(shape.workers) + " workers by the rules of one pod";
  } else if ((gang.kind == "JobSet" || gang.kind == "TrainJob") && has(kJobSetExclusive) &&
             !has(kJobSetNodeSelector) && shape.pods_per_job > 1) {
    key = kJobSetExclusive;
    instead += ", or use JobSet's node selector strategy (annotation " +
               std::string(kJobSetNodeSelector) + ")";
  }
  if (key == nullptr) return {};
  return Invalid("annotation " + std::string(key) + ": with it the other pods of " + gang.kind +
                 " " + gang.owner + why + "; remove it" + instead);
}

Result<GangShape> ShapeOfOwner(std::string_view kind, const nlohmann::json& owner,
                               std::string_view part, std::span<const std::string> more) {
  api::Decoding decoding(owner, "owner");
  const Field root = decoding.Root();
  GangShape shape;
  if (kind == "Job") {
    shape = OfJob(root);
  } else if (kind == "JobSet" || kind == "TrainJob") {
    shape = OfJobSet(root, part, more);
  } else if (kind == "RayCluster") {
    shape = OfRayCluster(root, part);
  } else if (kind == "MPIJob") {
    shape = OfMpiJob(root, part, more);
  } else {
    shape = OfKubeflow(root, part, more);
  }
  if (Status read = decoding.status(); !read) return read.error();
  if (shape.workers < 1 || shape.workers > api::kReplicas.max) {
    return Invalid(decoding.place() + ": has " + std::to_string(shape.workers) +
                   " workers, must have 1 to " + std::to_string(api::kReplicas.max));
  }
  return shape;
}

}  // namespace weft::cluster
