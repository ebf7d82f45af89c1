#include "operator/rules/power.h"

#include "gtest/gtest.h"
#include "operator/rules/node_judge.h"

namespace weft::rules {
namespace {

using Slots = fabric::ByNode<std::uint32_t>;

constexpr double kPeak = 980;  // 700 W of an H100, and 280 W of its server

// Racks of these numbers of nodes of eight, in one row.
fabric::Fabric Racks(const std::vector<int>& nodes, std::int64_t rack_watts,
                     std::optional<std::int64_t> row_watts = {}) {
  fabric::FabricSpec spec;
  spec.levels = {{.name = "row", .label_key = "row", .link = {}, .power_watts = row_watts},
                 {.name = "rack", .label_key = "rack", .link = {}, .power_watts = rack_watts}};
  SharedList<fabric::NodeFacts> all;
  for (std::size_t rack = 0; rack < nodes.size(); ++rack) {
    for (int n = 0; n < nodes[rack]; ++n) {
      fabric::NodeFacts node;
      node.name = "r" + std::to_string(rack) + "-" + std::to_string(n);
      node.labels = {{"row", "a"}, {"rack", "r" + std::to_string(rack)}};
      node.conditions = {{"Ready", "True"}};
      node.allocatable = {{"nvidia.com/gpu", 8}};
      all.push_back(std::move(node));
    }
  }
  fabric::Fabric::Options options;
  options.peak_watts = [](std::string_view) { return kPeak; };
  auto fabric = fabric::Fabric::Build(std::move(spec), std::move(all), std::move(options));
  EXPECT_TRUE(fabric.has_value()) << (fabric ? "" : fabric.error().message);
  return std::move(*fabric);
}

struct Asked {
  PodRequirements pod;
  SlotQuery query;

  explicit Asked(std::int64_t gpus) {
    pod.requests = {{"nvidia.com/gpu", gpus}};
    query.pod = &pod;
    query.cap = 100;
  }
};

Slots SlotsOf(const fabric::Claims& claims, const Asked& asked) {
  Slots slots;
  CountSlots(claims, asked.query, slots);
  return slots;
}

// Three nodes at full power draw 23.52 kW, four 31.36 kW.
TEST(KeepToPower, ARackOfThirtyKilowattsTakesThreeDgxH100AndNotFour) {
  const fabric::Fabric fabric = Racks({4}, 30'000);
  fabric::Claims claims(fabric);
  const Asked asked(8);
  EXPECT_EQ(SlotsOf(claims, asked), (Slots{1, 1, 1, 0}));
  const NodeJudge judge(claims, asked.query);
  EXPECT_EQ(judge.Judge(fabric::NodeIndex{2}).rejection, Rejection::kNone);
  EXPECT_EQ(judge.Judge(fabric::NodeIndex{3}).rejection, Rejection::kPower);
  EXPECT_EQ(judge.Judge(fabric::NodeIndex{3}).detail,
            "rack r0 may draw 30kW, pods there draw up to 0W, each worker would add 7.84kW");
}

TEST(KeepToPower, CountsPowerOfRunningPods) {
  const fabric::Fabric fabric = Racks({4}, 30'000);
  fabric::Claims claims(fabric);
  claims.Add(fabric::NodeIndex{3}, {{"nvidia.com/gpu", 8}});
  claims.Add(fabric::NodeIndex{2}, {{"nvidia.com/gpu", 8}});
  const Asked asked(8);
  EXPECT_EQ(SlotsOf(claims, asked), (Slots{1, 0, 0, 0}));
  const NodeJudge judge(claims, asked.query);
  EXPECT_EQ(judge.Judge(fabric::NodeIndex{1}).detail,
            "rack r0 may draw 30kW, pods there draw up to 15.68kW, each worker would add 7.84kW");
  const auto counts = judge.Count(fabric::NodeIndex{0}, fabric::NodeIndex{4});
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[1].rejection, Rejection::kPower);
  EXPECT_EQ(counts[1].nodes, 1u);
  Asked alone(8);
  alone.query.ignore_claims = true;
  EXPECT_EQ(SlotsOf(claims, alone), (Slots{1, 1, 1, 0}));
}

TEST(KeepToPower, ANodeCanGetPowerForSomeOfItsWorkers) {
  const fabric::Fabric fabric = Racks({2}, 10'000);
  const fabric::Claims claims(fabric);
  EXPECT_EQ(SlotsOf(claims, Asked(2)), (Slots{4, 1}));
}

TEST(KeepToPower, AWideDomainFeedsItsFullestPartsFirst) {
  const fabric::Fabric fabric = Racks({2, 4}, 40'000, 32'000);
  const fabric::Claims claims(fabric);
  EXPECT_EQ(SlotsOf(claims, Asked(8)), (Slots{0, 0, 1, 1, 1, 1}));
}

TEST(KeepToPower, EveryLevelsLimitHolds) {
  const fabric::Fabric fabric = Racks({3, 3}, 16'000, 24'000);
  const fabric::Claims claims(fabric);
  EXPECT_EQ(SlotsOf(claims, Asked(8)), (Slots{1, 1, 0, 1, 0, 0}));
  const Asked asked(8);
  const NodeJudge judge(claims, asked.query);
  EXPECT_EQ(judge.Judge(fabric::NodeIndex{2}).detail.substr(0, 7), "rack r0");
  EXPECT_EQ(judge.Judge(fabric::NodeIndex{4}).detail.substr(0, 5), "row a");
}

TEST(KeepToPower, DomainsOfOneLevelAreOneReason) {
  const fabric::Fabric fabric = Racks({4, 4, 4}, 30'000);
  const fabric::Claims claims(fabric);
  const Asked asked(8);
  const auto counts =
      NodeJudge(claims, asked.query).Count(fabric::NodeIndex{0}, fabric::NodeIndex{12});
  ASSERT_EQ(counts.size(), 1u);
  EXPECT_EQ(counts[0].nodes, 3u);
  EXPECT_EQ(counts[0].detail,
            "rack r0 may draw 30kW, pods there draw up to 0W, each worker would add 7.84kW; the "
            "same in 2 more domains");
}

TEST(KeepToPower, WithoutALimitNothingIsTaken) {
  const fabric::Fabric fabric = Racks({3}, 16'000);
  const fabric::Claims claims(fabric);
  PodRequirements cpu;
  cpu.requests = {};
  SlotQuery query;
  query.pod = &cpu;
  query.cap = 1;
  Slots slots;
  CountSlots(claims, query, slots);
  EXPECT_EQ(slots, (Slots{1, 1, 1}));  // a worker without an accelerator
}

}  // namespace
}  // namespace weft::rules
