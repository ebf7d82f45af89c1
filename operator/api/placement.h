#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/accelerator.h"
#include "operator/api/devices.h"
#include "operator/api/job_record.h"
#include "operator/api/meta.h"
#include "operator/api/topology_spec.h"
#include "operator/api/wait_facts.h"
#include "operator/fabric/spec.h"
#include "operator/rules/pod_requirements.h"
#include "operator/traffic/spec.h"

namespace weft::api {

struct IndexLabel {
  std::string key;
  std::int64_t stride = 1;
  // What the label's texts count as; empty: the label is a number.
  std::map<std::string, std::int64_t> values = {};
};

// Of a Placement that a Workload of Kueue asks for: it has quota, but no pods yet.
struct Proposal {
  rules::PodRequirements pod;  // of its coming pods
  std::string pod_set;
  std::string bundle;         // Placements of one bundle get nodes all together or not at all
  std::int64_t priority = 0;  // of the Workload
  std::vector<ClaimReference> claims = {};  // resourceClaims of its coming pods
  std::string priority_class_name = {};     // of its coming pods
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
  std::optional<Proposal> proposal;  // set by the planner, never read from JSON
  // status
  std::vector<std::string> nodes;  // index = worker; empty until placed
  std::vector<ExcludedNode> excluded;
  Retry retry;
  std::vector<Condition> conditions;
  WaitFacts wait;  // read from files only
  Raw raw;
};

}  // namespace weft::api
