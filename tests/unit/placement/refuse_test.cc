// Why there is no placement: each Reason in the scenes that give it, with the rule that is named,
// where it comes nearest and what is missing.
#include <gtest/gtest.h>

#include <functional>

#include "operator/placement/place.h"
#include "operator/placement/refuse.h"
#include "operator/rules/node_filter.h"
#include "operator/rules/node_judge.h"
#include "tests/support/campaign.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/nodes_of.h"
#include "tests/support/random_instance.h"

namespace weft::placement {
namespace {

using objective::Request;
using testing::FabricShape;

// Two spines; s0 has leaves l0 (n0, n1) and l1 (n2, n3), s1 has l2 (n4, n5). 8 GPUs a node.
FabricShape SixNodes() { return testing::Spines({{{{8, 8}}, {{8, 8}}}, {{{8, 8}}}}, false); }

objective::GroupConstraint Group(const FabricShape& shape, const char* required,
                                 std::vector<std::vector<std::uint32_t>> sets) {
  objective::GroupConstraint group;
  for (const auto& set : sets) {
    for (const std::uint32_t worker : set) group.sets.workers.emplace_back(worker);
    group.sets.begin.push_back(static_cast<std::uint32_t>(group.sets.workers.size()));
  }
  group.required = testing::MakeCluster(shape).fabric->FindTier(required);
  return group;
}

struct RefuseCase {
  const char* name;
  std::function<void(FabricShape&, Request&)> arrange;  // of SixNodes, 2 workers of 8 GPUs
  std::string want;                                     // Summary
};

std::string Summary(const fabric::Fabric& fabric, const Unplaceable& no) {
  std::string text = std::string(ReasonName(no.reason)) + (no.ever ? "" : " for ever");
  text += " at " + fabric.tiers()[no.tier].name;
  if (no.group) {
    text += ", group " + std::to_string(*no.group) + " of " + std::to_string(no.group_workers);
  }
  text += ", " + std::to_string(no.found_workers) + " of " + std::to_string(no.wanted_workers);
  if (!no.best_domain.empty()) {
    text += ", " + no.best_domain + " takes " + std::to_string(no.best_domain_workers);
  }
  if (no.short_amount > 0) {
    text += ", " + std::to_string(no.short_amount) + " " + no.short_resource + " missing";
  }
  for (const rules::RejectionCount& count : no.rejections) {
    text += "; " + std::to_string(count.nodes) + " " + count.detail;
  }
  return text;
}

class RefuseTest : public ::testing::TestWithParam<RefuseCase> {};

TEST_P(RefuseTest, NamesTheRuleAndWhatIsMissing) {
  FabricShape shape = SixNodes();
  Request request;
  request.workers = 2;
  request.pod.requests = {{"nvidia.com/gpu", 8}};
  GetParam().arrange(shape, request);
  const testing::Cluster cluster = testing::MakeCluster(shape);
  const auto traffic = traffic::ComputeTraffic(std::nullopt, {}, request.workers, 1);
  const traffic::WorkerGraph graph(*traffic);
  EXPECT_FALSE(Solve(cluster.claims, request, graph));
  const Unplaceable no = Refuse(cluster.claims, request, graph);
  EXPECT_EQ(Summary(*cluster.fabric, no), GetParam().want);
}

void Workers(Request& request, std::uint32_t workers, std::int64_t gpus = 8) {
  request.workers = workers;
  request.pod.requests = {{"nvidia.com/gpu", gpus}};
}

const RefuseCase kCases[] = {
    {"NoNodeIsComplete",
     [](FabricShape& s, Request&) {
       for (auto& node : s.nodes) node.domains = {"s0", ""};
     },
     "NoCompleteNode for ever at outside, 0 of 2"},
    {"NoNodePassesTheSelector",
     [](FabricShape&, Request& r) {
       r.pod.node_selector = {{"pool", "a"}};
     },
     "NoEligibleNode for ever at outside, 0 of 2; 6 node selector pool=a"},
    {"EveryNodeIsRuledOutForItsOwnReason",
     [](FabricShape& s, Request& r) {
       for (std::size_t n = 0; n < 3; ++n) s.nodes[n].taints = {{"sick", "", "NoSchedule"}};
       s.nodes[3].unschedulable = true;
       s.nodes[4].conditions = {{"Ready", "False"}};
       r.excluded = testing::NodesOf({5});
     },
     "NoEligibleNode for ever at outside, 0 of 2; 3 taint sick:NoSchedule; 1 not Ready; 1 cordoned "
     "(spec.unschedulable); 1 excluded for this job"},
    {"TooManyWorkersForTheFabric", [](FabricShape&, Request& r) { Workers(r, 7); },
     "InsufficientCapacity for ever at outside, 6 of 7, 8 nvidia.com/gpu missing"},
    {"TooManyWorkersForWhatIsFree",
     [](FabricShape& s, Request& r) {
       Workers(r, 4);
       for (std::size_t n = 0; n < 4; ++n) s.nodes[n].used = 1;
     },
     "InsufficientCapacity at outside, 2 of 4, 16 nvidia.com/gpu missing; 4 nvidia.com/gpu"},
    {"AResourceThatNoNodeOffers",
     [](FabricShape&, Request& r) { r.pod.requests["example.com/fpga"] = 2; },
     "InsufficientCapacity for ever at outside, 0 of 2, 4 example.com/fpga missing; 6 "
     "example.com/fpga"},
    {"NoDomainOfTheRequiredLevelHasRoom",
     [](FabricShape& s, Request& r) {
       r.required = fabric::Tier{2};
       for (std::size_t n : {0U, 2U, 4U}) s.nodes[n].used = 8;
     },
     "RequiredLevel at leaf, 1 of 2, l0 takes 1, 8 nvidia.com/gpu missing; 3 nvidia.com/gpu"},
    {"NoDomainOfTheRequiredLevelEverHas",
     [](FabricShape&, Request& r) {
       Workers(r, 3);
       r.required = fabric::Tier{2};
     },
     "RequiredLevel for ever at leaf, 2 of 3, l0 takes 2, 8 nvidia.com/gpu missing"},
    // The first group fits: its leaf takes 24. The second is the one that cannot hold.
    {"TheGroupThatFailsIsNamedAndNotTheFirst",
     [](FabricShape& s, Request& r) {
       s = testing::Leaves({{6, 6, 6, 6}}, 6);
       Workers(r, 8, 2);
       r.groups = {Group(s, "leaf", {{0, 1, 2, 3, 4, 5, 6, 7}}),
                   Group(s, "node", {{0, 1, 2, 3}, {4, 5, 6, 7}})};
     },
     "RequiredGroup for ever at node, group 1 of 4, 0 of 8, n0 takes 3"},
    {"OfTwoGroupsThatFailTheNarrowestIsNamed",
     [](FabricShape& s, Request& r) {
       s = testing::Leaves({{6, 6}, {6, 6}}, 6);
       Workers(r, 8, 2);
       r.groups = {Group(s, "leaf", {{0, 1, 2, 3, 4, 5, 6, 7}}),
                   Group(s, "node", {{0, 1, 2, 3}, {4, 5, 6, 7}})};
     },
     "RequiredGroup for ever at node, group 1 of 4, 0 of 8, n0 takes 3"},
    {"SomeSetsOfTheGroupFit",
     [](FabricShape& s, Request& r) {
       Workers(r, 4);
       for (std::size_t n : {0U, 2U}) s.nodes[n].used = 8;
       r.groups = {Group(s, "leaf", {{0, 1}, {2, 3}})};
     },
     "RequiredGroup at leaf, group 0 of 2, 2 of 4, l2 takes 2; 2 nvidia.com/gpu"},
    {"AGroupFailsInsideTheRequiredLevelAlone",
     [](FabricShape& s, Request& r) {
       Workers(r, 4, 4);
       r.required = fabric::Tier{1};
       for (std::size_t n : {0U, 2U, 3U, 4U}) s.nodes[n].used = 4;
       r.groups = {Group(s, "node", {{0, 1}, {2, 3}})};
     },
     "RequiredGroup at node, group 0 of 2, 2 of 4, n1 takes 2"},
    // A leaf has six slots, but only four in whole pairs on a node.
    {"EachGroupHoldsAloneButNotAllAtOnce",
     [](FabricShape& s, Request& r) {
       s = testing::Leaves({{6, 6}, {6, 6}}, 6);
       Workers(r, 6, 2);
       r.groups = {Group(s, "leaf", {{0, 1, 2, 3, 4, 5}}),
                   Group(s, "node", {{0, 1}, {2, 3}, {4, 5}})};
     },
     "RequiredGroup for ever at outside, 0 of 6"},
    // Two sets of three leave a slot on each node, and the pair none: no bound on room shows that.
    {"TheSearchFoundNothingAndNothingIsProven",
     [](FabricShape& s, Request& r) {
       s = testing::Leaves({{4, 4}}, 4);
       Workers(r, 8, 1);
       r.groups = {Group(s, "node", {{0, 1, 2}, {3, 4, 5}, {6, 7}})};
     },
     "SearchExhausted for ever at outside, 8 of 8"},
};
INSTANTIATE_TEST_SUITE_P(Scenes, RefuseTest, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Refuse, TellsWhetherTheJobWouldFitIfNodesCameBack) {
  const auto refuse = [](std::uint32_t workers, std::int64_t gpus, const auto& arrange) {
    FabricShape shape = SixNodes();
    Request request;
    Workers(request, workers, gpus);
    arrange(shape, request);
    const testing::Cluster cluster = testing::MakeCluster(shape);
    const auto traffic = traffic::ComputeTraffic(std::nullopt, {}, request.workers, 1);
    const Unplaceable no = Refuse(cluster.claims, request, traffic::WorkerGraph(*traffic));
    return std::string(no.ever ? "ever" : no.ever_when_healthy ? "when healthy" : "never");
  };
  const auto sick = [](FabricShape& s, Request&) {
    s.nodes[0].conditions = {{"Ready", "False"}};
    s.nodes[0].taints = {{"node.kubernetes.io/not-ready", "", "NoSchedule"}};
    s.nodes[1].unschedulable = true;
  };
  EXPECT_EQ(refuse(6, 8, sick), "when healthy");
  EXPECT_EQ(refuse(7, 8, sick), "never") << "too many for the nodes that it has";
  EXPECT_EQ(refuse(1, 16, sick), "never") << "too much for any of its nodes";
  EXPECT_EQ(refuse(6, 8, [](FabricShape&, Request& r) { r.excluded = testing::NodesOf({5}); }),
            "when healthy");
  EXPECT_EQ(refuse(7, 8, [](FabricShape&, Request&) {}), "never");
  const auto in_zone = [](const char* of_last) {
    return [of_last](FabricShape& s, Request& r) {
      for (std::size_t n = 0; n < 5; ++n) s.nodes[n].labels["csi.example/zone"] = "a";
      if (*of_last != '\0') s.nodes[5].labels["csi.example/zone"] = of_last;
      rules::VolumeRules volumes;
      volumes.places = {{{{{{"csi.example/zone", "In", {"a"}}}, {}}}, "its volume is in zone a"}};
      r.pod.volumes = std::move(volumes);
    };
  };
  EXPECT_EQ(refuse(6, 8, in_zone("")), "when healthy") << "its CSI driver has not labelled it yet";
  EXPECT_EQ(refuse(6, 8, in_zone("b")), "never");
  const auto with_cards = [](std::size_t nodes) {
    return [nodes](FabricShape& s, Request& r) {
      for (std::size_t n = 0; n < nodes; ++n) s.nodes[n].allocatable["example.com/rdma"] = 8;
      r.pod.requests["example.com/rdma"] = 4;
    };
  };
  EXPECT_EQ(refuse(6, 8, with_cards(5)), "when healthy") << "the cards' plug-in starts again";
  EXPECT_EQ(refuse(7, 8, with_cards(5)), "never");
  EXPECT_EQ(refuse(6, 8, [](FabricShape& s, Request&) { s.nodes[0].used = 8; }), "ever");
}

TEST(NodeJudge, CountsNodesByWhyAsItJudgesThem) {
  for (std::uint64_t seed = 1; seed <= weft::testing::Instances(100); ++seed) {
    testing::RandomInstance random = testing::MakeRandomInstance(seed, {});
    random.request.pod.node_selector = {{"leaf", "leaf" + std::to_string(seed % 3)}};
    if (seed % 2 == 0) random.request.excluded = testing::NodesOf({0});
    const rules::SlotQuery query = {.pod = &random.request.pod,
                                    .job = random.request.job,
                                    .excluded = random.request.excluded,
                                    .cap = random.request.workers};
    const rules::NodeJudge judge(*random.claims, query);
    fabric::ByNode<std::uint32_t> slots;
    rules::CountSlots(*random.claims, query, slots);
    std::uint32_t rejected = 0, full = 0;
    for (const rules::RejectionCount& count : judge.CountAll()) {
      rejected += count.nodes;
    }
    for (const fabric::NodeIndex n : slots.Indices()) {
      full += slots[n] == 0 ? 1 : 0;
      EXPECT_EQ(judge.Judge(n).rejection == rules::Rejection::kNone, slots[n] > 0) << random.what;
    }
    EXPECT_EQ(rejected, full) << random.what;
  }
}

}  // namespace
}  // namespace weft::placement
