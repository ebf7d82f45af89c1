#include <utility>

#include "operator/api/admission.h"
#include "operator/api/conditions.h"
#include "operator/api/decode.h"
#include "operator/api/decode_checkpoint.h"
#include "operator/api/decode_failure_policy.h"
#include "operator/api/decode_framework.h"
#include "operator/api/decode_model.h"
#include "operator/api/decode_own.h"
#include "operator/api/decode_topology.h"
#include "operator/api/names.h"
#include "operator/api/pod_requirements.h"
#include "operator/base/units.h"
#include "operator/traffic/check_shape.h"
#include "operator/traffic/traffic.h"

namespace weft::api {
namespace {

// The number of devices that the template's containers may use together.
std::int64_t TemplateLimit(const Field& pod_spec, const std::string& resource) {
  std::int64_t sum = 0;
  for (const Field& container : pod_spec["containers"].Items()) {
    sum = SaturatingAdd(sum, container["resources"]["limits"][resource].Quantity());
  }
  return sum;
}

// Of a job with deviceClassName Weft makes the claims of the accelerators.
void RefuseOtherDevices(const Field& pod_spec) {
  for (const Field& container : pod_spec["containers"].Items()) {
    for (const Field& limit : container["resources"]["limits"].Members()) {
      if (fabric::IsAcceleratorResource(std::string(limit.key()))) {
        limit.Fail("must be absent with accelerator.deviceClassName");
      }
    }
  }
  for (const Field& claim : pod_spec["resourceClaims"].Items()) {
    if (claim["name"].Str() == kAcceleratorClaim) {
      claim["name"].Fail("is the name of the claim that accelerator.deviceClassName makes");
    }
  }
}

void SettlePerWorker(const Field& spec, std::int64_t limit, Accelerator& accelerator) {
  const Field field = spec["accelerator"]["perWorker"];
  if (!accelerator.device_class.empty()) {
    field.Require();
    return RefuseOtherDevices(spec["workers"]["template"]["spec"]);
  }
  std::string limited = "the containers of the template are limited to " + std::to_string(limit) +
                        " " + accelerator.resource_name;
  if (limit == 0 && spec["workers"]["template"]["spec"]["resourceClaims"].present()) {
    limited += " (for accelerators of a DRA driver set accelerator.deviceClassName and perWorker)";
  }
  if (field.present()) {
    if (limit != accelerator.per_worker) {
      field.Fail("does not fit the template: " + limited);
    }
    return;
  }
  if (limit < kPerWorker.min || limit > kPerWorker.max) {
    return field.Fail("is absent, and " + limited + "; must be between 1 and " +
                      std::to_string(kPerWorker.max));
  }
  accelerator.per_worker = static_cast<std::uint32_t>(limit);
}

void DecodeWorkers(const Field& spec, TrainingJob& job) {
  const Field workers = spec["workers"];
  const Field replicas = workers["replicas"], pod = workers["template"];
  const bool bare = spec.reading() == Reading::kModel && !replicas.present();
  if (!bare) workers.Require();
  workers.RefuseUnknown({"replicas", "template"});
  if (!bare) replicas.Require();
  job.replicas = static_cast<std::uint32_t>(replicas.Int(kReplicas));
  if (bare && !pod.present()) return;
  const Field pod_spec = pod.Require()["spec"].Require();
  const Field restart_policy = pod_spec["restartPolicy"];
  if (restart_policy.present() && restart_policy.Str() != "Never") {
    restart_policy.Fail("must be Never or absent: the gang restarts as a whole");
  }
  pod_spec["containers"].Require();
  TextMap labels = pod["metadata"]["labels"].Texts();
  job.pod = DecodePodSpec(pod_spec, labels);
  job.pod.labels = std::move(labels);
  job.claims = DecodeClaims(pod_spec, pod_spec["status"]);  // which a PodSpec does not have
  job.pod.claims_accelerators = !job.accelerator.device_class.empty();
  job.priority_class_name = pod_spec["priorityClassName"].Str();
  job.runtime_class_name = pod_spec["runtimeClassName"].Str();
  job.states_overhead = pod_spec["overhead"].present();
  SettlePerWorker(spec, TemplateLimit(pod_spec, job.accelerator.resource_name), job.accelerator);
}

void DecodeSpec(const Field& spec, TrainingJob& job) {
  spec.Require().RefuseUnknown({"suspend", "fabricName", "framework", "accelerator", "workers",
                                "model", "parallelism", "topology", "startupTimeoutSeconds",
                                "activeDeadlineSeconds", "expectedDurationSeconds",
                                "ttlSecondsAfterFinished", "failurePolicy", "checkpoint"});
  job.suspend = spec["suspend"].Bool();
  job.fabric_name = ReadFabricName(spec["fabricName"]);
  job.framework = DecodeFramework(spec["framework"]);
  job.accelerator = DecodeAccelerator(spec["accelerator"]);
  DecodeWorkers(spec, job);
  job.model = DecodeModel(spec["model"], job.replicas == 0 ? ModelOf::kBare : ModelOf::kJob);
  job.parallelism = DecodeParallelism(spec["parallelism"]);
  job.topology = DecodeTopology(spec["topology"]);
  if (job.topology.compute_domain) {
    if (job.pod.claims_compute_domain) {
      spec["topology"]["computeDomain"].Fail(
          "must be absent if the template's resourceClaims name a ComputeDomain");
    }
    job.pod.claims_compute_domain = true;
  }
  job.startup_timeout_seconds =
      spec["startupTimeoutSeconds"].Int(kSeconds, job.startup_timeout_seconds);
  job.active_deadline_seconds = spec["activeDeadlineSeconds"].OptionalInt(kSeconds);
  job.expected_duration_seconds = spec["expectedDurationSeconds"].OptionalInt(kSeconds);
  job.ttl_seconds_after_finished = spec["ttlSecondsAfterFinished"].OptionalInt(kSecondsOrZero);
  const Field pod_spec = spec["workers"]["template"]["spec"];
  job.failure_policy =
      DecodeFailurePolicy(spec["failurePolicy"], job.attempt > 0 ? nullptr : &pod_spec);
  job.checkpoint = DecodeCheckpoint(spec["checkpoint"]);
}

JobRecord DecodeRecord(const Field& status) {
  JobRecord record;
  record.observed_generation = status["observedGeneration"].Int();
  record.restarts = status["restarts"].Int({.min = 0});
  record.completed_indexes = status["completedIndexes"].Str();
  record.start_time = status["startTime"].Str();
  record.completion_time = status["completionTime"].Str();
  record.suspended_seconds = status["suspendedSeconds"].Int({.min = 0});
  const Field summary = status["summary"];
  record.summary = {summary["workers"].Str(),   summary["spans"].Str(),
                    summary["crossNode"].Str(), summary["ofBest"].Str(),
                    summary["step"].Str(),      summary["tokensPerSecond"].Str(),
                    summary["memory"].Str()};
  const Field workers = status["workers"];
  record.workers = {workers["desired"].Int(), workers["ready"].Int(), workers["succeeded"].Int(),
                    workers["failed"].Int()};
  if (const Field last = status["lastFailure"]; last.present()) {
    record.last_failure =
        LastFailure{last["attempt"].Int(), last["worker"].Int(),   last["node"].Str(),
                    last["reason"].Str(),  last["exitCode"].Int(), last["time"].Str(),
                    last["message"].Str(), last["cause"].Str(),    last["counted"].Bool()};
  }
  record.excluded = DecodeExcludedNodes(status["excludedNodes"]);
  record.retry = DecodeRetry(status["retry"]);
  DecodeLosses(status, record);
  return record;
}

// The pod that counts is the one that admission makes of the template.
void Admit(const Field& field, TrainingJob& job) {
  const std::optional<Admission> admission = DecodeAdmission(field);
  // While the job has nodes, its pods are those of the generation that was tried.
  const Condition* placed = FindCondition(job.conditions, "Placed");
  const bool runs = placed != nullptr && placed->status == "True";
  if (!admission || (admission->observed_generation != job.meta.generation && !runs)) return;
  job.runtime_class_name.clear();
  if (admission->requests) job.pod.requests = *admission->requests;
  if (admission->node_selector) job.pod.node_selector = *admission->node_selector;
  if (admission->tolerations) job.pod.tolerations = *admission->tolerations;
  if (admission->node_selector_terms) {
    job.pod.required_affinity = *admission->node_selector_terms;
  }
  if (!admission->priority_class_name.empty()) {
    job.priority_class_name = admission->priority_class_name;
  }
}

// What the queue that admitted the job adds to its pods.
void TakeQueue(const Field& field, TrainingJob& job) {
  if (!field.present()) return;
  rules::PodRequirements added = DecodePodSpec(field);
  job.pod.node_selector.insert(added.node_selector.begin(), added.node_selector.end());
  for (rules::Toleration& one : added.tolerations) {
    job.pod.tolerations.push_back(std::move(one));
  }
}

void ReadHeldOf(const Field& root, TrainingJob& job) {
  const Field status = root["status"];
  job.attempt = status["attempt"].Int({.min = 0});
  job.placement_name = status["placementName"].Str();
  job.conditions = DecodeConditions(status["conditions"]);
  job.record = DecodeRecord(status);
}

void ReadSpecOf(const Field& root, TrainingJob& job) {
  ReadJobName(root["metadata"]["name"]);
  DecodeSpec(root["spec"], job);
  Admit(root["status"]["admission"], job);
  TakeQueue(root["status"]["queue"], job);
}

Status Check(const TrainingJob& job) {
  if (job.replicas == 0) return {};  // a bare model
  const Status shape =
      traffic::CheckShape(job.model, job.parallelism, job.replicas, job.accelerator.per_worker);
  if (!shape) return Invalid("spec." + shape.error().message);
  return {};
}

}  // namespace

Result<TrainingJob> DecodeTrainingJob(const nlohmann::json& object, const Place& place,
                                      Reading reading) {
  constexpr OwnKind<TrainingJob> kParts = {Scope::kNamespaced, ReadHeldOf, ReadSpecOf, Check};
  return DecodeOwn(kParts, object, place, reading);
}

}  // namespace weft::api
