#include "operator/plan/snapshot_objects.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "operator/api/encode.h"
#include "operator/api/encode_pod.h"
#include "operator/api/pod_terms.h"

namespace weft::plan {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Only the presence of the field matters here, not the time.
constexpr const char* kSomeTime = "1970-01-01T00:00:00Z";
// A claim of this name is recognised as that of a ComputeDomain.
constexpr const char* kComputeDomainClaim = "compute-domain-channel";

// Whether decisions read the annotation: indices of pods.
bool IsRead(std::string_view key) {
  constexpr std::string_view kPrefixes[] = {"weft.dev/",
                                            "batch.kubernetes.io/",
                                            "jobset.sigs.k8s.io/",
                                            "leaderworkerset.sigs.k8s.io/",
                                            "training.kubeflow.org/",
                                            "apps.kubernetes.io/"};
  if (key == predict::kReleaseAnnotation) return true;
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return key.starts_with(prefix); }) &&
         key.ends_with("index");
}

OrderedJson Metadata(const api::ObjectMeta& meta) {
  OrderedJson out = {{"name", meta.key.name}};
  if (!meta.key.space.empty()) out["namespace"] = meta.key.space;
  if (!meta.uid.empty()) out["uid"] = meta.uid;
  if (!meta.creation_timestamp.empty()) out["creationTimestamp"] = meta.creation_timestamp;
  if (meta.deleting) out["deletionTimestamp"] = kSomeTime;
  if (!meta.labels.empty()) out["labels"] = meta.labels;
  for (const auto& [key, value] : meta.annotations) {
    if (IsRead(key)) out["annotations"][key] = value;
  }
  for (const api::OwnerReference& owner : meta.owners) {
    if (!owner.controller) continue;
    out["ownerReferences"].push_back({{"apiVersion", owner.api_version},
                                      {"kind", owner.kind},
                                      {"name", owner.name},
                                      {"uid", owner.uid},
                                      {"controller", true}});
  }
  return out;
}

OrderedJson Object(const char* version, const char* kind, const api::ObjectMeta& meta) {
  return {{"apiVersion", version}, {"kind", kind}, {"metadata", Metadata(meta)}};
}

// With the facts as annotations.
OrderedJson Waiting(const char* kind, const api::ObjectMeta& meta, const api::WaitFacts& wait) {
  OrderedJson out = Object("weft.dev/v1alpha1", kind, meta);
  TextMap annotations;
  api::EncodeWaitFacts(wait, annotations);
  for (const auto& [key, value] : annotations) out["metadata"]["annotations"][key] = value;
  return out;
}

using Terms = std::vector<rules::NodeSelectorTerm>;

// The terms of which one holds where one of `a` and one of `b` hold. An empty term never holds.
Terms Both(const Terms& a, const Terms& b) {
  const auto empty = [](const rules::NodeSelectorTerm& term) {
    return term.match_expressions.empty() && term.match_fields.empty();
  };
  Terms both;
  for (const rules::NodeSelectorTerm& first : a) {
    for (const rules::NodeSelectorTerm& second : b) {
      if (empty(first) || empty(second)) continue;
      rules::NodeSelectorTerm& term = both.emplace_back(first);
      const auto append = [](const auto& from, auto& to) {
        to.insert(to.end(), from.begin(), from.end());
      };
      append(second.match_expressions, term.match_expressions);
      append(second.match_fields, term.match_fields);
    }
  }
  return both;
}

// The required node affinity, and the places of allocated ResourceClaims, which are left out of a
// snapshot (cluster/claim_rules.h; those of volumes are not among the rules of a job or pod).
std::optional<Terms> AffinityOf(const rules::PodRequirements& pod) {
  std::optional<Terms> terms = pod.required_affinity;
  for (const rules::VolumeRules::Place& place : pod.volumes->places) {
    terms = terms ? Both(*terms, place.terms) : place.terms;
  }
  return terms;
}

// `limits`: further limits that the template needs; {} for a pod.
// `name`: of the pod; "" for a template.
OrderedJson PodSpec(const rules::PodRequirements& pod, const fabric::Resources& limits,
                    const std::string& name) {
  OrderedJson resources = {{"requests", api::EncodeResources(pod.requests)}};
  if (!limits.empty()) resources["limits"] = api::EncodeResources(limits);
  OrderedJson container = {{"name", "worker"}, {"resources", std::move(resources)}};
  OrderedJson spec = {{"containers", OrderedJson::array({std::move(container)})}};
  if (!pod.node_name.empty()) spec["nodeName"] = pod.node_name;
  if (!pod.node_selector.empty()) spec["nodeSelector"] = pod.node_selector;
  if (const auto affinity = AffinityOf(pod)) spec["affinity"] = api::EncodeAffinity(*affinity);
  if (pod.preferred.present()) {
    spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] =
        api::EncodePreferred(*pod.preferred);
  }
  if (!pod.tolerations.empty()) spec["tolerations"] = api::EncodeTolerations(pod.tolerations);
  if (pod.claims_compute_domain) {
    spec["resourceClaims"] = OrderedJson::array({{{"name", kComputeDomainClaim}}});
  }
  api::EncodePodTerms(*pod.terms, spec, name);
  return spec;
}

// Conditions without messages and times, which decisions do not read.
OrderedJson Conditions(const std::vector<api::Condition>& conditions) {
  OrderedJson out = OrderedJson::array();
  for (const api::Condition& condition : conditions) {
    out.push_back({{"type", condition.type}, {"status", condition.status}});
  }
  return out;
}

// The nodes of the snapshot offer the resource as which the devices of a DeviceClass count.
OrderedJson Counted(api::Accelerator accelerator) {
  accelerator.device_class.clear();
  return api::EncodeAccelerator(accelerator);
}

OrderedJson JobSpec(const api::TrainingJob& job) {
  OrderedJson spec = OrderedJson::object();
  if (job.suspend) spec["suspend"] = true;
  if (!job.fabric_name.empty()) spec["fabricName"] = job.fabric_name;
  spec["accelerator"] = Counted(job.accelerator);
  rules::PodRequirements requirements = job.pod;
  // computeDomain: Auto says the same.
  if (job.topology.compute_domain) requirements.claims_compute_domain = false;
  OrderedJson pod =
      PodSpec(requirements, {{job.accelerator.resource_name, job.accelerator.per_worker}}, "");
  if (!job.priority_class_name.empty()) pod["priorityClassName"] = job.priority_class_name;
  spec["workers"] = {{"replicas", job.replicas}, {"template", {{"spec", std::move(pod)}}}};
  if (!job.pod.labels.empty()) {
    spec["workers"]["template"]["metadata"]["labels"] = job.pod.labels;
  }
  if (job.model) spec["model"] = api::EncodeModel(*job.model);
  spec["parallelism"] = api::EncodeParallelism(job.parallelism);
  OrderedJson topology = api::EncodeTopology(job.topology);
  if (!topology.empty()) spec["topology"] = std::move(topology);
  if (job.active_deadline_seconds) spec["activeDeadlineSeconds"] = *job.active_deadline_seconds;
  if (job.expected_duration_seconds) {
    spec["expectedDurationSeconds"] = *job.expected_duration_seconds;
  }
  return spec;
}

}  // namespace

OrderedJson NodeObject(const api::Node& node) {
  api::ObjectMeta meta = node.meta;
  meta.key.name = node.facts.name;
  meta.labels = node.facts.labels;
  OrderedJson out = Object("v1", "Node", meta);
  api::EncodeNodeFacts(node.facts, out);
  return out;
}

OrderedJson PodObject(const api::Pod& pod) {
  OrderedJson out = Object("v1", "Pod", pod.meta);
  rules::PodRequirements requirements = pod.pod;
  requirements.node_name = pod.node_name;
  out["spec"] = PodSpec(requirements, {}, pod.meta.key.name);
  if (!pod.priority_class_name.empty()) out["spec"]["priorityClassName"] = pod.priority_class_name;
  if (pod.priority != 0) out["spec"]["priority"] = pod.priority;
  for (const std::string& gate : pod.scheduling_gates) {
    out["spec"]["schedulingGates"].push_back({{"name", gate}});
  }
  if (pod.phase != api::PodPhase::kNone) {
    out["status"]["phase"] = api::PodPhaseName(pod.phase);
  }
  if (!pod.nominated_node.empty()) out["status"]["nominatedNodeName"] = pod.nominated_node;
  return out;
}

OrderedJson JobObject(const api::TrainingJob& job) {
  OrderedJson out = Waiting("TrainingJob", job.meta, job.wait);
  out["spec"] = JobSpec(job);
  OrderedJson status = OrderedJson::object();
  if (job.attempt != 0) status["attempt"] = job.attempt;
  if (!job.placement_name.empty()) status["placementName"] = job.placement_name;
  if (!job.conditions.empty()) status["conditions"] = Conditions(job.conditions);
  if (!status.empty()) out["status"] = std::move(status);
  return out;
}

OrderedJson PlacementObject(const api::Placement& placement) {
  OrderedJson out = Waiting("Placement", placement.meta, placement.wait);
  out["spec"] = api::EncodePlacementSpec(placement);
  out["spec"]["accelerator"] = Counted(placement.accelerator);
  if (!placement.nodes.empty()) out["status"]["nodes"] = placement.nodes;
  if (!placement.conditions.empty()) {
    out["status"]["conditions"] = Conditions(placement.conditions);
  }
  return out;
}

OrderedJson PriorityClassObject(const api::PriorityClass& priority_class) {
  OrderedJson out = Object("scheduling.k8s.io/v1", "PriorityClass", priority_class.meta);
  out["value"] = priority_class.value;
  if (priority_class.global_default) out["globalDefault"] = true;
  out["preemptionPolicy"] = priority_class.preemption_policy;
  return out;
}

OrderedJson LearnedStepsObject(const api::Inputs& inputs, const predict::LearnedScalars& learned) {
  api::ObjectMeta meta;
  meta.key = {inputs.learned_steps ? inputs.learned_steps->meta.key.space : "weft-system",
              api::kLearnedSteps};
  OrderedJson out = Object("v1", "ConfigMap", meta);
  for (const auto& [key, entry] : learned.entries()) {
    predict::LearnedStep one = entry;
    one.counted.clear();
    out["data"][key] = predict::ShowLearnedStep(one);
  }
  return out;
}

OrderedJson NamespaceObject(const api::Namespace& space) {
  return Object("v1", "Namespace", space.meta);
}

}  // namespace weft::plan
