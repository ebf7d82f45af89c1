#include "operator/controllers/gang_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/decode.h"
#include "operator/cluster/build_cluster.h"
#include "operator/cluster/channel_claims.h"
#include "operator/cluster/placement_pods.h"
#include "operator/controllers/create_or_read.h"
#include "operator/framework/traits.h"
#include "operator/kube/ssh_key.h"
#include "operator/launch/attempt_files.h"
#include "operator/launch/compute_domain.h"
#include "operator/launch/device_claims.h"
#include "operator/launch/fabric_environment.h"
#include "operator/launch/ssh_secret.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/job_view.h"
#include "operator/life/kueue_quota_assignment.h"

namespace weft::controllers {

namespace {

using Json = nlohmann::json;

// Whether the job's pods claim a channel, by what the store has of the claims that they name.
bool ClaimsComputeDomain(const watch::Store& store, const api::TrainingJob& job) {
  if (job.topology.compute_domain || job.claims.empty()) return job.pod.claims_compute_domain;
  api::Inputs named;
  const auto take = [&](const std::vector<api::DeviceRequest>& requests) {
    for (const api::DeviceRequest& request : requests) {
      std::vector<std::string> classes = request.other_classes;
      classes.push_back(request.device_class);
      for (const std::string& name : classes) {
        if (const auto of = store.At<api::DeviceClass>({"", name})) {
          named.device_classes.push_back(*of);
        }
      }
    }
  };
  const std::string& space = job.meta.key.space;
  for (const api::ClaimReference& one : job.claims) {
    if (const auto claim = store.At<api::ResourceClaim>({space, one.claim})) {
      named.resource_claims.push_back(claim);
      take(claim->requests);
    }
    if (const auto of = store.At<api::ClaimTemplate>({space, one.claim_template})) {
      named.claim_templates.push_back(of);
      take(of->requests);
    }
  }
  const cluster::ChannelClaims channels(named);
  return std::any_of(job.claims.begin(), job.claims.end(),
                     [&](const auto& one) { return channels.Is(space, one); });
}

}  // namespace

Result<launch::Gang> GangFiles::Of(const api::TrainingJob& job, const api::Placement& placement) {
  launch::Gang gang;
  gang.job = &job;
  gang.attempt = life::AttemptLabel(placement.meta).value_or(0);
  gang.placement_uid = placement.meta.uid;
  gang.nodes = ByWorker<std::string>(placement.nodes);
  gang.verify_image = verify_image_;
  gang.queue = life::QueueOf(job);
  SetFabric(placement, gang);
  const bool joins = launch::NeedsComputeDomain(gang);
  if (Status recorded = Record(gang); !recorded) return recorded.error();
  if (joins && gang.levels.empty()) {
    return Invalid(
        "spec.topology.computeDomain is Auto, but the domains of all workers do not fit into the "
        "1 MiB of a ConfigMap: shorten their names, or remove computeDomain");
  }
  if (framework::TraitsOf(job.framework).launches_by_ssh()) {
    if (Status made = MakeSecret(gang); !made) return made.error();
  }
  if (launch::NeedsComputeDomain(gang)) {
    if (Status made = MakeComputeDomain(gang); !made) return made.error();
  }
  if (!job.accelerator.device_class.empty()) {
    if (Status made = MakeClaimTemplate(gang); !made) return made.error();
  }
  return gang;
}

Status GangFiles::MakeComputeDomain(const launch::Gang& gang) {
  const Result<Json> stored =
      CreateOwn(writer_, Kind::kComputeDomain, launch::MakeComputeDomain(gang));
  if (!stored && stored.error().kind == ErrorKind::kNotFound) {
    return Invalid(
        "spec.topology.computeDomain is Auto and the workers share an NVLink domain between nodes, "
        "but the API server has no kind ComputeDomain (resource.nvidia.com/v1beta1): install "
        "NVIDIA's DRA driver, or remove computeDomain");
  }
  if (!stored) return stored.error();
  const auto meta = api::DecodeMetadata(*stored, "ComputeDomain");
  if (!meta) return meta.error();
  if (!meta->deleting) return {};
  return Error{ErrorKind::kTransient,
               "ComputeDomain " + api::Show(meta->key) + " is being deleted"};
}

Status GangFiles::MakeClaimTemplate(const launch::Gang& gang) {
  const Result<Json> stored =
      CreateOwn(writer_, Kind::kClaimTemplate, launch::MakeClaimTemplate(gang));
  if (!stored && stored.error().kind == ErrorKind::kNotFound) {
    return Invalid(
        "spec.accelerator.deviceClassName needs ResourceClaimTemplates of resource.k8s.io/v1, "
        "which "
        "Kubernetes serves since 1.34: upgrade, or use resourceName");
  }
  return stored ? Status() : stored.error();
}

// The ComputeDomain is recognized by its label: one that an earlier version made has an owner.
Status GangFiles::Delete(const api::TrainingJob& job, const api::Placement* placement) {
  launch::Gang gang;
  gang.job = &job;
  gang.attempt = job.attempt;
  // Of a spec that cannot be read any more it is unknown; it may have been changed since.
  const bool made = placement != nullptr && placement->topology.compute_domain;
  if (made || job.topology.compute_domain || !job.unreadable.empty()) {
    const api::ObjectKey key{job.meta.key.space, launch::FilesName(gang)};
    const Result<Json> stored = writer_.Get({Kind::kComputeDomain, key, "", ""});
    if (!stored && stored.error().kind != ErrorKind::kNotFound) return stored.error();
    if (stored) {
      const auto meta = api::DecodeMetadata(*stored, "ComputeDomain");
      if (!meta) return meta.error();
      const bool ours = meta->labels.At(cluster::kJobUidLabel) == job.meta.uid;
      const Target target{Kind::kComputeDomain, key, meta->uid, ""};
      if (ours && !meta->deleting) {
        if (Status deleted = writer_.Delete(target); !deleted) return deleted;
      }
    }
  }
  if (placement == nullptr || !framework::TraitsOf(job.framework).launches_by_ssh()) return {};
  gang.placement_uid = placement->meta.uid;
  // Its uid is not known, because Secrets are never read; the name has the Placement's.
  return writer_.Delete({Kind::kSecret, {job.meta.key.space, launch::SecretName(gang)}, "", ""});
}

void GangFiles::SetFabric(const api::Placement& placement, launch::Gang& gang) {
  auto fabrics = fabrics_.Latest();
  if (!fabrics) fabrics = fabrics_.Of(store_.SnapshotFabrics());
  for (const cluster::Fabrics::Built& one : fabrics->built) {
    if (one.fabric->spec().name != placement.fabric_name) continue;
    gang.levels =
        launch::GangLevels(*one.fabric, ClaimsComputeDomain(store_, *gang.job), gang.nodes);
    gang.fabric = launch::FabricEnvironment(one.fabric->spec(), *gang.job);
  }
}

// The Secret is written once and never read: an existing Secret with this Placement's name serves
// as well. A create that is answered kConflict has met one; a busy quota is kTransient
// (kube/client.h).
Status GangFiles::MakeSecret(const launch::Gang& gang) {
  const auto key = kube::MakeSshKeyPair();
  if (!key) return key.error();
  const auto stored = writer_.Create(
      Kind::kSecret, launch::MakeSshSecret(gang, {key->private_pem, key->public_line}), false);
  if (!stored && stored.error().kind != ErrorKind::kConflict) return stored.error();
  return {};
}

// The ConfigMap that exists says whether the pods are in a PodGroup. What is not recorded yet may
// have one.
Result<Json> GangFiles::MakeRecord(launch::Gang& gang) {
  const auto why_not = pod_groups_.WhyNot(*gang.job);
  if (!why_not || !why_not->empty()) {
    const api::ObjectKey key{gang.job->meta.key.space, launch::FilesName(gang)};
    Result<Json> stored = writer_.Get({Kind::kConfigMap, key, "", ""});
    if (stored) {
      std::string taken = WhyTaken(launch::MakeConfigMap(gang), *stored);
      if (!taken.empty()) return Error{ErrorKind::kTransient, std::move(taken)};
    }
    if (stored || stored.error().kind != ErrorKind::kNotFound) return stored;
  }
  if (!why_not) {
    Result<std::string> group = pod_groups_.Make(gang);
    if (!group) return group.error();
    gang.pod_group = *std::move(group);
  } else if (!why_not->empty()) {
    pod_groups_.Tell(gang.job->meta, *why_not);
  }
  return CreateOwn(writer_, Kind::kConfigMap, launch::MakeConfigMap(gang));
}

Status GangFiles::Record(launch::Gang& gang) {
  const Result<Json> stored = MakeRecord(gang);
  if (!stored) return stored.error();
  const Json files = stored->value("data", Json::object());
  launch::ReadPlacementFile(files.value("placement.json", ""), gang);
  return {};
}

}  // namespace weft::controllers
