#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/devices.h"
#include "operator/api/meta.h"
#include "operator/base/result.h"
#include "operator/base/shared_list.h"
#include "operator/rules/pod_requirements.h"

namespace weft::api {

// Kinds of Kueue, with only the fields that Weft reads.
// Source  kubernetes-sigs/kueue 0.19, apis/kueue/v1beta2.
inline constexpr const char* kKueueGroup = "kueue.x-k8s.io";
inline constexpr const char* kKueueVersion = "v1beta2";

// spec.controllerName of the AdmissionChecks that Weft answers.
inline constexpr const char* kCheckController = "weft.dev/placement";

// Label of a job: the LocalQueue in which it waits.
inline constexpr const char* kQueueNameLabel = "kueue.x-k8s.io/queue-name";
// Label that Kueue gives the pods of a job that it has admitted: the same LocalQueue.
inline constexpr const char* kLocalQueueLabel = "kueue.x-k8s.io/local-queue-name";
// The LocalQueue that one of these labels names; "" if none does.
std::string_view QueueOf(const ObjectMeta& meta);
// Label of a job: its WorkloadPriorityClass.
inline constexpr const char* kQueuePriorityLabel = "kueue.x-k8s.io/priority-class";
// Label of a job: seconds that it may run in total, over all its admissions.
inline constexpr const char* kMostSecondsLabel = "kueue.x-k8s.io/max-exec-time-seconds";
// Finalizer of a Workload whose job may still run.
inline constexpr const char* kWorkloadFinalizer = "kueue.x-k8s.io/resource-in-use";
// Name of the only pod set of a TrainingJob.
inline constexpr const char* kWorkersPodSet = "workers";

// Pods of one template.
struct PodSet {
  std::string name;
  // As admitted, with those that have succeeded before; without a reservation, as requested.
  std::uint32_t count = 0;
  std::uint32_t asked = 0;      // as requested
  std::uint32_t succeeded = 0;  // of them, as status.reclaimablePods says
  rules::PodRequirements pod;
  std::vector<ClaimReference> claims;  // resourceClaims of the template
  std::string priority_class_name;
  TextMap labels, annotations;  // of the template
  bool gated = false;           // the template has Weft's scheduling gate
  // topologyRequest: a pod's index is groups' label x (count / groups) + index label. "" and 0 if
  // Kueue does not say.
  std::string index_label, group_label;
  std::uint32_t groups = 0;
  std::vector<std::string> flavors;  // assigned, each once; empty without a reservation
};

// The state of an admission check, in Kueue's words.
enum class CheckState : std::uint8_t { kPending, kReady, kRetry, kRejected };
std::string_view CheckStateName(CheckState state);

// An entry of status.admissionChecks.
struct AdmissionCheckState {
  std::string name;
  CheckState state = CheckState::kPending;
  std::string message;
  std::string last_transition_time;
  std::map<std::string, TextMap> labels;  // podSetUpdates, by pod set
};

// The Workload of Kueue that controls the object, by owner reference; nullptr if there is none.
const OwnerReference* ControllingWorkload(const ObjectMeta& meta);

// Annotation of a Placement that gets nodes before its pods exist: a JSON object with what one of
// them requests, such as {"cpu":"32","nvidia.com/gpu":"8"}.
inline constexpr const char* kPodRequestsAnnotation = "weft.dev/pod-requests";
// Reads it. If it is absent or not a list of resources, nothing is known.
fabric::Resources DecodePodRequests(const ObjectMeta& meta);

// What Kueue admits: the pods of one job, with their quota.
struct Workload {
  Place place;
  ObjectMeta meta;
  std::string unreadable;  // why spec or status cannot be read; "" if both can
  bool active = true;
  std::int64_t priority = 0;
  std::string priority_class;
  std::string queue;
  std::vector<PodSet> pod_sets;
  // status
  std::string cluster_queue;  // that reserved quota; "" without a reservation
  std::vector<Condition> conditions;
  std::vector<AdmissionCheckState> checks;
  std::int64_t past_seconds = 0;               // accumulatedPastExecutionTimeSeconds
  std::optional<std::int64_t> waited_seconds;  // never read (life/as_of.h)
  Raw checks_json, conditions_json;  // status.admissionChecks and status.conditions as read
};

struct AdmissionCheck {
  Place place;
  ObjectMeta meta;
  std::string controller;
  struct Parameters {
    std::string group, kind, name;
    bool empty() const { return group.empty() && kind.empty() && name.empty(); }
    friend bool operator==(const Parameters&, const Parameters&) = default;
  } parameters;
  std::vector<Condition> conditions;
};

struct ResourceFlavor {
  Place place;
  ObjectMeta meta;
  std::map<std::string, std::string> node_labels;
  std::vector<rules::Toleration> tolerations;
  std::string topology_name;  // not "": Kueue chooses the nodes
};

// Objects of Kueue in the inputs. Decisions read none of them: they say what waits in its queues.
struct KueueInputs {
  SharedList<Workload> workloads;
  std::vector<AdmissionCheck> admission_checks;
  std::vector<ResourceFlavor> resource_flavors;
};

// Decoders of objects that an API server stored (decode.h). A Workload whose spec or status has
// unexpected types is returned with `unreadable` set.
// Errors  kInvalid for metadata, and for any field of the other two kinds.
Result<Workload> DecodeWorkload(const nlohmann::json& object, const Place& place);
Result<AdmissionCheck> DecodeAdmissionCheck(const nlohmann::json& object, const Place& place);
Result<ResourceFlavor> DecodeResourceFlavor(const nlohmann::json& object, const Place& place);

}  // namespace weft::api
