#include "operator/placement/between.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "operator/objective/hard_rules.h"
#include "operator/placement/fits.h"
#include "operator/placement/place.h"
#include "operator/placement/refuse.h"
#include "tests/support/placement_scene.h"

namespace weft::placement {
namespace {

using fabric::NodeIndex;
using fabric::PodTerm;
using fabric::SpreadRule;
using testing::PlacementScene;

const fabric::LabelSelector kTrain = {{{"app", "train"}}, {}};

PodTerm By(const std::string& key) { return {key, kTrain, {}, false}; }
SpreadRule Over(const std::string& key, int max_skew) { return {key, max_skew, 1, kTrain}; }

// Required rules of the workers among each other.
struct Rules {
  std::vector<PodTerm> affinity, anti_affinity;
  std::vector<SpreadRule> spread;
};

void SetRules(const Rules& rules, objective::Request& request) {
  request.pod.labels = {{"app", "train"}};
  request.pod.terms =
      fabric::PodTerms{{}, rules.affinity, rules.anti_affinity, rules.spread, {}, {}};
}

// Leaves of nodes of eight GPUs, with the values of a label on the nodes in tree order.
testing::FabricShape Labelled(testing::FabricShape shape, const std::string& key,
                              const std::vector<std::string>& values) {
  for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
    if (!values[n].empty()) shape.nodes[n].labels[key] = values[n];
  }
  return shape;
}

objective::Options Exactly() {
  objective::Options options;
  options.cost_tolerance_percent = 0;
  return options;
}

TEST(SolveBetween, AffinityTakesTheCheapestDomainAndNotTheRoomiest) {
  // Zone a has a node on each of five leaves, zone b four on one.
  const auto shape = Labelled(testing::Leaves({{8}, {8}, {8}, {8}, {8}, {8, 8, 8, 8}}), "zone",
                              {"a", "a", "a", "a", "a", "b", "b", "b", "b"});
  PlacementScene scene(shape, 4, 8);
  const auto plain = Solve(scene.cluster.claims, scene.request, scene.graph, Exactly());
  SetRules({{By("zone")}, {}, {}}, scene.request);
  const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph, Exactly());
  ASSERT_TRUE(plain && plan);
  EXPECT_EQ(plan->cost, plain->cost);
  EXPECT_TRUE(plan->exact);
  EXPECT_EQ(plan->lower_bound, plan->cost);
}

// "Never" is final: Kueue gives such a job up.
TEST(SolveBetween, OnlyWhatWasSearchedNeverFits) {
  const auto ever = [](std::size_t nodes, std::size_t others, std::uint32_t workers) {
    std::vector<std::string> pairs, values;
    for (std::size_t n = 0; n < nodes; ++n) {
      pairs.push_back(std::to_string(n / 2));
      values.push_back(std::to_string(n % others));
    }
    const auto shape =
        Labelled(Labelled(testing::Leaves({testing::FreePerNode(nodes, 8)}), "pair", pairs),
                 "other", values);
    PlacementScene scene(shape, workers, 8);
    SetRules({{}, {By("pair"), By("other")}, {}}, scene.request);
    objective::Options options = Exactly();
    EXPECT_FALSE(Solve(scene.cluster.claims, scene.request, scene.graph, options));
    const bool now = Refuse(scene.cluster.claims, scene.request, scene.graph, options).ever;
    options.ignore_claims = true;  // as lint asks
    EXPECT_EQ(Refuse(scene.cluster.claims, scene.request, scene.graph, options).ever, now);
    return now;
  };
  EXPECT_FALSE(ever(16, 5, 6)) << "five values";
  EXPECT_TRUE(ever(2'000, 600, 700)) << "too much to look at all ways";
}

TEST(SolveBetween, WhatARuleAndARequiredLevelAllowTogetherIsNotCalledNever) {
  // Zone a has more room, but no leaf with three of its nodes.
  const auto ever = [](const std::vector<std::string>& zones) {
    PlacementScene scene(
        Labelled(testing::Leaves({{8, 8, 8}, {8, 8, 8}, {8, 8, 0}}), "zone", zones), 3, 8);
    SetRules({{By("zone")}, {}, {}}, scene.request);
    scene.request.required = scene.tier("leaf");
    EXPECT_FALSE(Solve(scene.cluster.claims, scene.request, scene.graph, Exactly()));
    return Refuse(scene.cluster.claims, scene.request, scene.graph, Exactly()).ever;
  };
  EXPECT_TRUE(ever({"a", "a", "", "a", "a", "", "b", "b", "b"})) << "once the last node is free";
  EXPECT_FALSE(ever({"a", "a", "", "a", "a", "", "b", "b", ""}));
}

TEST(SolveBetween, AntiAffinityTakesTheNodesThatAreNearEachOther) {
  // The roomiest node of each rack is on a leaf of its own.
  const auto shape =
      Labelled(testing::Leaves({{8, 0}, {8, 0}, {4, 4}}), "rack", {"1", "1", "2", "2", "1", "2"});
  PlacementScene scene(shape, 2, 4);
  SetRules({{}, {By("rack")}, {}}, scene.request);
  const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph, Exactly());
  ASSERT_TRUE(plan);
  EXPECT_EQ(scene.Prepare().HullOfAll(plan->nodes), scene.tier("leaf"));
  EXPECT_TRUE(plan->exact);
}

TEST(SolveBetween, ARequiredLevelAndARuleAreMetTogether) {
  // Zone a has more room, but no leaf with three of its nodes.
  const auto shape = Labelled(testing::Leaves({{8, 8, 8}, {8, 8, 8}, {8, 8, 8}}), "zone",
                              {"a", "a", "", "a", "a", "", "b", "b", "b"});
  PlacementScene scene(shape, 3, 8);
  SetRules({{By("zone")}, {}, {}}, scene.request);
  scene.request.required = scene.tier("leaf");
  const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph, Exactly());
  ASSERT_TRUE(plan);
  EXPECT_EQ(scene.Show(plan->nodes.Items()), "n6 n7 n8");
  EXPECT_TRUE(Fits(scene.cluster.claims, scene.request, scene.graph, Exactly()));
}

// A job of two to four workers with one to three rules on six to nine nodes.
struct World {
  explicit World(std::uint32_t seed)
      : random(seed), workers(2 + Draw(3)), scene(Shape(), workers, 4) {
    const auto key = [&] { return std::string(Draw(2) == 0 ? "zone" : "rack"); };
    for (std::uint32_t count = 1 + Draw(3); count > 0; --count) {
      const std::uint32_t kind = Draw(4);
      if (kind < 2) {
        rules.anti_affinity.push_back(By(key()));
      } else if (kind == 2 && rules.affinity.empty()) {
        rules.affinity.push_back(By(key()));
      } else if (rules.spread.size() < 2) {
        const std::string over = rules.spread.empty()                          ? key()
                                 : rules.spread.front().topology_key == "zone" ? "rack"
                                                                               : "zone";
        rules.spread.push_back(Over(over, 1 + static_cast<int>(Draw(2))));
      }
    }
    if (Draw(5) == 0) scene.request.preferred = scene.tier("leaf");
    if (Draw(5) == 0) scene.request.required = scene.tier("spine");
    SetRules(rules, scene.request);
  }

  std::uint32_t Draw(std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); }

  testing::FabricShape Shape() {
    testing::FreePerFabric free(1 + Draw(2));
    std::uint32_t nodes = 6 + Draw(4);
    for (std::size_t s = 0; s < free.size(); ++s) {
      std::uint32_t left = s + 1 == free.size() ? nodes : nodes / 2;
      nodes -= left;
      while (left > 0) {
        const std::uint32_t here = std::min(left, 1 + Draw(3));
        testing::FreePerNode leaf;
        for (std::uint32_t n = 0; n < here; ++n) leaf.push_back(4 * static_cast<int>(Draw(3)));
        free[s].push_back({leaf});
        left -= here;
      }
    }
    testing::FabricShape shape = testing::Spines(free, false);
    for (testing::TestNode& node : shape.nodes) {
      if (Draw(8) > 0) node.labels["zone"] = std::to_string(Draw(3));
      if (Draw(8) > 0) node.labels["rack"] = std::to_string(Draw(5));
    }
    return shape;
  }

  std::optional<std::string> Value(NodeIndex n, const std::string& key) const {
    const auto value = scene.cluster.fabric->node(n).labels.At(key);
    return value ? std::optional(std::string(*value)) : std::nullopt;
  }
  bool IsSpreadOver(NodeIndex n) const {
    return std::all_of(rules.spread.begin(), rules.spread.end(),
                       [&](const auto& rule) { return Value(n, rule.topology_key).has_value(); });
  }

  // As kube-scheduler would find the gang in the end.
  bool Keeps(const ByWorker<NodeIndex>& nodes) const {
    for (const PodTerm& term : rules.anti_affinity) {
      std::set<std::string> used;
      for (const NodeIndex n : nodes) {
        const auto value = Value(n, term.topology_key);
        if (value && !used.insert(*value).second) return false;
      }
    }
    for (const PodTerm& term : rules.affinity) {
      const auto first = Value(nodes.front(), term.topology_key);
      for (const NodeIndex n : nodes) {
        if (!first || Value(n, term.topology_key) != first) return false;
      }
    }
    for (const SpreadRule& rule : rules.spread) {
      std::map<std::string, int> pods;
      for (const NodeIndex n : Range<NodeIndex>(scene.cluster.fabric->node_count())) {
        if (IsSpreadOver(n)) pods[*Value(n, rule.topology_key)];
      }
      for (const NodeIndex n : nodes) {
        if (!IsSpreadOver(n)) return false;
        ++pods[*Value(n, rule.topology_key)];
      }
      int emptiest = 100;
      for (const auto& [value, count] : pods) emptiest = std::min(emptiest, count);
      for (const auto& [value, count] : pods) {
        if (count > emptiest + rule.max_skew) return false;
      }
    }
    return true;
  }

  // The best placement that keeps the rules: tries them all.
  std::optional<objective::Candidate> Best() const {
    objective::Request request = scene.request;
    request.pod.terms = {};
    const objective::Instance instance(scene.cluster.claims, request, scene.graph);
    std::optional<objective::Candidate> best;
    fabric::ByNode<std::uint32_t> used(scene.cluster.fabric->node_count(), 0);
    ByWorker<NodeIndex> nodes;
    const std::function<void()> place = [&] {
      if (nodes.size() == request.workers) {
        if (!Keeps(nodes) || !objective::MeetsTopology(instance, nodes)) return;
        objective::Candidate found = objective::Evaluate(instance, nodes);
        if (!best || found.objective() < best->objective()) best = std::move(found);
        return;
      }
      for (const NodeIndex n : used.Indices()) {
        if (used[n] == instance.slots()[n]) continue;
        ++used[n];
        nodes.push_back(n);
        place();
        nodes.pop_back();
        --used[n];
      }
    };
    place();
    return best;
  }

  std::mt19937 random;
  std::uint32_t workers;
  PlacementScene scene;
  Rules rules;
};

TEST(SolveBetween, IsAsGoodAsTryingAllPlacements) {
  constexpr std::uint32_t kFirstSeed = 0, kSeeds = 1500;
  int placed = 0, refused = 0, exact = 0, best_found = 0;
  double ratios = 0;
  for (std::uint32_t seed = kFirstSeed; seed < kFirstSeed + kSeeds; ++seed) {
    const World world(seed);
    const auto best = world.Best();
    const auto& scene = world.scene;
    const auto plan = Solve(scene.cluster.claims, scene.request, scene.graph, Exactly());
    ASSERT_EQ(plan.has_value(), best.has_value()) << seed;
    EXPECT_EQ(Fits(scene.cluster.claims, scene.request, scene.graph, Exactly()), best.has_value())
        << seed;
    if (!plan) {
      ++refused;
      continue;
    }
    ++placed;
    EXPECT_TRUE(world.Keeps(plan->nodes)) << seed;
    EXPECT_LE(plan->lower_bound, plan->cost) << seed;
    EXPECT_GE(plan->candidate().objective(), best->objective()) << seed;
    if (plan->preferences == best->preferences) {
      EXPECT_LE(plan->lower_bound, best->cost) << seed;
    }
    if (plan->exact) {
      ++exact;
      EXPECT_EQ(plan->candidate().objective(), best->objective()) << seed;
    }
    best_found += plan->candidate().objective() == best->objective() ? 1 : 0;
    ratios += plan->cost == best->cost
                  ? 1
                  : static_cast<double>(plan->cost) / static_cast<double>(best->cost);
  }
  std::printf("%d placed, %d exact, %d the best, mean cost %.5f of the best; %d refused\n", placed,
              exact, best_found, ratios / placed, refused);
  EXPECT_GT(refused, 100);
  EXPECT_GE(exact, placed * 98 / 100);
  EXPECT_GE(best_found, placed * 99 / 100);
}

}  // namespace
}  // namespace weft::placement
