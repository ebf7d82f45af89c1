#include "operator/rules/node_filter.h"

#include <functional>

#include "gtest/gtest.h"
#include "operator/rules/node_judge.h"
#include "operator/rules/node_rules.h"
#include "tests/support/nodes_of.h"

namespace weft::rules {
namespace {

constexpr std::int64_t kCore = 1000;  // thousandths

fabric::NodeFacts DgxNode(std::string name) {
  fabric::NodeFacts node;
  node.name = std::move(name);
  node.labels = {{"pool", "train"}};
  node.conditions = {{"Ready", "True"}};
  node.allocatable = {
      {"cpu", 100 * kCore}, {"memory", 2'000'000'000'000}, {"nvidia.com/gpu", 8}, {"pods", 110}};
  return node;
}

PodRequirements Worker(std::int64_t gpus) {
  PodRequirements pod;
  pod.requests = {{"nvidia.com/gpu", gpus}};
  return pod;
}

fabric::Fabric Flat(std::vector<fabric::NodeFacts> nodes) {
  auto fabric = fabric::Fabric::Build({}, std::move(nodes), {});
  EXPECT_TRUE(fabric.has_value()) << (fabric ? "" : fabric.error().message);
  return std::move(*fabric);
}

// One node, what runs there, and what a worker asks.
struct Scene {
  fabric::NodeFacts node = DgxNode("gpu-1");
  fabric::FabricSpec spec;
  PodRequirements pod = Worker(8);
  SlotQuery query = {.pod = nullptr, .job = "team/job", .excluded = {}, .cap = 100};
  fabric::Resources used;
  std::string compute_domain;
};

struct Case {
  std::string name;
  std::function<void(Scene&)> change;
  std::uint32_t slots = 0;
  Rejection rejection = Rejection::kNone;
  std::string detail;
};

class NodeFilterTest : public ::testing::TestWithParam<Case> {};

TEST_P(NodeFilterTest, CountsAndSaysWhy) {
  Scene scene;
  GetParam().change(scene);
  scene.query.pod = &scene.pod;
  auto fabric = fabric::Fabric::Build(scene.spec, {scene.node}, {});
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  fabric::Claims claims(*fabric);
  if (!scene.used.empty()) claims.Add(fabric::NodeIndex{0}, scene.used, scene.compute_domain);

  fabric::ByNode<std::uint32_t> slots;
  CountSlots(claims, scene.query, slots);
  EXPECT_EQ(slots.Items(), std::vector<std::uint32_t>{GetParam().slots});
  const Verdict verdict = NodeJudge(claims, scene.query).Judge(fabric::NodeIndex{0});
  EXPECT_EQ(RejectionName(verdict.rejection), RejectionName(GetParam().rejection));
  EXPECT_EQ(verdict.detail, GetParam().detail);
}

void Half(Scene& s) { s.used = {{"nvidia.com/gpu", 4}}; }
void HeldBy(Scene& s, const std::string& holder) {
  s.used = {{"cpu", kCore}};
  s.compute_domain = holder;
  s.pod.claims_compute_domain = true;
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Resources, NodeFilterTest, ::testing::ValuesIn(std::vector<Case>{
  {"AWholeNodeTakesOneWorkerOfAll",        [](Scene&) {}, 1, Rejection::kNone, ""},
  {"AWholeNodeTakesFourWorkersOfTwo",      [](Scene& s) { s.pod = Worker(2); }, 4, Rejection::kNone, ""},
  {"AWorkerOfThreeLeavesTheRest",          [](Scene& s) { s.pod = Worker(3); }, 2, Rejection::kNone, ""},
  {"AHalfUsedNodeTakesTwoWorkersOfTwo",    [](Scene& s) { Half(s); s.pod = Worker(2); }, 2, Rejection::kNone, ""},
  {"AHalfUsedNodeTakesNoWorkerOfAll",      Half, 0, Rejection::kResource, "nvidia.com/gpu: 4 free, 8 wanted"},
  {"IgnoringClaimsAHalfUsedNodeIsWhole",   [](Scene& s) { Half(s); s.query.ignore_claims = true; }, 1, Rejection::kNone, ""},
  {"NoMoreSlotsThanWorkers",               [](Scene& s) { s.pod = Worker(2); s.query.cap = 3; }, 3, Rejection::kNone, ""},
  {"TheScarcestResourceDecides",           [](Scene& s) { s.pod = Worker(1); s.pod.requests["cpu"] = 30 * kCore; }, 3, Rejection::kNone, ""},
  {"MemoryCountsInBytes",                  [](Scene& s) { s.pod = Worker(1); s.pod.requests["memory"] = 400'000'000'000; }, 5, Rejection::kNone, ""},
  {"AResourceJustUsedUpFitsExactly",       [](Scene& s) { s.pod = Worker(4); s.pod.requests["cpu"] = 50 * kCore; }, 2, Rejection::kNone, ""},
  {"OneThousandthOfACoreTooFew",           [](Scene& s) { s.pod.requests["cpu"] = 100 * kCore + 1; }, 0, Rejection::kResource, "cpu: 100 free, 100001m wanted"},
  {"OfTwoShortTheScarcestIsNamed",         [](Scene& s) { Half(s); s.pod.requests["cpu"] = 1000 * kCore; }, 0, Rejection::kResource, "cpu: 100 free, 1k wanted"},
  {"OfTwoEquallyShortTheAcceleratorIsNamed", [](Scene& s) { Half(s); s.pod.requests["cpu"] = 200 * kCore; }, 0, Rejection::kResource, "nvidia.com/gpu: 4 free, 8 wanted"},
  {"OfOthersEquallyShortTheFirstIsNamed",  [](Scene& s) { s.pod.requests["cpu"] = 200 * kCore; s.pod.requests["memory"] = 4'000'000'000'000; }, 0, Rejection::kResource, "cpu: 100 free, 200 wanted"},
  {"PodsLimitWorkers",                     [](Scene& s) { s.pod = Worker(1); s.node.allocatable["pods"] = 3; }, 3, Rejection::kNone, ""},
  {"APodThatRunsTakesOneOfThePods",        [](Scene& s) { s.pod = Worker(1); s.node.allocatable["pods"] = 1; s.used = {{"cpu", 1}}; }, 0, Rejection::kResource, "pods: 0 free, 1 wanted"},
  {"WithoutACountPodsDoNotLimit",          [](Scene& s) { s.pod = Worker(1); s.node.allocatable.erase("pods"); }, 8, Rejection::kNone, ""},
  {"AskingForPodsAsksForOne",              [](Scene& s) { s.pod = Worker(1); s.pod.requests["pods"] = 50; }, 8, Rejection::kNone, ""},
  {"ARequestOfNothingIsNoRequest",         [](Scene& s) { s.pod.requests["example.com/fpga"] = 0; }, 1, Rejection::kNone, ""},
  {"AResourceThatNobodyOffers",            [](Scene& s) { s.pod.requests["example.com/fpga"] = 1; }, 0, Rejection::kResource, "example.com/fpga: no node of the fabric offers it"},
  {"AnOvercommittedNodeHasNothing",        [](Scene& s) { s.used = {{"nvidia.com/gpu", 9}}; }, 0, Rejection::kResource, "nvidia.com/gpu: 0 free, 8 wanted"},
  {"AmountsPast32BitsDivide",              [](Scene& s) { s.pod.requests = {{"memory", 300'000'000'000}}; }, 6, Rejection::kNone, ""},
  {"TheLargestRequestDoesNotOverflow",     [](Scene& s) { s.pod.requests["memory"] = INT64_MAX; }, 0, Rejection::kResource, "memory: 2T free, 9223372036854775807 wanted"},
}), [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(NodeState, NodeFilterTest, ::testing::ValuesIn(std::vector<Case>{
  {"ANodeThatIsNotReadyIsUnusable",        [](Scene& s) { s.node.conditions = {{"Ready", "False"}}; }, 0, Rejection::kUnusable, "not Ready"},
  {"UnusableHoldsWhateverIsTolerated",
   [](Scene& s) {
     s.spec.unusable.taints = {{"sick", "", ""}};
     s.node.taints = {{"sick", "", "NoSchedule"}};
     s.pod.tolerations = {{"", "Exists", "", ""}};
   }, 0, Rejection::kUnusable, "taint sick:NoSchedule"},
  {"ACordonedNodeTakesNothing",            [](Scene& s) { s.node.unschedulable = true; }, 0, Rejection::kUnschedulable, "cordoned (spec.unschedulable)"},
  {"TheCordonsTolerationLetsIn",
   [](Scene& s) {
     s.node.unschedulable = true;
     s.node.taints = {{"node.kubernetes.io/unschedulable", "", "NoSchedule"}};
     s.pod.tolerations = {{"node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule"}};
   }, 1, Rejection::kNone, ""},
  {"ATolerationOfNoExecuteIsNotTheCordons",
   [](Scene& s) {
     s.node.unschedulable = true;
     s.pod.tolerations = {{"node.kubernetes.io/unschedulable", "Exists", "", "NoExecute"}};
   }, 0, Rejection::kUnschedulable, "cordoned (spec.unschedulable)"},
  {"ATaintKeepsOff",                       [](Scene& s) { s.node.taints = {{"nvidia.com/gpu", "present", "NoSchedule"}}; }, 0, Rejection::kTaint, "taint nvidia.com/gpu=present:NoSchedule"},
  {"NoExecuteKeepsOff",                    [](Scene& s) { s.node.taints = {{"drain", "", "NoExecute"}}; }, 0, Rejection::kTaint, "taint drain:NoExecute"},
  {"PreferNoScheduleDoesNot",              [](Scene& s) { s.node.taints = {{"slow", "", "PreferNoSchedule"}}; }, 1, Rejection::kNone, ""},
  {"AToleratedTaintLetsIn",
   [](Scene& s) {
     s.node.taints = {{"nvidia.com/gpu", "present", "NoSchedule"}};
     s.pod.tolerations = {{"nvidia.com/gpu", "Exists", "", ""}};
   }, 1, Rejection::kNone, ""},
  {"AnExcludedNodeTakesNothing",           [](Scene& s) { s.query.excluded = testing::NodesOf({0}); }, 0, Rejection::kExcluded, "excluded for this job"},
  {"AnExcludedIndexPastTheEndIsIgnored",   [](Scene& s) { s.query.excluded = testing::NodesOf({7}); }, 1, Rejection::kNone, ""},
}), [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(Labels, NodeFilterTest, ::testing::ValuesIn(std::vector<Case>{
  {"TheNamedNodeTakesThePod",              [](Scene& s) { s.pod.node_name = "gpu-1"; }, 1, Rejection::kNone, ""},
  {"AnotherNodeIsNamed",                   [](Scene& s) { s.pod.node_name = "gpu-2"; }, 0, Rejection::kNodeName, "spec.nodeName is gpu-2"},
  {"TheSelectorMatches",                   [](Scene& s) { s.pod.node_selector = {{"pool", "train"}}; }, 1, Rejection::kNone, ""},
  {"TheSelectorWantsAnotherValue",         [](Scene& s) { s.pod.node_selector = {{"pool", "infer"}}; }, 0, Rejection::kNodeSelector, "node selector pool=infer"},
  {"TheSelectorWantsAnotherLabel",         [](Scene& s) { s.pod.node_selector = {{"pool", "train"}, {"zone", "a"}}; }, 0, Rejection::kNodeSelector, "node selector zone=a"},
  {"TheAffinityMatches",                   [](Scene& s) { s.pod.required_affinity = {{{.match_expressions = {{"pool", "Exists", {}}}, .match_fields = {}}}}; }, 1, Rejection::kNone, ""},
  {"TheAffinityMatchesNot",                [](Scene& s) { s.pod.required_affinity = {{{.match_expressions = {{"zone", "In", {"a"}}}, .match_fields = {}}}}; }, 0, Rejection::kNodeAffinity, "node affinity zone In (a)"},
  {"AnAffinityWithoutTermsMatchesNothing", [](Scene& s) { s.pod.required_affinity.emplace(); }, 0, Rejection::kNodeAffinity, "any term of the required node affinity"},
  {"SelectorAndAffinityAreBothNeeded",
   [](Scene& s) {
     s.pod.node_selector = {{"pool", "infer"}};
     s.pod.required_affinity = {{{.match_expressions = {{"pool", "Exists", {}}}, .match_fields = {}}}};
   }, 0, Rejection::kNodeSelector, "node selector pool=infer"},
}), [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(ComputeDomain, NodeFilterTest, ::testing::ValuesIn(std::vector<Case>{
  {"AFreeNodeTakesAClaim",                 [](Scene& s) { s.pod.claims_compute_domain = true; }, 1, Rejection::kNone, ""},
  {"AnotherJobsDomainKeepsAClaimOff",      [](Scene& s) { HeldBy(s, "team/other"); }, 0, Rejection::kComputeDomain, "held by the ComputeDomain of team/other"},
  {"TheOwnDomainDoesNot",                  [](Scene& s) { HeldBy(s, "team/job"); }, 1, Rejection::kNone, ""},
  {"WithoutAClaimItDoesNotMatter",         [](Scene& s) { HeldBy(s, "team/other"); s.pod.claims_compute_domain = false; }, 1, Rejection::kNone, ""},
  {"IgnoringClaimsItIsFree",               [](Scene& s) { HeldBy(s, "team/other"); s.query.ignore_claims = true; }, 1, Rejection::kNone, ""},
}), [](const auto& row) { return row.param.name; });

// What fails first in kube-scheduler is said, though several rules fail.
INSTANTIATE_TEST_SUITE_P(Order, NodeFilterTest, ::testing::ValuesIn(std::vector<Case>{
  {"CordonBeforeTaint",
   [](Scene& s) {
     s.node.unschedulable = true;
     s.node.taints = {{"node.kubernetes.io/unschedulable", "", "NoSchedule"}};
   }, 0, Rejection::kUnschedulable, "cordoned (spec.unschedulable)"},
  {"NodeNameBeforeTaint",
   [](Scene& s) {
     s.pod.node_name = "gpu-2";
     s.node.taints = {{"sick", "", "NoSchedule"}};
   }, 0, Rejection::kNodeName, "spec.nodeName is gpu-2"},
  {"TaintBeforeSelector",
   [](Scene& s) {
     s.pod.node_selector = {{"pool", "infer"}};
     s.node.taints = {{"sick", "", "NoSchedule"}};
   }, 0, Rejection::kTaint, "taint sick:NoSchedule"},
  {"SelectorBeforeResource",
   [](Scene& s) { Half(s); s.pod.node_selector = {{"pool", "infer"}}; }, 0, Rejection::kNodeSelector, "node selector pool=infer"},
  {"ResourceBeforeComputeDomain",
   [](Scene& s) { HeldBy(s, "team/other"); s.used = {{"nvidia.com/gpu", 4}}; }, 0, Rejection::kResource, "nvidia.com/gpu: 4 free, 8 wanted"},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(CountSlots, KeepsNodesWithDifferentTaintsApart) {
  std::vector<fabric::NodeFacts> nodes;
  for (int i = 0; i < 6; ++i) nodes.push_back(DgxNode("gpu-" + std::to_string(i)));
  nodes[1].taints = {{"team", "a", "NoSchedule"}};
  nodes[2].taints = {{"team", "b", "NoSchedule"}};
  nodes[3].unschedulable = true;
  nodes[4].taints = {{"team", "a", "NoSchedule"}};
  nodes[5].conditions = {{"Ready", "Unknown"}};
  const fabric::Fabric fabric = Flat(nodes);
  const fabric::Claims claims(fabric);
  PodRequirements pod = Worker(2);
  pod.tolerations = {{"team", "Equal", "a", ""}};
  SlotQuery query;
  query.pod = &pod;
  query.cap = 16;
  fabric::ByNode<std::uint32_t> slots = {9};
  CountSlots(claims, query, slots);
  EXPECT_EQ(slots.Items(), (std::vector<std::uint32_t>{4, 4, 0, 0, 4, 0}));
}

TEST(CountSlots, CountsNothingForNoWorkers) {
  const fabric::Fabric fabric = Flat({DgxNode("gpu-1")});
  const PodRequirements pod = Worker(2);
  SlotQuery query;
  query.pod = &pod;
  fabric::ByNode<std::uint32_t> slots;
  CountSlots(fabric::Claims(fabric), query, slots);
  EXPECT_EQ(slots.Items(), std::vector<std::uint32_t>{0});
}

// A placeholder is no domain, and of a level that rails define any rail is enough.
TEST(MissingLevel, IsOneOfWhichTheNodeHasNoLabel) {
  PodRequirements pod;
  pod.level_labels = {{"leaf"}, {"rail-0", "rail-1"}};
  const auto missing = [&](TextMap labels) {
    fabric::NodeFacts node;
    node.labels = std::move(labels);
    const auto* keys = MissingLevel(pod, node);
    return keys == nullptr ? "" : keys->front();
  };
  EXPECT_EQ(missing({{"leaf", "l1"}, {"rail-1", "a"}}), "");
  EXPECT_EQ(missing({{"leaf", "unknown"}, {"rail-1", "a"}}), "leaf");
  EXPECT_EQ(missing({{"rail-1", "a"}}), "leaf");
  EXPECT_EQ(missing({{"leaf", "l1"}, {"rail-0", ""}}), "rail-0");
}

}  // namespace
}  // namespace weft::rules
