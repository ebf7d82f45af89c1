#include "operator/life/failure_rules.h"

#include <algorithm>

#include "operator/api/names.h"

namespace weft::life {
namespace {

// "exit code 93 of container trainer", or "" if the pod has no such exit.
std::string MatchExit(const api::FailureRule::ExitCodes& rule, const api::Pod& pod) {
  if (pod.phase != api::PodPhase::kFailed) return "";  // a sidecar of a pod that runs
  for (const api::Pod::Exit& exit : pod.exits) {
    if (!rule.container.empty() && rule.container != exit.container) continue;
    const bool listed =
        std::find(rule.values.begin(), rule.values.end(), exit.code) != rule.values.end();
    if (listed != rule.in) continue;
    return "exit code " + std::to_string(exit.code) + " of container " + exit.container;
  }
  return "";
}

std::string MatchConditions(const std::vector<api::FailureRule::OnCondition>& wanted,
                            const api::Pod& pod) {
  for (const api::Pod::Condition& is : pod.conditions) {
    if (std::any_of(wanted.begin(), wanted.end(), [&](const auto& one) {
          return one.type == is.type && one.status == is.status;
        })) {
      return "the pod's condition " + is.type + "=" + is.status;
    }
  }
  return "";
}

std::string Matched(const api::FailureRule& rule, const api::Pod& pod) {
  return rule.exit_codes ? MatchExit(*rule.exit_codes, pod)
                         : MatchConditions(rule.pod_conditions, pod);
}

}  // namespace

std::optional<RuleMatch> MatchRule(const std::vector<api::FailureRule>& rules,
                                   const std::vector<const api::Pod*>& failed,
                                   const api::Pod* blamed) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const api::FailureRule& rule = rules[i];
    const bool on_all = rule.exit_codes && rule.exit_codes->in;
    const api::Pod* pod = blamed;
    std::string what = blamed == nullptr ? "" : Matched(rule, *blamed);
    for (std::size_t p = 0; on_all && what.empty() && p < failed.size(); ++p) {
      pod = failed[p];
      what = Matched(rule, *pod);
    }
    if (what.empty()) continue;
    const auto name = api::NameOf(api::kFailureActionNames, rule.action);
    return RuleMatch{rule.action, pod,
                     "failurePolicy.rules[" + std::to_string(i) + "] (" + std::string(name) +
                         ") matches " + what};
  }
  return std::nullopt;
}

}  // namespace weft::life
