#include "operator/watch/cluster_watch.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "operator/api/decode.h"
#include "operator/api/kueue.h"
#include "operator/base/check.h"
#include "operator/cluster/build_cluster.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/running.h"
#include "operator/kube/kueue_resources.h"

namespace weft::watch {
namespace {

Result<Service> DecodeService(const nlohmann::json& object, const api::Place& place) {
  Result<api::ObjectMeta> meta = api::DecodeMetadata(object, place);
  if (!meta) return meta.error();
  return Service{*std::move(meta)};
}

// Decodes an object as the API server stored it.
template <auto kDecode>
auto Served(const nlohmann::json& object, const api::Place& place) {
  return kDecode(object, place, api::Reading::kServed);
}

// A sink together with its decoder.
template <typename T>
class Sink final : public kube::ObjectSink {
 public:
  Sink(const std::string& resource, const KindInStore<T>& kind, Store& store,
       const WatchHooks& hooks)
      : typed_(resource, kind, store, hooks), decoding_(kServedPlace, kind.decode, typed_) {}
  void OnReplaceBegin() override { decoding_.OnReplaceBegin(); }
  void OnUpsert(const kube::ServedObject& object) override { decoding_.OnUpsert(object); }
  void OnDelete(const api::Deletion& deletion) override { decoding_.OnDelete(deletion); }
  void OnSynced(const std::string& version) override { decoding_.OnSynced(version); }
  std::vector<api::ObjectKey> HeldUpTo(const std::string& version) override {
    return decoding_.HeldUpTo(version);
  }

 private:
  StoreSink<T> typed_;
  kube::DecodingSink<T> decoding_;
};

}  // namespace

ClusterWatch::ClusterWatch(kube::Transport& transport, Options options)
    : transport_(transport),
      options_(std::move(options)),
      store_(options_.now, options_.accelerator_resources) {
  using manifest::Subject;
  Watch<api::Node>(kube::kNodes, Subject::kNode, {api::DecodeNode, api::DecodeNodeHead});
  Watch<api::Pod>(kube::kPods, Subject::kPod, {api::DecodePod, api::DecodePodHead});
  Watch<api::PriorityClass>(kube::kPriorityClasses, Subject::kWhole,
                            {api::DecodePriorityClass, {}});
  Watch<api::Namespace>(kube::kNamespaces, Subject::kWhole, {api::DecodeNamespace, {}});
  Watch<api::Fabric>(kube::kFabrics, Subject::kWhole,
                     {Served<api::DecodeFabric>, Served<api::DecodeFabric>});
  Watch<api::TrainingJob>(kube::kTrainingJobs, Subject::kWhole,
                          {Served<api::DecodeTrainingJob>, Served<api::DecodeTrainingJob>});
  Watch<api::Placement>(kube::kPlacements, Subject::kWhole,
                        {Served<api::DecodePlacement>, Served<api::DecodePlacement>});
  Watch<Service>(kube::kServices, Subject::kWhole, {DecodeService, {}}, cluster::kJobUidLabel);
  Watch<api::PodGroup>(kube::kPodGroups, Subject::kWhole, {api::DecodePodGroup, {}});
  WatchDevices();
  WatchVolumes();
  own_kinds_ = reflectors_.size();
  if (options_.kueue) WatchKueue();
  WEFT_CHECK(watched_.size() == reflectors_.size() && sinks_.size() == reflectors_.size());
}

void ClusterWatch::WatchDevices() {
  using manifest::Subject;
  Watch<api::DeviceClass>(kube::kDeviceClasses, Subject::kWhole, {api::DecodeDeviceClass, {}});
  Watch<api::ResourceSlice>(kube::kResourceSlices, Subject::kWhole, {api::DecodeResourceSlice, {}});
  Watch<api::ClaimTemplate>(kube::kClaimTemplates, Subject::kWhole, {api::DecodeClaimTemplate, {}});
  Watch<api::ResourceClaim>(kube::kResourceClaims, Subject::kWhole, {api::DecodeResourceClaim, {}});
}

void ClusterWatch::WatchVolumes() {
  using manifest::Subject;
  Watch<api::StorageClass>(kube::kStorageClasses, Subject::kWhole, {api::DecodeStorageClass, {}});
  Watch<api::CsiNode>(kube::kCsiNodes, Subject::kWhole, {api::DecodeCsiNode, {}});
  Watch<api::PersistentVolume>(kube::kVolumes, Subject::kWhole, {api::DecodePersistentVolume, {}});
  Watch<api::VolumeClaim>(kube::kVolumeClaims, Subject::kWhole, {api::DecodeVolumeClaim, {}});
}

void ClusterWatch::WatchKueue() {
  using manifest::Subject;
  Watch<api::ResourceFlavor>(kube::kResourceFlavors, Subject::kWhole,
                             {api::DecodeResourceFlavor, {}});
  Watch<api::AdmissionCheck>(kube::kAdmissionChecks, Subject::kWhole,
                             {api::DecodeAdmissionCheck, {}});
  Watch<api::Workload>(kube::kWorkloads, Subject::kWhole,
                       {api::DecodeWorkload, api::DecodeWorkload});
}

// Jobs may be limited to one namespace, but objects that hold nodes are read in all namespaces.
template <typename T>
void ClusterWatch::Watch(const kube::Resource& resource, manifest::Subject subject,
                         KindInStore<T> kind, const std::string& labels) {
  const bool of_devices = resource.group == api::kDeviceGroup;
  const bool of_volumes = kube::IsOfVolumes(resource);
  const bool of_groups = std::is_same_v<T, api::PodGroup>;
  const bool holds_nodes = of_devices || of_volumes || of_groups || std::is_same_v<T, api::Pod> ||
                           std::is_same_v<T, api::Placement>;
  watched_.emplace_back(resource.plural);
  sinks_.push_back(std::make_unique<Sink<T>>(watched_.back(), kind, store_, options_.hooks));
  kube::Reflector::Options watching;
  watching.watch.path = kube::PathOf(resource, {holds_nodes ? "" : options_.space, ""});
  if (!labels.empty()) watching.watch.query["labelSelector"] = labels;
  watching.watch.seed = options_.seed + sinks_.size();
  watching.subject = subject;
  watching.optional = of_devices || of_volumes || of_groups || resource.group == api::kKueueGroup;
  watching.hooks = HooksOf(watched_.back());
  watching.executor = options_.executor;
  watching.timer = std::make_shared<kube::SystemTimer>(*options_.executor);
  reflectors_.push_back(
      std::make_unique<kube::Reflector>(transport_, *sinks_.back(), std::move(watching)));
}

kube::ReflectorHooks ClusterWatch::HooksOf(const std::string& resource) const {
  kube::ReflectorHooks hooks;
  hooks.on_failure = [this, resource](const std::string& what) {
    options_.hooks.on_failure(resource, what);
  };
  hooks.on_restart = [this, resource] { options_.hooks.on_restart(resource); };
  hooks.on_lag = options_.hooks.on_lag;
  hooks.on_answered = options_.hooks.on_answered;
  return hooks;
}

void ClusterWatch::Start() {
  for (const auto& reflector : reflectors_) reflector->Start();
}

void ClusterWatch::Cancel() {
  for (const auto& reflector : reflectors_) reflector->Cancel();
}

void ClusterWatch::Stop() {
  Cancel();
  for (const auto& reflector : reflectors_) reflector->Stop();
}

bool ClusterWatch::Synced() const {
  const auto end = reflectors_.begin() + static_cast<std::ptrdiff_t>(own_kinds_);
  return std::all_of(reflectors_.begin(), end, [](const auto& reflector) {
    return reflector->synced() || reflector->absent();
  });
}

bool ClusterWatch::KueueAnswered() const {
  const auto begin = reflectors_.begin() + static_cast<std::ptrdiff_t>(own_kinds_);
  return std::all_of(begin, reflectors_.end(), [](const auto& reflector) {
    return reflector->synced() || reflector->absent();
  });
}

bool ClusterWatch::KueueSynced() const {
  WEFT_CHECK(own_kinds_ <= reflectors_.size());
  const auto begin = reflectors_.begin() + static_cast<std::ptrdiff_t>(own_kinds_);
  return begin != reflectors_.end() &&
         std::all_of(begin, reflectors_.end(),
                     [](const auto& reflector) { return reflector->synced(); });
}

std::vector<std::pair<std::string, kube::Millis>> ClusterWatch::Silences() const {
  std::vector<std::pair<std::string, kube::Millis>> silences;
  for (std::size_t i = 0; i < reflectors_.size(); ++i) {
    silences.emplace_back(watched_[i], reflectors_[i]->Staleness());
  }
  return silences;
}

kube::Millis ClusterWatch::Staleness() const {
  kube::Millis longest{0};
  for (const auto& [resource, silence] : Silences()) longest = std::max(longest, silence);
  return longest;
}

Store::Snapshot ClusterWatch::TakeSnapshot() const {
  Store::Snapshot snapshot = store_.TakeSnapshot();
  cluster::OrderAll(snapshot.inputs);
  return snapshot;
}

cluster::Cluster ClusterWatch::SnapshotCluster() {
  Store::Snapshot snapshot = TakeSnapshot();
  const auto fabrics = fabrics_.Of(snapshot);
  return cluster::BuildCluster(std::move(snapshot.inputs), *fabrics);
}

}  // namespace weft::watch
