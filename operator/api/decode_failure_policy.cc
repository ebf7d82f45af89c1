#include "operator/api/decode_failure_policy.h"

#include "operator/api/decode.h"
#include "operator/api/names.h"

namespace weft::api {
namespace {

// As in a Job's podFailurePolicy.
constexpr std::size_t kFailureRulesAtMost = 20, kExitCodesAtMost = 255, kPodConditionsAtMost = 20;

bool HasContainer(const Field& pod_spec, const std::string& name) {
  for (const char* list : {"containers", "initContainers"}) {
    for (const Field& one : pod_spec[list].Items()) {
      if (one["name"].Str() == name) return true;
    }
  }
  return false;
}

FailureRule::ExitCodes DecodeExitCodes(const Field& field, const Field* pod_spec) {
  field.RefuseUnknown({"containerName", "operator", "values"});
  FailureRule::ExitCodes codes;
  codes.container = field["containerName"].Str();
  if (!codes.container.empty() && pod_spec && !HasContainer(*pod_spec, codes.container)) {
    field["containerName"].Fail("names no container of the template");
  }
  codes.in = field["operator"].Require().OneOf({"In", "NotIn"}) == 0;
  const std::vector<Field> values = field["values"].Require().Items();
  if (values.empty() || values.size() > kExitCodesAtMost) {
    field["values"].Fail("must have 1 to " + std::to_string(kExitCodesAtMost) + " exit codes");
  }
  for (const Field& value : values) {
    const std::int64_t code = value.Int(kExitCode);
    if (codes.in && code == 0) value.Fail("must not be 0 with the operator In");
    codes.values.push_back(code);
  }
  return codes;
}

std::vector<FailureRule::OnCondition> DecodePodConditions(const Field& field) {
  std::vector<FailureRule::OnCondition> conditions;
  for (const Field& one : field.Items()) {
    one.RefuseUnknown({"type", "status"});
    one["type"].Require();
    const Field status = one["status"];
    status.OneOf({"True", "False", "Unknown"});
    conditions.push_back({one["type"].Str(), status.Str("True")});
  }
  if (conditions.empty() || conditions.size() > kPodConditionsAtMost) {
    field.Fail("must have 1 to " + std::to_string(kPodConditionsAtMost) + " conditions");
  }
  return conditions;
}

FailureRule DecodeRule(const Field& field, const Field* pod_spec) {
  field.RefuseUnknown({"action", "onExitCodes", "onPodConditions"});
  FailureRule rule;
  field["action"].Require();
  rule.action = static_cast<FailureAction>(ReadName(field["action"], kFailureActionNames, 0));
  const Field codes = field["onExitCodes"], conditions = field["onPodConditions"];
  if (codes.present() == conditions.present()) {
    field.Fail("must have exactly one of onExitCodes and onPodConditions");
    return rule;
  }
  if (codes.present()) rule.exit_codes = DecodeExitCodes(codes, pod_spec);
  if (conditions.present()) rule.pod_conditions = DecodePodConditions(conditions);
  return rule;
}

}  // namespace

FailurePolicy DecodeFailurePolicy(const Field& field, const Field* pod_spec) {
  field.RefuseUnknown({"maxRestarts", "resetAfterSeconds", "infrastructure", "rules"});
  FailurePolicy policy;
  policy.max_restarts = field["maxRestarts"].Int(kRestarts, policy.max_restarts);
  policy.reset_after_seconds = field["resetAfterSeconds"].OptionalInt(kSeconds);
  const Field infrastructure = field["infrastructure"];
  ReadName(infrastructure, kInfrastructureNames, 0);
  policy.infrastructure = infrastructure.Str(policy.infrastructure);
  const std::vector<Field> rules = field["rules"].Items();
  if (rules.size() > kFailureRulesAtMost) {
    field["rules"].Fail("must have at most " + std::to_string(kFailureRulesAtMost) + " rules");
    return policy;
  }
  for (const Field& rule : rules) policy.rules.push_back(DecodeRule(rule, pod_spec));
  return policy;
}

}  // namespace weft::api
