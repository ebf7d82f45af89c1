#include "operator/rules/worker_rules.h"

#include <functional>
#include <numeric>
#include <random>

#include "gtest/gtest.h"
#include "operator/rules/pod_domains.h"

namespace weft::rules {
namespace {

using Slots = fabric::ByNode<std::uint32_t>;
using fabric::NodeIndex;

constexpr std::uint32_t kNone = Domains::kNone;

Slots Of(const std::vector<std::uint32_t>& numbers) { return Slots(numbers); }

WorkerRules::Limit OneIn(const std::vector<std::uint32_t>& of_node, std::size_t domains) {
  return {Of(of_node), std::vector<std::uint64_t>(domains, 1)};
}

std::uint64_t Sum(const Slots& slots) {
  return std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
}

TEST(FindWorkers, TwoLimitsMeetInOneChoice) {
  WorkerRules rules;
  // The first node is alone in both: with it, no other node is left.
  rules.limits = {OneIn({0, 0, 1}, 2), OneIn({0, 1, 0}, 2)};
  EXPECT_EQ(FindWorkers(rules, Of({1, 1, 1}), 2), Of({0, 1, 1}));
  EXPECT_FALSE(FindWorkers(rules, Of({1, 1, 1}), 3));
}

TEST(FindWorkers, NodesWithoutALabelAreNotLimited) {
  WorkerRules rules;
  rules.limits = {OneIn({0, 0, kNone}, 1), OneIn({kNone, 0, 0}, 1)};
  EXPECT_EQ(FindWorkers(rules, Of({1, 1, 1}), 2), Of({1, 0, 1}));
}

TEST(FindWorkers, TakesTheDomainWhereTheOtherRulesLeaveRoom) {
  WorkerRules rules;
  rules.together = {{Of({0, 0, 0, 1, 1})}};
  rules.limits = {OneIn({0, 0, 0, 1, 2}, 3)};
  EXPECT_EQ(FindWorkers(rules, Of({1, 1, 1, 1, 1}), 2), Of({0, 0, 0, 1, 1}));
}

TEST(FindWorkers, MeetsTwoSpreads) {
  WorkerRules rules;
  const WorkerRules::Spread zones = {Of({0, 0, 1, 1}), {0, 0}, {1, 1}, 1, false};
  const WorkerRules::Spread racks = {Of({0, 1, 1, 1}), {0, 0}, {1, 1}, 1, false};
  rules.spreads = {zones, racks};
  const auto found = FindWorkers(rules, Of({4, 4, 4, 4}), 4);
  ASSERT_TRUE(found);
  EXPECT_EQ(Sum(*found), 4u);
  EXPECT_TRUE(HoldAll(rules, *found));
}

TEST(HoldsIn, ComparesWithTheEmptiestEligibleDomain) {
  const WorkerRules::Spread rule = {Of({0, 1, 2}), {2, 0, 0}, {1, 1, 0}, 1, false};
  EXPECT_TRUE(HoldsIn(rule, {0, 1, 2}));   // the emptiest has one
  EXPECT_FALSE(HoldsIn(rule, {0, 0, 2}));  // none
  EXPECT_TRUE(HoldsIn(rule, {0, 0, 1}));   // the first has too many, but no worker is there
  EXPECT_FALSE(HoldsIn(rule, {1, 1, 0}));
  WorkerRules::Spread few = rule;
  few.from_zero = true;
  EXPECT_FALSE(HoldsIn(few, {0, 1, 2}));
}

// Whether some use of the slots by `workers` keeps the rules: tries them all.
bool AnyHolds(const WorkerRules& rules, const Slots& slots, std::uint64_t workers) {
  Slots used(slots.size(), 0);
  const std::function<bool(NodeIndex, std::uint64_t)> place = [&](NodeIndex n, std::uint64_t left) {
    if (n == slots.EndIndex()) return left == 0 && HoldAll(rules, used);
    for (std::uint32_t here = 0; here <= std::min<std::uint64_t>(left, slots[n]); ++here) {
      used[n] = here;
      if (place(n + 1, left - here)) return true;
    }
    used[n] = 0;
    return false;
  };
  return place(NodeIndex{0}, workers);
}

// Random rules on six to nine nodes.
struct RandomRules {
  explicit RandomRules(std::uint32_t seed) : random(seed) {
    const std::uint32_t nodes = 6 + Draw(4);
    for (std::uint32_t n = 0; n < nodes; ++n) slots.push_back(Draw(3));
    if (Draw(3) == 0) rules.together.push_back({Labels(3)});
    for (std::uint32_t l = Draw(4); l > 0; --l) {
      const std::uint32_t domains = 2 + Draw(4);
      rules.limits.push_back({Labels(domains), std::vector<std::uint64_t>(domains, 1 + Draw(2))});
    }
    for (std::uint32_t s = Draw(3); s > 1; --s) {
      const std::vector<std::uint64_t> pods = {Draw(3), Draw(3), Draw(3)};
      rules.spreads.push_back({Labels(3), pods, {1, 1, 1}, 1 + Draw(2), false});
    }
  }
  std::uint32_t Draw(std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); }
  Slots Labels(std::uint32_t domains) {
    Slots of_node;
    for (std::size_t n = 0; n < slots.size(); ++n) of_node.push_back(Draw(domains));
    return of_node;
  }

  std::mt19937 random;
  Slots slots;
  WorkerRules rules;
};

TEST(FindWorkers, FindsWorkersWhereTheyAre) {
  int some = 0, none = 0;
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    RandomRules world(seed);
    const std::uint64_t workers = 2 + world.Draw(4);
    const auto found = FindWorkers(world.rules, world.slots, workers);
    ASSERT_EQ(found.has_value(), AnyHolds(world.rules, world.slots, workers)) << seed;
    ++(found ? some : none);
    if (!found || world.rules.limits.empty()) continue;
    EXPECT_TRUE(HoldAll(world.rules, *found)) << seed;
  }
  EXPECT_GT(some, 300);
  EXPECT_GT(none, 300);
}

// A planner that serves a fleet must not wait for minutes. What is tried without undoing anything
// is no proof.
TEST(FindWorkers, UndoesNothingWhereRulesMeetOnThousandsOfNodes) {
  constexpr std::uint32_t kNodes = 4'000, kWorkers = 1'000;
  Slots pairs, zones;
  for (std::uint32_t n = 0; n < kNodes; ++n) {
    pairs.push_back(n / 2);
    zones.push_back(n % 10);
  }
  const Slots slots(kNodes, 1);
  WorkerRules rules;
  rules.limits = {{pairs, std::vector<std::uint64_t>(kNodes / 2, 1)}};
  EXPECT_TRUE(IsQuick(rules, slots, kWorkers));
  EXPECT_TRUE(FindWorkers(rules, slots, kWorkers));
  rules.spreads = {
      {zones, std::vector<std::uint64_t>(10, 0), std::vector<std::uint8_t>(10, 1), 1, false}};
  EXPECT_FALSE(IsQuick(rules, slots, kWorkers));
  const auto found = FindWorkers(rules, slots, kWorkers);
  ASSERT_TRUE(found);
  EXPECT_TRUE(HoldAll(rules, *found));
  EXPECT_TRUE(IsQuick(rules, slots, 100));
  EXPECT_TRUE(FindWorkers(rules, slots, 100));
  bool gave_up = false;
  EXPECT_FALSE(FindWorkers(rules, slots, kNodes / 2 + 1, &gave_up));
  EXPECT_TRUE(gave_up);
  gave_up = false;
  rules.limits.front().most.assign(kNodes / 2, 0);
  EXPECT_FALSE(FindWorkers(rules, slots, 1, &gave_up));
  EXPECT_FALSE(gave_up);
}

}  // namespace
}  // namespace weft::rules
