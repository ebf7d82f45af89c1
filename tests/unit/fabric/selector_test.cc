#include "operator/fabric/selector.h"

#include "gtest/gtest.h"

namespace weft::fabric {
namespace {

TEST(SelectorTest, MatchesAsKubernetesDoes) {
  struct Case {
    const char* name;
    LabelSelector selector;
    bool want;
  };
  NodeFacts node;
  node.name = "gpu-1";
  node.labels = {{"pool", "h100"}, {"gpus", "8"}, {"empty", ""}};
  const auto one = [](const char* key, const char* op, std::vector<std::string> values) {
    LabelSelector selector;
    selector.match_expressions = {{key, op, std::move(values)}};
    return selector;
  };
  const auto labels = [](std::map<std::string, std::string> wanted) {
    LabelSelector selector;
    selector.match_labels = std::move(wanted);
    return selector;
  };
  LabelSelector both = labels({{"pool", "h100"}});
  both.match_expressions = {{"gpus", "In", {"4"}}};
  const std::vector<Case> cases = {
      {"an empty selector matches everything", {}, true},
      {"an equal label", labels({{"pool", "h100"}}), true},
      {"another value", labels({{"pool", "a100"}}), false},
      {"a missing label", labels({{"zone", "a"}}), false},
      {"every label must match", labels({{"pool", "h100"}, {"gpus", "4"}}), false},
      {"labels and expressions must match", both, false},
      {"In lists the value", one("pool", "In", {"a100", "h100"}), true},
      {"In does not list it", one("pool", "In", {"a100"}), false},
      {"In of a missing label", one("zone", "In", {"a"}), false},
      {"NotIn lists it", one("pool", "NotIn", {"h100"}), false},
      {"NotIn of a missing label", one("zone", "NotIn", {"a"}), true},
      {"Exists", one("empty", "Exists", {}), true},
      {"Exists of a missing label", one("zone", "Exists", {}), false},
      {"DoesNotExist", one("pool", "DoesNotExist", {}), false},
      {"DoesNotExist of a missing label", one("zone", "DoesNotExist", {}), true},
      {"Gt", one("gpus", "Gt", {"7"}), true},
      {"Gt of an equal number", one("gpus", "Gt", {"8"}), false},
      {"Lt", one("gpus", "Lt", {"9"}), true},
      {"Gt of a word", one("pool", "Gt", {"7"}), false},
      {"Gt of a missing label", one("zone", "Gt", {"7"}), false},
      {"an unknown operator", one("pool", "Like", {"h100"}), false},
      {"a missing host name is the node's name", labels({{"kubernetes.io/hostname", "gpu-1"}}),
       true},
  };
  for (const Case& c : cases) EXPECT_EQ(Matches(c.selector, node), c.want) << c.name;
}

TEST(SelectorTest, OnlyANodesNameStandsInForAHostNameLabel) {
  NodeFacts node;
  node.name = "gpu-1";
  LabelSelector selector;
  selector.match_labels = {{"kubernetes.io/hostname", "gpu-1"}};
  EXPECT_TRUE(Matches(selector, node));
  EXPECT_FALSE(Matches(selector, node.labels));
}

TEST(ParseInteger, ReadsWhatGoReads) {
  const std::vector<std::pair<std::string, std::optional<std::int64_t>>> cases = {
      {"0", 0},
      {"7", 7},
      {"+7", 7},
      {"-7", -7},
      {"007", 7},
      {"9223372036854775807", 9223372036854775807},
      {"", std::nullopt},
      {"9223372036854775808", std::nullopt},
      {"+", std::nullopt},
      {"+-7", std::nullopt},
      {"7 ", std::nullopt},
      {"0x7", std::nullopt},
      {"1_000", std::nullopt},
      {"7.0", std::nullopt},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(ParseInteger(text), want) << text;
}

}  // namespace
}  // namespace weft::fabric
