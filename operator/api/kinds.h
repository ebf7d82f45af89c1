#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/devices.h"
#include "operator/api/framework.h"
#include "operator/api/job_record.h"
#include "operator/api/kueue.h"
#include "operator/api/meta.h"
#include "operator/base/shared_list.h"
#include "operator/fabric/node_facts.h"
#include "operator/fabric/spec.h"
#include "operator/rules/pod_requirements.h"
#include "operator/traffic/spec.h"

namespace weft::api {

// An entry of models or capacityTypes that allows a gang to mix nodes of all of them.
inline constexpr const char* kAnyPool = "Any";

struct Accelerator {
  std::string resource_name = "nvidia.com/gpu";
  std::uint32_t per_worker = 0;  // 0: absent; decoding sets the template's limit
  // In order of preference; empty: any one product, but never mixed (fabric/pools.h).
  std::vector<std::string> models = {};
  std::vector<std::string> capacity_types = {};  // OnDemand, Spot, Any
};

struct GroupSpec {
  std::vector<traffic::Axis> axes;
  std::string required, preferred;  // level names; "" if absent
};

struct TopologySpec {
  std::string required, preferred;  // level names; "" if absent
  std::optional<std::int64_t> wait_for_preferred_seconds;
  std::vector<GroupSpec> groups;
  bool compute_domain = false;  // computeDomain: Auto
};

struct FailurePolicy {
  std::int64_t max_restarts = 0;
  std::optional<std::int64_t> reset_after_seconds;
  std::string infrastructure = "RestartUncounted";
};

struct TrainingJob {
  Place place;
  ObjectMeta meta;
  // Why the spec cannot be read; "" if it can. If set, all fields of the spec are defaults.
  std::string unreadable;
  bool suspend = false;
  std::string fabric_name;
  Framework framework;
  Accelerator accelerator;
  std::uint32_t replicas = 0;      // 0: a bare model (Reading::kModel of decode.h)
  placement::PodRequirements pod;  // of workers.template
  std::string priority_class_name;
  std::optional<traffic::Model> model;
  traffic::Parallelism parallelism;
  TopologySpec topology;
  std::int64_t startup_timeout_seconds = 900;
  std::optional<std::int64_t> active_deadline_seconds;
  std::optional<std::int64_t> expected_duration_seconds;
  std::optional<std::int64_t> ttl_seconds_after_finished;
  FailurePolicy failure_policy;
  // status
  std::int64_t attempt = 0;
  std::string placement_name;
  std::vector<Condition> conditions;
  JobRecord record;
  Raw raw;
};

struct IndexLabel {
  std::string key;
  std::int64_t stride = 1;
  // What the label's texts count as; empty: the label is a number.
  std::map<std::string, std::int64_t> values = {};
};

struct Placement {
  Place place;
  ObjectMeta meta;
  // Why the spec cannot be read; "" if it can. If set, its fields are defaults, except the
  // accelerator, and `workers`, which is then the number of nodes.
  std::string unreadable;
  std::uint32_t workers = 0;
  std::string fabric_name;
  Accelerator accelerator;
  std::optional<traffic::Model> model;
  traffic::Parallelism parallelism;
  TopologySpec topology;
  std::optional<fabric::LabelSelector> pod_selector;
  std::vector<IndexLabel> worker_index_labels;
  // status
  std::vector<std::string> nodes;  // index = worker; empty until placed
  std::vector<ExcludedNode> excluded;
  Retry retry;
  std::vector<Condition> conditions;
  Raw raw;
};

struct Fabric {
  Place place;
  ObjectMeta meta;
  // Why the spec cannot be read; "" if it can. If set, all fields of the spec are defaults.
  std::string unreadable;
  fabric::FabricSpec spec;
  Raw raw;
};

struct Node {
  Place place;
  ObjectMeta meta;         // name and uid only; labels are in facts
  std::string unreadable;  // why only its name is known; "" if all is known
  fabric::NodeFacts facts;
};

// The part of a Pod that Weft reads.
struct Pod {
  Place place;
  ObjectMeta meta;  // without annotations whose values are too long for a label
  // Why only metadata, node and phase are known; "" if all is known. If set, the pod counts as
  // using all of its node.
  std::string unreadable;
  std::string node_name;  // spec.nodeName; "" if unbound
  std::string phase;      // Pending, Running, Succeeded, Failed, Unknown
  std::vector<std::string> scheduling_gates;
  placement::PodRequirements pod;
  std::vector<ClaimReference> claims;  // spec.resourceClaims
  std::string priority_class_name;
  std::string reason;          // status.reason: "Evicted", "NodeLost", "UnexpectedAdmissionError"
  std::string nominated_node;  // status.nominatedNodeName: kube-scheduler preempts pods on it
  bool ready = false;          // condition Ready
  bool disrupted = false;      // condition DisruptionTarget: preempted, drained, tainted
  std::string unscheduled;     // why kube-scheduler finds no node, in kube-scheduler's words
  // The first container that failed.
  struct Failure {
    std::string container, reason;
    std::int64_t exit_code = 0;
    std::string message;     // why the container could not be started
    std::int64_t ended = 0;  // Unix seconds; 0 if the kubelet does not report it
  };
  std::optional<Failure> failure;
  std::string waiting;  // why a container has not started, except for usual reasons
  std::string report;   // lines of termination messages that begin with "weft " (life/verify.h)
  bool Holds() const;   // bound and not finished: its requests count as used
};

struct PriorityClass {
  Place place;
  ObjectMeta meta;
  std::int64_t value = 0;
  bool global_default = false;
  std::string preemption_policy = "PreemptLowerPriority";  // or Never
};

struct Namespace {
  Place place;
  ObjectMeta meta;
};

// The name of the ConfigMap that says what measured steps have taught (decide/learned_step.h).
inline constexpr const char* kLearnedSteps = "weft-learned-steps";

struct ConfigMap {
  Place place;
  ObjectMeta meta;
  std::map<std::string, std::string> data;
};

// All that a decision reads, in input order within each kind.
struct Inputs : DeviceInputs, KueueInputs {
  SharedList<Node> nodes;
  SharedList<Pod> pods;
  std::vector<PriorityClass> priority_classes;
  std::vector<Namespace> namespaces;
  std::vector<Fabric> fabrics;
  SharedList<TrainingJob> jobs;
  SharedList<Placement> placements;
  // TrainingJobs and Placements in the order in which they were read.
  struct OrderEntry {
    bool is_job = true;
    std::size_t index = 0;
  };
  std::vector<OrderEntry> order;
  std::vector<std::string> notes;  // unknown kinds that were ignored, each once
  // Added to every Fabric, and looked up before its own.
  std::vector<fabric::AcceleratorSpec> accelerators;
  std::optional<ConfigMap> learned_steps;  // kLearnedSteps; other ConfigMaps are ignored
};

}  // namespace weft::api
