#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/json_reader.h"
#include "operator/api/json_text.h"
#include "operator/api/kueue.h"
#include "operator/api/pod_requirements.h"

namespace weft::api {
namespace {

constexpr std::array<std::string_view, 4> kCheckStates = {  // by CheckState
    "Pending", "Ready", "Retry", "Rejected"};

// More than the resources of any pod.
constexpr std::size_t kPodRequestsBytes = 4096;

constexpr IntRange kPods = {.min = 0, .max = std::numeric_limits<std::int32_t>::max()};

std::uint32_t CountOf(const Field& field, std::int64_t fallback) {
  return static_cast<std::uint32_t>(field.Int(kPods, fallback));
}

PodSet DecodePodSet(const Field& field) {
  PodSet set;
  set.name = field["name"].Str("main");
  set.count = set.asked = CountOf(field["count"], 1);
  const Field meta = field["template"]["metadata"], spec = field["template"]["spec"];
  set.labels = meta["labels"].Texts();
  set.annotations = meta["annotations"].Texts();
  set.pod = DecodePodSpec(spec, set.labels);
  set.pod.labels = set.labels;
  set.claims = DecodeClaims(spec, spec["status"]);  // which a PodSpec does not have
  set.priority_class_name = spec["priorityClassName"].Str();
  for (const Field& gate : spec["schedulingGates"].Items()) {
    if (gate["name"].Str() == kGate) set.gated = true;
  }
  const Field topology = field["topologyRequest"];
  set.index_label = topology["podIndexLabel"].Str();
  set.group_label = topology["subGroupIndexLabel"].Str();
  set.groups = CountOf(topology["subGroupCount"], 0);
  return set;
}

// status.admission: the count and the flavors that each pod set was given.
void TakeAssignment(const Field& assignment, std::vector<PodSet>& sets) {
  const std::string name = assignment["name"].Str("main");
  const auto set =
      std::find_if(sets.begin(), sets.end(), [&](const PodSet& one) { return one.name == name; });
  if (set == sets.end()) return;
  set->count = CountOf(assignment["count"], set->count);
  for (const Field& flavor : assignment["flavors"].Members()) {
    std::string text = flavor.Str();
    const bool known =
        std::find(set->flavors.begin(), set->flavors.end(), text) != set->flavors.end();
    if (!known) set->flavors.push_back(std::move(text));
  }
}

// status.reclaimablePods: pods that have succeeded, whose quota Kueue has taken back. A new
// reservation does not count them, but workers keep their indices.
void TakeReclaimed(const Field& reclaimed, std::vector<PodSet>& sets) {
  const std::string name = reclaimed["name"].Str("main");
  for (PodSet& set : sets) {
    if (set.name != name) continue;
    const std::uint32_t count = CountOf(reclaimed["count"], 0);
    set.succeeded = std::min(set.asked, count);
    set.count = std::max(set.count, std::min(set.asked, set.count + count));
  }
}

// Kueue's default for a check that has no answer yet is Pending.
CheckState ParseCheckState(std::string_view text) {
  const auto found = std::find(kCheckStates.begin(), kCheckStates.end(), text);
  if (found == kCheckStates.end()) return CheckState::kPending;
  return static_cast<CheckState>(found - kCheckStates.begin());
}

AdmissionCheckState DecodeCheckState(const Field& field) {
  AdmissionCheckState check{field["name"].Str(),
                            ParseCheckState(field["state"].Str()),
                            field["message"].Str(),
                            field["lastTransitionTime"].Str(),
                            {}};
  for (const Field& update : field["podSetUpdates"].Items()) {
    check.labels[update["name"].Str("main")] = update["labels"].Texts();
  }
  return check;
}

void DecodeSpec(const Field& spec, Workload& workload) {
  workload.active = spec["active"].Bool(true);
  workload.priority = spec["priority"].Int();
  workload.priority_class = spec["priorityClassRef"]["name"].Str();
  workload.queue = spec["queueName"].Str();
  for (const Field& set : spec["podSets"].Items()) workload.pod_sets.push_back(DecodePodSet(set));
}

void DecodeStatus(const Field& status, Workload& workload) {
  const Field admission = status["admission"];
  workload.cluster_queue = admission["clusterQueue"].Str();
  for (const Field& assignment : admission["podSetAssignments"].Items()) {
    TakeAssignment(assignment, workload.pod_sets);
  }
  for (const Field& reclaimed : status["reclaimablePods"].Items()) {
    TakeReclaimed(reclaimed, workload.pod_sets);
  }
  workload.past_seconds = status["accumulatedPastExecutionTimeSeconds"].Int();
  const Field conditions = status["conditions"];
  workload.conditions = DecodeConditions(conditions);
  if (conditions.present()) workload.conditions_json = MakeRaw(*conditions.json());
  const Field checks = status["admissionChecks"];
  for (const Field& check : checks.Items()) workload.checks.push_back(DecodeCheckState(check));
  if (checks.present()) workload.checks_json = MakeRaw(*checks.json());
}

}  // namespace

std::string_view CheckStateName(CheckState state) {
  return kCheckStates[static_cast<std::size_t>(state)];
}

std::string_view QueueOf(const ObjectMeta& meta) {
  const auto asked = meta.labels.At(kQueueNameLabel);
  return asked ? *asked : meta.labels.At(kLocalQueueLabel).value_or("");
}

const OwnerReference* ControllingWorkload(const ObjectMeta& meta) {
  constexpr std::string_view kKueue = "kueue.x-k8s.io/";
  for (const OwnerReference& owner : meta.owners) {
    if (owner.controller && owner.kind == "Workload" && owner.api_version.starts_with(kKueue)) {
      return &owner;
    }
  }
  return nullptr;
}

fabric::Resources DecodePodRequests(const ObjectMeta& meta) {
  const auto text = meta.annotations.At(kPodRequestsAnnotation);
  if (!text || text->size() > kPodRequestsBytes) return {};
  const auto json = ParseJson(*text);
  if (!json.is_object()) return {};
  Decoding decoding(json, meta.key.name);
  fabric::Resources requests = DecodeResources(decoding.Root());
  return decoding.failed() ? fabric::Resources() : requests;
}

Result<Workload> DecodeWorkload(const nlohmann::json& object, const Place& place) {
  Workload workload;
  Decoding metadata(object, place), spec(object, place), status(object, place);
  workload.place = metadata.place();
  workload.meta = DecodeMeta(metadata.Root()["metadata"], Scope::kNamespaced);
  if (metadata.failed()) return metadata.status().error();
  DecodeSpec(spec.Root()["spec"], workload);
  if (spec.failed()) {
    workload.pod_sets.clear();  // no half-read value
    workload.unreadable = spec.why();
  }
  DecodeStatus(status.Root()["status"], workload);
  if (status.failed() && workload.unreadable.empty()) workload.unreadable = status.why();
  return workload;
}

Result<AdmissionCheck> DecodeAdmissionCheck(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  AdmissionCheck check;
  check.place = decoding.place();
  check.meta = DecodeMeta(root["metadata"], Scope::kCluster);
  check.controller = root["spec"]["controllerName"].Str();
  const Field parameters = root["spec"]["parameters"];
  check.parameters = {parameters["apiGroup"].Str(), parameters["kind"].Str(),
                      parameters["name"].Str()};
  check.conditions = DecodeConditions(root["status"]["conditions"]);
  if (Status done = decoding.status(); !done) return done.error();
  return check;
}

Result<ResourceFlavor> DecodeResourceFlavor(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root(), spec = root["spec"];
  ResourceFlavor flavor;
  flavor.place = decoding.place();
  flavor.meta = DecodeMeta(root["metadata"], Scope::kCluster);
  flavor.node_labels = spec["nodeLabels"].StrMap();
  // A flavor's tolerations are those of a pod.
  flavor.tolerations = DecodePodSpec(spec).tolerations;
  flavor.topology_name = spec["topologyName"].Str();
  if (Status done = decoding.status(); !done) return done.error();
  return flavor;
}

}  // namespace weft::api
