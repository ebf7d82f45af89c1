#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/rare.h"
#include "operator/base/text_map.h"
#include "operator/fabric/node_facts.h"
#include "operator/fabric/pod_terms.h"
#include "operator/fabric/spec.h"
#include "operator/rules/node_selector_term.h"
#include "operator/rules/volume_rules.h"

namespace weft::rules {

struct Toleration {
  std::string key, op = "Equal", value, effect;  // op: Equal, Exists, Lt, Gt

  friend bool operator==(const Toleration&, const Toleration&) = default;
};

// One preferredDuringScheduling term.
struct PreferredTerm {
  std::int64_t weight = 1;
  NodeSelectorTerm term;

  friend bool operator==(const PreferredTerm&, const PreferredTerm&) = default;
};

// The requirements of a worker's pod template on its node, and its wishes.
struct PodRequirements {
  // Effective requests as kube-scheduler computes them: max(sum of containers + restartable init
  // containers, each init container) + overhead; a missing request is the limit.
  fabric::Resources requests;
  std::map<std::string, std::string> node_selector;
  // requiredDuringSchedulingIgnoredDuringExecution: one term must match; absent: no restriction.
  std::optional<std::vector<NodeSelectorTerm>> required_affinity;
  Rare<std::vector<PreferredTerm>> preferred;  // node affinity
  std::vector<Toleration> tolerations;
  bool claims_compute_domain = false;  // a resourceClaim for a ComputeDomain channel
  bool claims_accelerators = false;    // by ResourceClaims, not by an extended resource
  std::string node_name;               // spec.nodeName; pins the pod
  // Of the job, not of the pod: for each level that its workers must share, labels without any of
  // which a node is in no domain of it (placement/level_labels.h).
  std::vector<std::vector<std::string>> level_labels;
  Rare<fabric::PodTerms> terms;  // on other pods
  Rare<VolumeRules> volumes;     // filled in by cluster/volumes.h
  TextMap labels;                // of the pods of a template; a Pod has them in its metadata

  friend bool operator==(const PodRequirements&, const PodRequirements&) = default;
};

}  // namespace weft::rules
