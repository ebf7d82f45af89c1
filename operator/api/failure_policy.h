#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::api {

// What follows a failure that a rule matches; kFailureActionNames (names.h) has the words.
enum class FailureAction : std::uint8_t {
  kFailJob,      // no further attempt
  kReplaceNode,  // a restart that does not count, without the node of the failure
  kIgnore,       // a restart that does not count
  kRestart,      // a restart that counts, also after a failure of the infrastructure
};

// A rule of failurePolicy.rules, in the shape of a Job's podFailurePolicy: it has exactly one of
// exit_codes and pod_conditions.
//
// Source  k8s.io/api batch/v1, PodFailurePolicyRule.
struct FailureRule {
  struct ExitCodes {
    std::string container;  // "": any
    bool in = true;         // operator In, else NotIn
    std::vector<std::int64_t> values;
  };
  struct OnCondition {
    std::string type, status;
  };
  FailureAction action = FailureAction::kRestart;
  std::optional<ExitCodes> exit_codes;
  std::vector<OnCondition> pod_conditions;  // any of them
};

struct FailurePolicy {
  std::int64_t max_restarts = 0;
  std::optional<std::int64_t> reset_after_seconds;
  std::string infrastructure = "RestartUncounted";
  std::vector<FailureRule> rules;  // the first that matches decides
};

}  // namespace weft::api
