#include "operator/controllers/foreign_controller.h"

#include <algorithm>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "operator/api/decode.h"
#include "operator/api/encode.h"
#include "operator/api/gang_annotations.h"
#include "operator/base/phrases.h"
#include "operator/cluster/gang_members.h"
#include "operator/cluster/gang_spec.h"
#include "operator/cluster/worker_order.h"
#include "operator/controllers/create_or_read.h"
#include "operator/controllers/parallel.h"
#include "operator/launch/pin.h"
#include "operator/life/placement_status.h"

namespace weft::controllers {

namespace {

using Json = nlohmann::json;

constexpr const char* kRefused = "PlacementRefused";  // reason of the event
constexpr const char* kAction = "CreatePlacement";

// After a refusal, in case a Fabric or owner has changed.
constexpr std::int64_t kForeignRetrySeconds = 60;

constexpr const char* kNoAccelerator =
    "the pod requests no accelerator, so Weft chooses no node for it";
constexpr const char* kNoKnownDevices =
    "the pod requests no accelerator, and its ResourceClaims ask for no DeviceClass of "
    "accelerators "
    "that Weft knows, so Weft chooses no node for it";

// The object whose fields tell the gang's size; for a TrainJob its JobSet.
api::OwnerReference SizeOwner(const cluster::ForeignGang& gang, api::OwnerReference keeper) {
  if (gang.kind != "JobSet" && gang.kind != "TrainJob") return keeper;
  return {"jobset.x-k8s.io/v1alpha2", "JobSet", gang.owner, keeper.uid, false};
}

}  // namespace

ForeignController::ForeignController(watch::Store& store, watch::FabricCache& cache,
                                     ApiWriter& writer, Recorder& recorder, Log& log,
                                     Options options)
    : store_(store),
      cache_(cache),
      writer_(writer),
      recorder_(recorder),
      log_(log),
      options_(options) {}

Result<Outcome> ForeignController::Reconcile(const api::ObjectKey& gang) {
  const auto pods = store_.PodsToPlace(gang);
  const auto placements = store_.Selecting(gang);
  if (gang.name.empty()) return ReportPodsWithoutGang(pods, placements);
  life::ForeignPods view;
  view.base = gang.name;
  for (const auto& pod : pods) view.pods.push_back(pod.get());
  for (const auto& placement : placements) view.placements.push_back(placement.get());
  const bool unknown = std::any_of(pods.begin(), pods.end(), [](const auto& pod) {
    return !cluster::AcceleratorOf(pod->pod.requests);
  });
  if (unknown) {
    view.accelerator_resources = cache_.Of(store_.SnapshotFabrics())->accelerator_resources;
  }
  return std::visit([&](const auto& step) { return Do(step); }, life::NextForeignStep(view));
}

bool ForeignController::IsSelected(const Placements& placements, const api::Pod& pod) {
  return std::any_of(placements.begin(), placements.end(),
                     [&](const auto& placement) { return cluster::Selects(*placement, pod); });
}

// Pods that wait and belong to no gang.
ForeignController::Answer ForeignController::ReportPodsWithoutGang(const Pods& pods,
                                                                   const Placements& placements) {
  for (const auto& pod : pods) {
    if (!cluster::HasGate(*pod) || pod->meta.deleting || IsSelected(placements, *pod)) continue;
    const auto gang = cluster::ForeignGangOf(*pod);
    if (gang) continue;
    recorder_.Record({"Pod", &pod->meta, true, kRefused, kAction, gang.error().message, "v1"});
  }
  return Outcome{};
}

void ForeignController::RecordEvents(const life::CreateForeign& step, bool warning,
                                     std::string_view reason, const std::string& note) {
  const api::OwnerReference& keeper = step.keeper;
  api::ObjectMeta owner;
  owner.key = {step.pods.front()->meta.key.space, keeper.name};
  owner.uid = keeper.uid;
  if (keeper.kind != "Pod") {
    recorder_.Record({keeper.kind, &owner, warning, reason, kAction, note, keeper.api_version});
  }
  recorder_.Record({"Pod", &step.pods.front()->meta, warning, reason, kAction, note, "v1"});
}

// The size that the pods carry, else that of the object that controls them.
Result<cluster::GangShape> ForeignController::ShapeOf(
    const life::CreateForeign& step, const std::vector<std::string>& accelerator_resources) {
  const api::Pod& first = *step.pods.front();
  auto known = cluster::ShapeOfPod(step.gang, first);
  if (!known) return known.error();
  if (*known) return **std::move(known);
  const api::OwnerReference owner = SizeOwner(step.gang, step.keeper);
  const Result<Json> read = writer_.GetOwner(owner, first.meta.key.space);
  if (!read && read.error().kind == ErrorKind::kTransient) return read.error();
  if (!read) {
    return Invalid("the number of workers is unknown, because " + owner.kind + " " + owner.name +
                   " cannot be read (" + read.error().message +
                   "); set the annotation weft.dev/workers on the pod template");
  }
  return cluster::ShapeOfOwner(step.gang.kind, *read, step.gang.part, accelerator_resources);
}

Result<api::Placement> ForeignController::Describe(const life::CreateForeign& step) {
  const api::Pod& first = *step.pods.front();
  auto annotations = api::DecodeGangAnnotations(first.meta.annotations);
  if (!annotations) return annotations.error();
  const auto fabrics = cache_.Of(store_.SnapshotFabrics());
  const auto shape = ShapeOf(step, fabrics->accelerator_resources);
  if (!shape) return shape.error();
  if (Status created = cluster::CheckCreatedAtOnce(step.gang, first, *shape); !created) {
    return created.error();
  }
  api::Placement placement;
  placement.meta.key = {first.meta.key.space, step.gang.placement_name};
  placement.meta.labels.Set(cluster::kGangLabel, step.gang.base);
  placement.workers = static_cast<std::uint32_t>(shape->workers);
  const auto accelerator =
      cluster::AcceleratorOf(first.pod.requests, fabrics->accelerator_resources);
  if (!accelerator) {  // no Fabric names its resource any more
    return Invalid("pod " + first.meta.key.name + " requests no accelerator");
  }
  placement.accelerator = *accelerator;
  placement.worker_index_labels = shape->index_labels;
  placement.pod_selector = fabric::LabelSelector{step.gang.selector, {}};
  std::vector<const fabric::FabricSpec*> specs;
  for (const auto& one : fabrics->built) specs.push_back(&one.fabric->spec());
  if (Status done = cluster::Resolve(*annotations, specs, placement); !done) return done.error();
  return placement;
}

ForeignController::Answer ForeignController::Do(const life::CreateForeign& step) {
  const Result<api::Placement> placement = Describe(step);
  if (placement) return Create(step, *placement);
  if (placement.error().kind != ErrorKind::kInvalid) return placement.error();
  RecordEvents(step, true, kRefused, placement.error().message);
  return Outcome{.waits = true, .seconds = kForeignRetrySeconds};
}

ForeignController::Answer ForeignController::Create(const life::CreateForeign& step,
                                                    const api::Placement& placement) {
  const api::OwnerReference& keeper = step.keeper;
  Json object(api::EncodePlacement(placement, nullptr));
  Json& meta = object["metadata"];
  meta["annotations"] = {
      {cluster::kRequestHashAnnotation, cluster::RequestHash(*step.pods.front())}};
  meta["ownerReferences"] = Json::array({{{"apiVersion", keeper.api_version},
                                          {"kind", keeper.kind},
                                          {"name", keeper.name},
                                          {"uid", keeper.uid}}});
  const Result<Named> stored = CreateOrRead(writer_, Kind::kPlacement, object);
  if (!stored && stored.error().kind == ErrorKind::kInvalid) {
    RecordEvents(step, true, kRefused, stored.error().message);
    return Outcome{.waits = true, .seconds = kForeignRetrySeconds};
  }
  if (!stored) return stored.error();
  auto decoded = api::DecodePlacement(stored->object, "Placement", api::Reading::kServed);
  if (!decoded) return decoded.error();
  if (decoded->meta.labels.At(cluster::kGangLabel) != step.gang.base) {
    RecordEvents(
        step, true, kRefused,
        "Placement " + placement.meta.key.name + " already exists, and Weft did not make it");
    return Outcome{.waits = true, .seconds = kForeignRetrySeconds};
  }
  // One that an earlier leader made may know more.
  const bool fresh = decoded->excluded.empty() && decoded->retry.times == 0;
  if (step.before != nullptr && fresh) Inherit(*step.before, *decoded);
  store_.Put(*std::move(decoded));
  std::string note = "Placement " + placement.meta.key.name + " of " +
                     CountText(placement.workers, "worker") + " created";
  const std::string ignored = api::IgnoredAnnotation(step.pods.front()->meta.annotations);
  if (!ignored.empty()) note += "; " + ignored;
  RecordEvents(step, false, "PlacementCreated", note);
  log_.Info("placement created", {{"placement", api::Show(placement.meta.key)},
                                  {"for", keeper.kind + " " + keeper.name}});
  return kAgain;
}

// A new attempt must not try the nodes that refused the last one. If the planner was faster, the
// write fails, and the next attempt knows more.
void ForeignController::Inherit(const api::Placement& before, api::Placement& created) {
  const api::ObjectMeta& meta = created.meta;
  const life::PlacementStatus status{true, created.conditions, before.excluded, before.retry};
  const Result<Json> stored =
      writer_.PatchStatus({Kind::kPlacement, meta.key, meta.uid, meta.resource_version},
                          {{"status", life::PatchOf(created, status)}});
  if (!stored) {
    return log_.Warning("excluded nodes not taken over",
                        {{"placement", api::Show(meta.key)}, {"reason", stored.error().message}});
  }
  auto decoded = api::DecodePlacement(*stored, "Placement", api::Reading::kServed);
  if (decoded) created = *std::move(decoded);
}

ForeignController::Answer ForeignController::Do(const life::DeleteForeign& step) {
  const api::ObjectMeta& meta = step.placement->meta;
  const Status deleted =
      writer_.Delete({Kind::kPlacement, meta.key, meta.uid, meta.resource_version});
  if (!deleted) return deleted.error();
  store_.Remove<api::Placement>({meta.key, meta.uid});
  log_.Info("placement deleted", {{"placement", api::Show(meta.key)}});
  return kAgain;
}

ForeignController::Answer ForeignController::Do(const life::FreeForeign& step) {
  const auto free = [&](std::size_t i) -> Status {
    const api::ObjectMeta& meta = step.pods[i]->meta;
    const Result<Json> stored = writer_.Patch(
        {Kind::kPod, meta.key, meta.uid, meta.resource_version}, launch::FreePatch(*step.pods[i]));
    if (!stored) return stored.error();
    if (auto pod = api::DecodePod(*stored, "Pod")) store_.Put(*std::move(pod));
    recorder_.Record({"Pod", &meta, false, "GateRemoved", kAction,
                      step.pods[i]->claims.empty() ? kNoAccelerator : kNoKnownDevices, "v1"});
    return {};
  };
  const Batch batch =
      RunBatch(*options_.executor, step.pods.size(), options_.writes_at_once, OnError::kStop, free);
  if (batch.error) return *batch.error;
  return batch.cut ? kNextSlice : kAgain;
}

ForeignController::Answer ForeignController::Do(const life::Wait& step) {
  return Outcome{.waits = true, .seconds = step.seconds};
}

}  // namespace weft::controllers
