#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/devices.h"
#include "operator/api/meta.h"
#include "operator/rules/pod_requirements.h"

namespace weft::api {

// status.phase.
enum class PodPhase : std::uint8_t { kNone, kPending, kRunning, kSucceeded, kFailed, kUnknown };
// kUnknown for a word that is none of them, kNone for "".
PodPhase ParsePodPhase(std::string_view text);
std::string_view PodPhaseName(PodPhase phase);

// The part of a Pod that Weft reads.
struct Pod {
  Place place;
  ObjectMeta meta;  // without annotations whose values are too long for a label
  // Why only metadata, node and phase are known; "" if all is known. If set, the pod counts as
  // using all of its node.
  std::string unreadable;
  std::string node_name;  // spec.nodeName; "" if unbound
  PodPhase phase = PodPhase::kNone;
  std::vector<std::string> scheduling_gates;
  rules::PodRequirements pod;
  std::vector<ClaimReference> claims;  // spec.resourceClaims
  std::string priority_class_name;
  std::int64_t priority = 0;   // spec.priority
  std::string pod_group;       // spec.schedulingGroup: the PodGroup that it is in; "": none
  std::string reason;          // status.reason: "Evicted", "NodeLost", "UnexpectedAdmissionError"
  std::string nominated_node;  // status.nominatedNodeName: kube-scheduler preempts pods on it
  std::int64_t bound = 0;      // Unix seconds, by its condition PodScheduled; 0 if unknown
  bool ready = false;          // condition Ready, or all containers have ended well
  bool has_sandbox = false;    // condition PodReadyToStartContainers: network and volumes are there
  bool disrupted = false;      // condition DisruptionTarget: preempted, drained, tainted
  bool starting = false;       // a container is due to start; nothing says what it waits for
  std::string unscheduled;     // why kube-scheduler finds no node, in kube-scheduler's words
  // The first container that failed.
  struct Failure {
    std::string container, reason;
    std::int64_t exit_code = 0;
    std::string message;     // why it could not be started; else its termination message
    std::int64_t ended = 0;  // Unix seconds; 0 if the kubelet does not report it
    bool init = false;       // one of spec.initContainers
  };
  std::optional<Failure> failure;
  // Containers that ended with another code than 0.
  struct Exit {
    std::string container;
    std::int64_t code = 0;
  };
  std::vector<Exit> exits;
  // Conditions that are not among those that the kubelet gives every pod.
  struct Condition {
    std::string type, status, reason;
  };
  std::vector<Condition> conditions;
  // Containers that the kubelet has started again, and the last exit code before that. Not those of
  // spec.initContainers, whose sidecars may be started again at any time.
  struct Restarted {
    std::string container;
    std::int64_t times = 0, exit_code = 0;
  };
  std::vector<Restarted> restarted;
  std::string waiting;  // why a container has not started (container_wait.h)
  std::string report;   // lines of termination messages that begin with "weft " (life/verify.h)
  // Succeeded or Failed: its containers do not run again.
  bool HasEnded() const { return phase == PodPhase::kSucceeded || phase == PodPhase::kFailed; }
  bool Holds() const;  // bound and not ended: its requests count as used
};

}  // namespace weft::api
