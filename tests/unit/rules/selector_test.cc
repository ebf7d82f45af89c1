#include "operator/rules/selector.h"

#include "gtest/gtest.h"

namespace weft::rules {
namespace {

using Terms = std::vector<NodeSelectorTerm>;

fabric::NodeFacts Node() {
  fabric::NodeFacts node;
  node.name = "gpu-1";
  node.labels = {{"pool", "train"},
                 {"empty", ""},
                 {"gpus", "8"},
                 {"version", "v2"},
                 {"huge", "9223372036854775808"}};
  return node;
}

NodeSelectorTerm All(std::vector<fabric::SelectorExpression> expressions) {
  return {.match_expressions = std::move(expressions), .match_fields = {}};
}
NodeSelectorTerm Field(std::string key, std::string op, std::vector<std::string> values) {
  return {.match_expressions = {},
          .match_fields = {{std::move(key), std::move(op), std::move(values)}}};
}

struct Case {
  std::string name;
  Terms terms;
  bool want = false;
};

class AffinityTest : public ::testing::TestWithParam<Case> {};

TEST_P(AffinityTest, AsKubeSchedulerDoes) {
  EXPECT_EQ(MatchesAffinity(GetParam().terms, Node()), GetParam().want);
}

const std::string kLong(64, 'x');

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, AffinityTest, ::testing::ValuesIn(std::vector<Case>{
  {"InHoldsForAnyOfItsValues",            {All({{"pool", "In", {"infer", "train"}}})}, true},
  {"InFailsForOtherValues",               {All({{"pool", "In", {"infer"}}})}, false},
  {"InFailsWithoutTheLabel",              {All({{"zone", "In", {"a"}}})}, false},
  {"InKnowsTheEmptyValue",                {All({{"empty", "In", {""}}})}, true},
  {"InWithoutValuesIsMalformed",          {All({{"pool", "In", {}}})}, false},
  {"NotInHoldsForOtherValues",            {All({{"pool", "NotIn", {"infer"}}})}, true},
  {"NotInFailsForItsValue",               {All({{"pool", "NotIn", {"infer", "train"}}})}, false},
  {"NotInHoldsWithoutTheLabel",           {All({{"zone", "NotIn", {"a"}}})}, true},
  {"NotInWithoutValuesIsMalformed",       {All({{"zone", "NotIn", {}}})}, false},
  {"ExistsHoldsForAnEmptyValue",          {All({{"empty", "Exists", {}}})}, true},
  {"ExistsFailsWithoutTheLabel",          {All({{"zone", "Exists", {}}})}, false},
  {"ExistsWithAValueIsMalformed",         {All({{"pool", "Exists", {"train"}}})}, false},
  {"DoesNotExistHoldsWithoutTheLabel",    {All({{"zone", "DoesNotExist", {}}})}, true},
  {"DoesNotExistFailsWithTheLabel",       {All({{"pool", "DoesNotExist", {}}})}, false},
  {"DoesNotExistWithAValueIsMalformed",   {All({{"zone", "DoesNotExist", {"a"}}})}, false},
  {"GtHoldsForAGreaterLabel",             {All({{"gpus", "Gt", {"4"}}})}, true},
  {"GtFailsForAnEqualLabel",              {All({{"gpus", "Gt", {"8"}}})}, false},
  {"GtReadsLeadingZeros",                 {All({{"gpus", "Gt", {"007"}}})}, true},
  {"LtHoldsForASmallerLabel",             {All({{"gpus", "Lt", {"16"}}})}, true},
  {"LtComparesNumbersAndNotText",         {All({{"gpus", "Lt", {"10"}}})}, true},
  {"LtFailsForAnEqualLabel",              {All({{"gpus", "Lt", {"8"}}})}, false},
  {"LtFailsWithoutTheLabel",              {All({{"cores", "Lt", {"8"}}})}, false},
  {"LtFailsForALabelThatIsNoNumber",      {All({{"version", "Lt", {"8"}}})}, false},
  {"GtFailsForALabelPast64Bits",          {All({{"huge", "Gt", {"8"}}})}, false},
  {"GtOfWordsIsMalformed",                {All({{"gpus", "Gt", {"few"}}})}, false},
  {"GtOfAFractionIsMalformed",            {All({{"gpus", "Gt", {"4.5"}}})}, false},
  {"GtOfANegativeNumberIsNoLabelValue",   {All({{"gpus", "Gt", {"-4"}}})}, false},
  {"GtPast64BitsIsMalformed",             {All({{"gpus", "Lt", {"9223372036854775808"}}})}, false},
  {"GtOfTwoValuesIsMalformed",            {All({{"gpus", "Gt", {"1", "2"}}})}, false},
  {"GtWithoutValueIsMalformed",           {All({{"gpus", "Gt", {}}})}, false},
  {"AnUnknownOperatorIsMalformed",        {All({{"pool", "Equals", {"train"}}})}, false},
  {"AValueThatIsNoLabelIsMalformed",      {All({{"pool", "In", {"train", "a b"}}})}, false},
  {"AValueMayHoldDotsDashesAndUnderscores", {All({{"pool", "NotIn", {"a_b", "a.b", "a-b"}}})}, true},
  {"AValueTooLongForALabelIsMalformed",   {All({{"pool", "In", {"train", kLong}}})}, false},
  {"ExpressionsAreAllNeeded",             {All({{"pool", "Exists", {}}, {"zone", "Exists", {}}})}, false},
  {"ExpressionsThatAllHoldMatch",         {All({{"pool", "Exists", {}}, {"zone", "DoesNotExist", {}}})}, true},
  {"OneMalformedExpressionSpoilsItsTerm", {All({{"pool", "Exists", {}}, {"gpus", "Gt", {"few"}}})}, false},
  {"OneTermIsEnough",                     {All({{"zone", "Exists", {}}}), All({{"pool", "Exists", {}}})}, true},
  {"AMalformedTermLeavesTheOthers",       {All({{"gpus", "Gt", {"few"}}}), All({{"pool", "Exists", {}}})}, true},
  {"AnEmptyTermMatchesNothing",           {NodeSelectorTerm{}}, false},
  {"AnEmptyTermLeavesTheOthers",          {NodeSelectorTerm{}, All({{"pool", "Exists", {}}})}, true},
  {"NoTermsMatchNothing",                 {}, false},
  {"TheNameFieldMatchesItsNode",          {Field("metadata.name", "In", {"gpu-1"})}, true},
  {"TheNameFieldLeavesOtherNodes",        {Field("metadata.name", "In", {"gpu-2"})}, false},
  {"TheNameFieldCanShutANodeOut",         {Field("metadata.name", "NotIn", {"gpu-1"})}, false},
  {"TheNameFieldCanShutAnotherNodeOut",   {Field("metadata.name", "NotIn", {"gpu-2"})}, true},
  {"TheNameFieldTakesOneValue",           {Field("metadata.name", "In", {"gpu-1", "gpu-2"})}, false},
  {"TheNameFieldTakesNoOtherOperator",    {Field("metadata.name", "Exists", {})}, false},
  {"NoOtherFieldIsKnown",                 {Field("metadata.uid", "NotIn", {"x"})}, false},
  {"FieldsAndExpressionsAreBothNeeded",
   {{.match_expressions = {{"zone", "Exists", {}}}, .match_fields = {{"metadata.name", "In", {"gpu-1"}}}}}, false},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(AffinityMismatchText, NamesWhatALoneTermMisses) {
  const std::vector<std::pair<Terms, std::string>> cases = {
      {{All({{"pool", "Exists", {}}, {"zone", "In", {"a", "b"}}})}, "node affinity zone In (a, b)"},
      {{All({{"zone", "Exists", {}}})}, "node affinity zone Exists"},
      {{All({{"gpus", "Gt", {"few"}}})}, "malformed node affinity gpus Gt (few)"},
      {{Field("metadata.name", "In", {"gpu-2"})}, "node affinity metadata.name In (gpu-2)"},
      {{{.match_expressions = {{"pool", "Exists", {}}},
         .match_fields = {{"metadata.name", "In", {"gpu-2"}}}}},
       "node affinity metadata.name In (gpu-2)"},
      {{Field("metadata.uid", "In", {"x"})}, "malformed node affinity metadata.uid In (x)"},
      {{NodeSelectorTerm{}}, "an empty node affinity term"},
      {{All({{"zone", "Exists", {}}}), All({{"rack", "Exists", {}}})},
       "any term of the required node affinity"},
  };
  for (const auto& [terms, want] : cases) EXPECT_EQ(AffinityMismatchText(terms, Node()), want);
}

}  // namespace
}  // namespace weft::rules
