#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/failure_policy.h"
#include "operator/api/pod.h"

namespace weft::life {

// The rule of failurePolicy.rules that decides what follows a failure.
struct RuleMatch {
  api::FailureAction action = api::FailureAction::kRestart;
  const api::Pod* pod = nullptr;  // whose failure it is
  std::string text;  // "failurePolicy.rules[0] (FailJob) matches exit code 93 of container trainer"
};

// The first rule that matches. A rule with exit codes and the operator In is tried on all `failed`
// pods, in their order: a program that ends with a code of its own says something, whoever failed
// first. Other rules are tried on the pod that is `blamed` only, since its peers end with any code.
std::optional<RuleMatch> MatchRule(const std::vector<api::FailureRule>& rules,
                                   const std::vector<const api::Pod*>& failed,
                                   const api::Pod* blamed);

}  // namespace weft::life
