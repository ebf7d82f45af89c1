#include "operator/controllers/gang_files.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "operator/cluster/build_cluster.h"
#include "operator/kube/ssh_key.h"
#include "operator/launch/attempt_files.h"
#include "operator/launch/compute_domain.h"
#include "operator/launch/fabric_environment.h"
#include "operator/launch/ssh_secret.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/kueue_quota_assignment.h"

namespace weft::controllers {

namespace {

using Json = nlohmann::json;

// Whether the gang's Placement owns the object.
bool IsOf(const Json& object, const launch::Gang& gang) {
  const Json owners = object.at("metadata").value("ownerReferences", Json::array());
  return !owners.empty() && owners.front().value("uid", "") == gang.placement_uid;
}

}  // namespace

Result<launch::Gang> GangFiles::Of(const api::TrainingJob& job, const api::Placement& placement) {
  launch::Gang gang;
  gang.job = &job;
  gang.attempt = life::AttemptLabel(placement.meta).value_or(0);
  gang.placement_uid = placement.meta.uid;
  gang.nodes = placement.nodes;
  gang.verify_image = verify_image_;
  gang.queue = life::QueueOf(job);
  SetFabric(placement, gang);
  if (Status recorded = Record(gang); !recorded) return recorded.error();
  if (job.framework.type == api::FrameworkType::kMPI) {
    if (Status made = MakeSecret(gang); !made) return made.error();
  }
  if (launch::NeedsComputeDomain(gang)) {
    if (Status made = MakeComputeDomain(gang); !made) return made.error();
  }
  return gang;
}

Status GangFiles::MakeComputeDomain(const launch::Gang& gang) {
  Result<Json> stored =
      writer_.Create(Kind::kComputeDomain, launch::MakeComputeDomain(gang), false);
  if (stored) return {};
  if (stored.error().kind == ErrorKind::kNotFound) {
    return Invalid(
        "spec.topology.computeDomain is Auto and the workers share an NVLink domain between nodes, "
        "but the API server has no kind ComputeDomain (resource.nvidia.com/v1beta1): install "
        "NVIDIA's DRA driver, or remove computeDomain");
  }
  if (stored.error().kind != ErrorKind::kConflict) return stored.error();
  const api::ObjectKey key{gang.job->meta.key.space, launch::FilesName(gang)};
  stored = writer_.Get({Kind::kComputeDomain, key, "", ""});
  if (!stored) return stored.error();
  if (IsOf(*stored, gang)) return {};
  return Error{ErrorKind::kTransient,
               "ComputeDomain " + api::Show(key) + " already exists with another owner"};
}

void GangFiles::SetFabric(const api::Placement& placement, launch::Gang& gang) {
  auto fabrics = fabrics_.Latest();
  if (!fabrics) fabrics = fabrics_.Of(store_.SnapshotFabrics());
  for (const cluster::Fabrics::Built& one : fabrics->built) {
    if (one.fabric->spec().name != placement.fabric_name) continue;
    gang.levels = launch::GangLevels(*one.fabric, *gang.job, gang.nodes);
    gang.fabric = launch::FabricEnvironment(one.fabric->spec(), *gang.job);
  }
}

// The Secret is written once and never read: an existing Secret with this Placement's name serves
// as well.
Status GangFiles::MakeSecret(const launch::Gang& gang) {
  const auto key = kube::MakeSshKeyPair();
  if (!key) return key.error();
  const auto stored = writer_.Create(
      Kind::kSecret, launch::MakeSshSecret(gang, {key->private_pem, key->public_line}), false);
  if (!stored && stored.error().kind != ErrorKind::kConflict) return stored.error();
  return {};
}

Status GangFiles::Record(launch::Gang& gang) {
  const Json made = launch::MakeConfigMap(gang);
  Result<Json> stored = writer_.Create(Kind::kConfigMap, made, false);
  if (stored) return {};
  if (stored.error().kind != ErrorKind::kConflict) return stored.error();
  const api::ObjectKey key{gang.job->meta.key.space, launch::FilesName(gang)};
  stored = writer_.Get({Kind::kConfigMap, key, "", ""});
  if (!stored) return stored.error();
  if (!IsOf(*stored, gang)) {
    return Error{ErrorKind::kTransient,
                 "ConfigMap " + api::Show(key) + " already exists with another owner"};
  }
  const Json files = stored->value("data", Json::object());
  launch::ReadPlacementFile(files.value("placement.json", ""), gang);
  return {};
}

}  // namespace weft::controllers
