#include "operator/api/decode_failure_policy.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace weft::api {
namespace {

using nlohmann::json;

struct Read {
  FailurePolicy policy;
  std::string why;
};

Read ReadPolicy(const std::string& text) {
  const json object = {{"spec", json::parse(text)},
                       {"pod", json::parse(R"({"initContainers": [{"name": "fetch"}],
                                               "containers": [{"name": "trainer"}]})")}};
  Decoding decoding(object, "x");
  const Field pod = decoding.Root()["pod"];
  Read read{DecodeFailurePolicy(decoding.Root()["spec"], &pod), ""};
  read.why = decoding.why();
  return read;
}

TEST(DecodeFailurePolicyTest, ReadsRulesInTheirOrder) {
  const Read read = ReadPolicy(R"({"maxRestarts": 3, "rules": [
      {"action": "FailJob",
       "onExitCodes": {"containerName": "trainer", "operator": "In", "values": [93, 94]}},
      {"action": "ReplaceNode",
       "onExitCodes": {"containerName": "fetch", "operator": "NotIn", "values": [0, 1]}},
      {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"},
                                               {"type": "Old", "status": "False"}]}]})");
  ASSERT_EQ(read.why, "");
  EXPECT_EQ(read.policy.max_restarts, 3);
  ASSERT_EQ(read.policy.rules.size(), 3U);
  const auto& [fail, replace, ignore] =
      std::tie(read.policy.rules[0], read.policy.rules[1], read.policy.rules[2]);
  EXPECT_EQ(fail.action, FailureAction::kFailJob);
  EXPECT_EQ(fail.exit_codes->container, "trainer");
  EXPECT_TRUE(fail.exit_codes->in);
  EXPECT_EQ(fail.exit_codes->values, (std::vector<std::int64_t>{93, 94}));
  EXPECT_EQ(replace.action, FailureAction::kReplaceNode);
  EXPECT_FALSE(replace.exit_codes->in);
  EXPECT_EQ(ignore.action, FailureAction::kIgnore);
  ASSERT_EQ(ignore.pod_conditions.size(), 2U);
  EXPECT_EQ(ignore.pod_conditions[0].status, "True");
  EXPECT_EQ(ignore.pod_conditions[1].status, "False");
}

TEST(DecodeFailurePolicyTest, NamesTheFieldThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"rules": [{"onExitCodes": {"operator": "In", "values": [1]}}]})",
       "spec.rules[0].action: is required"},
      {R"({"rules": [{"action": "Count", "onExitCodes": {"operator": "In", "values": [1]}}]})",
       "spec.rules[0].action: \"Count\" must be one of FailJob, ReplaceNode, Ignore, Restart"},
      {R"({"rules": [{"action": "Ignore"}]})",
       "spec.rules[0]: must have exactly one of onExitCodes and onPodConditions"},
      {R"({"rules": [{"action": "Ignore", "onPodConditions": [{"type": "X"}],
                      "onExitCodes": {"operator": "In", "values": [1]}}]})",
       "spec.rules[0]: must have exactly one of onExitCodes and onPodConditions"},
      {R"({"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": [0]}}]})",
       "spec.rules[0].onExitCodes.values[0]: 0 must not be 0 with the operator In"},
      {R"({"rules": [{"action": "FailJob", "onExitCodes": {"operator": "In", "values": []}}]})",
       "spec.rules[0].onExitCodes.values: [] must have 1 to 255 exit codes"},
      {R"({"rules": [{"action": "FailJob", "onPodConditions": []}]})",
       "spec.rules[0].onPodConditions: [] must have 1 to 20 conditions"},
      {R"({"rules": [{"action": "FailJob", "onPodConditions": [{"status": "True"}]}]})",
       "spec.rules[0].onPodConditions[0].type: is required"},
      {R"({"rules": [{"action": "FailJob", "onExitCodes": {"containerName": "trainr",
                      "operator": "In", "values": [1]}}]})",
       "spec.rules[0].onExitCodes.containerName: \"trainr\" names no container of the template"},
      {R"({"rules": [{"action": "FailJob", "when": "Now",
                      "onExitCodes": {"operator": "In", "values": [1]}}]})",
       "spec.rules[0].when: unknown field"},
  };
  for (const auto& [text, why] : cases) {
    const std::string said = ReadPolicy(text).why;
    EXPECT_TRUE(said.starts_with(why)) << text << "\n" << said;
  }
}

TEST(DecodeFailurePolicyTest, RefusesMoreRulesThanAJobMayHave) {
  json rules = json::array();
  for (int i = 0; i < 21; ++i) {
    rules.push_back({{"action", "FailJob"}, {"onPodConditions", json::array({{{"type", "X"}}})}});
  }
  EXPECT_EQ(ReadPolicy(json{{"rules", rules}}.dump()).why,
            "spec.rules: must have at most 20 rules");
}

}  // namespace
}  // namespace weft::api
