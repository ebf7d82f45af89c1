#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "operator/api/json_member.h"
#include "operator/api/json_reader.h"
#include "operator/base/check.h"

namespace weft::api {
namespace {

template <typename Kind, typename List>
Status Append(Result<Kind> decoded, List& list) {
  if (!decoded) return decoded.error();
  list.push_back(*std::move(decoded));
  return {};
}

// Limits on the number and length of notes, whatever kinds the input has.
constexpr std::size_t kMaxNotes = 100;
constexpr std::size_t kMaxKindBytes = 200;
constexpr std::ptrdiff_t kMostTaintRules = 20;  // with a note each
constexpr std::string_view kMoreKinds = "ignored objects of more kinds";

// "ignored 3 objects of kind ConfigMap (v1)".
std::string IgnoredNote(std::size_t count, const std::string& kind) {
  return "ignored " + std::to_string(count) + (count == 1 ? " object" : " objects") + " of kind " +
         kind;
}

// Keeps one note per kind; each further object increases its count.
void NoteIgnored(const std::string& kind, Inputs& inputs) {
  std::vector<std::string>& notes = inputs.notes;
  if (const auto known = inputs.ignored.find(kind); known != inputs.ignored.end()) {
    auto& [count, note] = known->second;
    WEFT_CHECK(note < notes.size());  // who removes notes must forget what they count, too
    notes[note] = IgnoredNote(++count, kind);
    return;
  }
  if (notes.size() < kMaxNotes && kind.size() <= kMaxKindBytes) {
    inputs.ignored[kind] = {1, notes.size()};
    notes.push_back(IgnoredNote(1, kind));
  } else if (notes.empty() || notes.back() != kMoreKinds) {
    notes.emplace_back(kMoreKinds);
  }
}

struct TypeMeta {
  Place shown;  // with kind and name
  std::string group, version, kind;
  std::string api_version() const { return group.empty() ? version : group + "/" + version; }
};

Result<TypeMeta> DecodeTypeMeta(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  const std::string api_version = root["apiVersion"].Require().Str();
  TypeMeta type;
  type.shown = decoding.place();
  type.kind = root["kind"].Require().Str();
  const std::size_t slash = api_version.find('/');
  if (slash != api_version.npos) type.group = api_version.substr(0, slash);
  type.version = slash == api_version.npos ? api_version : api_version.substr(slash + 1);
  if (Status done = decoding.status(); !done) return done.error();
  return type;
}

Status DecodeOurs(const nlohmann::json& object, const Place& place, Inputs& inputs, Reading reading,
                  const TypeMeta& type) {
  if (type.version != kVersion) {
    return Invalid(type.shown + ": apiVersion: " + type.api_version() + " is not known; use " +
                   kGroup + "/" + kVersion);
  }
  if (type.kind == "Fabric") return Append(DecodeFabric(object, place), inputs.fabrics);
  const bool is_job = type.kind == "TrainingJob";
  if (!is_job && type.kind != "Placement") {
    return Invalid(type.shown + ": kind: " + type.api_version() +
                   " has TrainingJob, Placement and Fabric, not " + type.kind);
  }
  Status status = is_job ? Append(DecodeTrainingJob(object, place, reading), inputs.jobs)
                         : Append(DecodePlacement(object, place), inputs.placements);
  if (!status) return status;
  inputs.order.push_back({is_job, (is_job ? inputs.jobs.size() : inputs.placements.size()) - 1});
  return {};
}

bool IsLearnedSteps(const nlohmann::json& object) {
  const nlohmann::json::json_pointer name("/metadata/name");
  return object.contains(name) && object.at(name) == kLearnedSteps;
}

Status TakeLearnedSteps(Result<ConfigMap> decoded, Inputs& inputs) {
  if (!decoded) return decoded.error();
  if (inputs.learned_steps) {
    return Invalid(decoded->place + ": a second one after " + inputs.learned_steps->place);
  }
  inputs.learned_steps = *std::move(decoded);
  return {};
}

// Nothing if decisions do not read the kind.
std::optional<Status> TakeDevices(const std::string& kind, const nlohmann::json& object,
                                  const Place& place, Inputs& inputs) {
  if (kind == "ResourceSlice") {
    return Append(DecodeResourceSlice(object, place), inputs.resource_slices);
  }
  if (kind == "ResourceClaim") {
    return Append(DecodeResourceClaim(object, place), inputs.resource_claims);
  }
  if (kind == "ResourceClaimTemplate") {
    return Append(DecodeClaimTemplate(object, place), inputs.claim_templates);
  }
  if (kind == "DeviceClass") {
    return Append(DecodeDeviceClass(object, place), inputs.device_classes);
  }
  return std::nullopt;
}

// The devices that the rule taints count as free, so a person is told which rule it is, for the
// first few rules.
bool NoteTaintRule(const TypeMeta& type, Inputs& inputs) {
  if (type.group != kDeviceGroup || type.kind != "DeviceTaintRule") return false;
  static const std::string kText =
      ": DeviceTaintRules are not read: devices that it taints count as free, and kube-scheduler "
      "may refuse pods there";
  const auto named = std::count_if(inputs.notes.begin(), inputs.notes.end(),
                                   [](const auto& note) { return note.ends_with(kText); });
  if (named >= kMostTaintRules || inputs.notes.size() >= kMaxNotes) return false;
  inputs.notes.push_back(type.shown + kText);
  return true;
}

// A file that has one object of a kind has all of them; but the claim that a job is to be applied
// with, which has no status yet, tells nothing of others.
std::optional<Status> TakeVolumes(const TypeMeta& type, const nlohmann::json& object,
                                  const Place& place, Inputs& inputs) {
  const bool core = type.group.empty() && type.version == "v1";
  if (core && type.kind == "PersistentVolume") {
    inputs.knows_volumes = true;
    return Append(DecodePersistentVolume(object, place), inputs.volumes);
  }
  if (core && type.kind == "PersistentVolumeClaim") {
    if (Status done = Append(DecodeVolumeClaim(object, place), inputs.volume_claims); !done) {
      return done;
    }
    const auto last = static_cast<std::ptrdiff_t>(inputs.volume_claims.size()) - 1;
    inputs.knows_claims = inputs.knows_claims || inputs.volume_claims[last].served;
    return Status();
  }
  if (type.group == kStorageGroup && type.kind == "StorageClass") {
    inputs.knows_classes = true;
    return Append(DecodeStorageClass(object, place), inputs.storage_classes);
  }
  if (type.group == kStorageGroup && type.kind == "CSINode") {
    return Append(DecodeCsiNode(object, place), inputs.csi_nodes);
  }
  return std::nullopt;
}

// One whose spec cannot be read is kept, for its name and its checks.
Status TakeWorkload(const nlohmann::json& object, const Place& place, Inputs& inputs) {
  const Status taken = Append(DecodeWorkload(object, place), inputs.workloads);
  if (!taken) return taken;
  const Workload& workload = *std::prev(inputs.workloads.end());
  if (!workload.unreadable.empty() && inputs.notes.size() < kMaxNotes) {
    inputs.notes.push_back(workload.place + ": " + workload.unreadable);
  }
  return {};
}

std::optional<Status> TakeKueue(const std::string& kind, const nlohmann::json& object,
                                const Place& place, Inputs& inputs) {
  if (kind == "Workload") return TakeWorkload(object, place, inputs);
  if (kind == "AdmissionCheck") {
    return Append(DecodeAdmissionCheck(object, place), inputs.admission_checks);
  }
  if (kind == "ResourceFlavor") {
    return Append(DecodeResourceFlavor(object, place), inputs.resource_flavors);
  }
  return std::nullopt;
}

template <typename List>
Status CheckUniqueIn(const List& list) {
  using Kind = typename List::value_type;
  std::vector<const Kind*> by_key;
  by_key.reserve(list.size());
  for (const Kind& object : list) by_key.push_back(&object);
  std::stable_sort(by_key.begin(), by_key.end(),
                   [](const Kind* a, const Kind* b) { return a->meta.key < b->meta.key; });
  const auto twice =
      std::adjacent_find(by_key.begin(), by_key.end(),
                         [](const Kind* a, const Kind* b) { return a->meta.key == b->meta.key; });
  if (twice == by_key.end()) return {};
  return Invalid(twice[1]->place + ": the same object as " + twice[0]->place);
}

}  // namespace

Result<Namespace> DecodeNamespace(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  Namespace space;
  space.place = decoding.place();
  space.meta = DecodeMeta(decoding.Root()["metadata"], Scope::kCluster);
  if (Status done = decoding.status(); !done) return done.error();
  return space;
}

Result<ConfigMap> DecodeConfigMap(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  ConfigMap map;
  map.place = decoding.place();
  map.meta = DecodeMeta(decoding.Root()["metadata"], Scope::kNamespaced);
  map.data = decoding.Root()["data"].StrMap();
  if (Status done = decoding.status(); !done) return done.error();
  return map;
}

Result<ObjectMeta> DecodeMetadata(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  ObjectMeta meta = DecodeMeta(decoding.Root()["metadata"], Scope::kNamespaced);
  if (Status done = decoding.status(); !done) return done.error();
  return meta;
}

namespace {

// A PodGroup of another scheduler; nothing if it is none. Only files have these. An odd number is
// as good as none: the object is not Weft's.
std::optional<Status> TakeLeastMembers(const TypeMeta& type, const nlohmann::json& object,
                                       const Place& place, Inputs& inputs) {
  static constexpr auto kGroups =
      std::to_array<std::string_view>({"scheduling.x-k8s.io", "scheduling.sigs.k8s.io",
                                       "scheduling.volcano.sh", "scheduling.run.ai"});
  const bool is_one = std::find(kGroups.begin(), kGroups.end(), type.group) != kGroups.end();
  if (!is_one || type.kind != "PodGroup") return std::nullopt;
  Decoding decoding(object, place);
  const ObjectMeta meta = DecodeMeta(decoding.Root()["metadata"], Scope::kNamespaced);
  if (Status done = decoding.status(); !done) return done;
  const nlohmann::json* spec = FindMember(object, "spec");
  const nlohmann::json* least = spec == nullptr ? nullptr : FindMember(*spec, "minMember");
  if (least != nullptr && least->is_number_integer() && *least > 0) {
    inputs.least_members[meta.key] = least->get<std::int64_t>();
  }
  return Status();
}

}  // namespace

Status DecodeInto(const nlohmann::json& object, const Place& place, Inputs& inputs,
                  Reading reading) {
  const Result<TypeMeta> type = DecodeTypeMeta(object, place);
  if (!type) return type.error();
  if (type->group == kGroup) return DecodeOurs(object, place, inputs, reading, *type);
  const bool core = type->group.empty() && type->version == "v1";
  if (core && type->kind == "Node") return Append(DecodeNode(object, place), inputs.nodes);
  if (core && type->kind == "Pod") return Append(DecodePod(object, place), inputs.pods);
  if (core && type->kind == "Namespace") {
    return Append(DecodeNamespace(object, place), inputs.namespaces);
  }
  if (core && type->kind == "ConfigMap" && IsLearnedSteps(object)) {
    return TakeLearnedSteps(DecodeConfigMap(object, place), inputs);
  }
  if (type->group == kSchedulingGroup && type->kind == "PriorityClass") {
    return Append(DecodePriorityClass(object, place), inputs.priority_classes);
  }
  if (type->group == "node.k8s.io" && type->kind == "RuntimeClass") {
    return Append(DecodeRuntimeClass(object, place), inputs.runtime_classes);
  }
  if (type->group == kSchedulingGroup && type->kind == "PodGroup") {
    return Append(DecodePodGroup(object, place), inputs.pod_groups);
  }
  if (const auto taken = TakeLeastMembers(*type, object, place, inputs)) return *taken;
  if (type->group == kDeviceGroup) {
    if (const auto taken = TakeDevices(type->kind, object, place, inputs)) return *taken;
  }
  if (type->group == kComputeDomainGroup && type->kind == "ComputeDomain") {
    return Append(DecodeComputeDomain(object, place), inputs.channel_templates);
  }
  if (const auto taken = TakeVolumes(*type, object, place, inputs)) return *taken;
  if (type->group == kKueueGroup && type->version == kKueueVersion) {
    if (const auto taken = TakeKueue(type->kind, object, place, inputs)) return *taken;
  }
  if (core && type->kind == "List")
    return Invalid(type->shown + ": a List inside a List is not read");
  if (NoteTaintRule(*type, inputs)) return {};
  NoteIgnored(type->kind + " (" + type->api_version() + ")", inputs);
  return {};
}

Status CheckUnique(const Inputs& inputs) {
  for (Status status : {CheckUniqueIn(inputs.nodes),
                        CheckUniqueIn(inputs.pods),
                        CheckUniqueIn(inputs.jobs),
                        CheckUniqueIn(inputs.placements),
                        CheckUniqueIn(inputs.fabrics),
                        CheckUniqueIn(inputs.namespaces),
                        CheckUniqueIn(inputs.priority_classes),
                        CheckUniqueIn(inputs.runtime_classes),
                        CheckUniqueIn(inputs.pod_groups),
                        CheckUniqueIn(inputs.resource_slices),
                        CheckUniqueIn(inputs.resource_claims),
                        CheckUniqueIn(inputs.claim_templates),
                        CheckUniqueIn(inputs.device_classes),
                        CheckUniqueIn(inputs.volumes),
                        CheckUniqueIn(inputs.volume_claims),
                        CheckUniqueIn(inputs.storage_classes),
                        CheckUniqueIn(inputs.csi_nodes),
                        CheckUniqueIn(inputs.workloads),
                        CheckUniqueIn(inputs.admission_checks),
                        CheckUniqueIn(inputs.resource_flavors)}) {
    if (!status) return status;
  }
  return {};
}

}  // namespace weft::api
