#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/accelerator.h"
#include "operator/api/checkpoint.h"
#include "operator/api/devices.h"
#include "operator/api/failure_policy.h"
#include "operator/api/framework.h"
#include "operator/api/job_record.h"
#include "operator/api/meta.h"
#include "operator/api/topology_spec.h"
#include "operator/api/wait_facts.h"
#include "operator/rules/pod_requirements.h"
#include "operator/traffic/spec.h"

namespace weft::api {

struct TrainingJob {
  Place place;
  ObjectMeta meta;
  // Why the spec cannot be read; "" if it can. If set, all fields of the spec are defaults.
  std::string unreadable;
  bool suspend = false;
  std::string fabric_name;
  Framework framework;
  Accelerator accelerator;
  std::uint32_t replicas = 0;          // 0: a bare model (Reading::kModel of decode.h)
  rules::PodRequirements pod;          // of workers.template
  std::vector<ClaimReference> claims;  // resourceClaims of workers.template
  std::string priority_class_name;
  // Of the template; "" once its pod is known as admission makes it.
  std::string runtime_class_name;
  bool states_overhead = false;  // in the template: then it must equal that of the runtime class
  std::optional<traffic::Model> model;
  traffic::Parallelism parallelism;
  TopologySpec topology;
  std::int64_t startup_timeout_seconds = 900;
  std::optional<std::int64_t> active_deadline_seconds;
  std::optional<std::int64_t> expected_duration_seconds;
  std::optional<std::int64_t> ttl_seconds_after_finished;
  FailurePolicy failure_policy;
  std::optional<CheckpointSpec> checkpoint;
  // status
  std::int64_t attempt = 0;
  std::string placement_name;
  std::vector<Condition> conditions;
  JobRecord record;
  WaitFacts wait;  // read from files only
  Raw raw;
};

}  // namespace weft::api
