#include "operator/objective/instance.h"

#include <gtest/gtest.h>

#include "tests/support/nodes_of.h"
#include "tests/support/placement_scene.h"
#include "tests/support/raw_of.h"

namespace weft::objective {
namespace {

using fabric::NodeIndex;
using fabric::Tier;
using testing::PlacementScene;
using testing::WorkerSetsOf;

using Numbers = std::vector<std::uint32_t>;

// One spine of leaves l0 (n0 free, n1 half in use) and l1 (n2 free, n3 full): slots 2, 1, 2, 0 for
// workers of 4 GPUs.
testing::FabricShape HalfUsed() { return testing::Leaves({{8, 4}, {8, 0}}); }

constexpr Tier kSpine{1}, kLeaf{2}, kNode{3};

template <typename Of>
std::vector<std::uint64_t> ByDomain(const Instance& instance, Tier tier, Of of) {
  std::vector<std::uint64_t> values;
  for (fabric::DomainIndex d{0}; d < instance.fabric().domains(tier).EndIndex(); ++d) {
    values.push_back(of(d));
  }
  return values;
}

std::vector<std::uint64_t> Capacities(const Instance& instance, Tier tier) {
  return ByDomain(instance, tier, [&](auto d) { return instance.capacity(tier, d); });
}

std::vector<std::uint64_t> WhollyFree(const Instance& instance, Tier tier) {
  return ByDomain(instance, tier, [&](auto d) { return instance.wholly_free(tier, d) ? 1u : 0u; });
}

using Counts = std::vector<std::uint64_t>;

TEST(Instance, CountsTheSlotsOfNodesAndDomains) {
  const PlacementScene scene(HalfUsed(), 4, 4);
  const Instance instance = scene.Prepare();
  EXPECT_EQ(Numbers(instance.slots().begin(), instance.slots().end()), (Numbers{2, 1, 2, 0}));
  EXPECT_EQ(Capacities(instance, kNode), (Counts{2, 1, 2, 0}));
  EXPECT_EQ(Capacities(instance, kLeaf), (Counts{3, 2}));
  EXPECT_EQ(Capacities(instance, kSpine), (Counts{5}));
  EXPECT_EQ(instance.SlotsIn(kLeaf, fabric::DomainIndex{1}), 2u);
  EXPECT_EQ(instance.SlotsIn(kSpine, fabric::DomainIndex{0}), 5u);
  EXPECT_EQ(instance.TotalSlots(), 5u);
  EXPECT_EQ(instance.workers(), 4u);
  EXPECT_EQ(instance.node_tier(), kNode);
}

TEST(Instance, ANodeHasNoMoreSlotsThanTheJobHasWorkers) {
  const PlacementScene scene(HalfUsed(), 1, 4);
  EXPECT_EQ(Capacities(scene.Prepare(), kNode), (Counts{1, 1, 1, 0}));
}

TEST(Instance, ADomainIsWhollyFreeWhereAllItsNodesAre) {
  const PlacementScene scene(testing::Leaves({{8, 4}, {8, 8}}), 4, 4);
  const Instance instance = scene.Prepare();
  EXPECT_EQ(WhollyFree(instance, kNode), (Counts{1, 0, 1, 1}));
  EXPECT_EQ(WhollyFree(instance, kLeaf), (Counts{0, 1}));
  EXPECT_EQ(WhollyFree(instance, kSpine), (Counts{0}));
}

TEST(Instance, NodesThatCannotBeUsedDoNotKeepADomainFromBeingFree) {
  testing::FabricShape shape = testing::Leaves({{8, 8}, {8, 8}});
  for (const std::size_t n : {1u, 2u, 3u}) shape.nodes[n].conditions = {{"Ready", "False"}};
  const PlacementScene scene(shape, 2, 4);
  const Instance instance = scene.Prepare();
  EXPECT_EQ(WhollyFree(instance, kNode), (Counts{1, 0, 0, 0}));
  EXPECT_EQ(WhollyFree(instance, kLeaf), (Counts{1, 0}));
  EXPECT_EQ(WhollyFree(instance, kSpine), (Counts{1}));
}

TEST(Instance, AsIfNothingElseRanEverythingIsFree) {
  const PlacementScene scene(HalfUsed(), 4, 4);
  Options options;
  options.ignore_claims = true;
  const Instance instance = scene.Prepare(options);
  EXPECT_EQ(Capacities(instance, kNode), (Counts{2, 2, 2, 2}));
  EXPECT_EQ(WhollyFree(instance, kLeaf), (Counts{1, 1}));
}

TEST(Instance, AtomsAreTheWorkersThatAGroupKeepsTogether) {
  PlacementScene scene(HalfUsed(), 4, 4);
  scene.request.groups = {{WorkerSetsOf({{0, 2}, {1, 3}}), kLeaf, std::nullopt}};
  const Instance instance = scene.Prepare();
  EXPECT_TRUE(instance.has_groups());
  EXPECT_TRUE(instance.uniform_atoms());
  for (const Tier t : {kSpine, kLeaf}) {
    const auto atoms = instance.hard_atoms(t);
    ASSERT_EQ(atoms.size(), 4u);
    EXPECT_EQ(atoms.Items()[0], atoms.Items()[2]);
    EXPECT_EQ(atoms.Items()[1], atoms.Items()[3]);
    EXPECT_NE(atoms.Items()[0], atoms.Items()[1]);
    EXPECT_EQ(instance.unit(t), 2u);
  }
  EXPECT_TRUE(instance.hard_atoms(kNode).empty());
  EXPECT_EQ(instance.unit(kNode), 1u);
  // Whole atoms alone: l0 has three slots, and takes one atom of two.
  EXPECT_EQ(Capacities(instance, kLeaf), (Counts{2, 2}));
  EXPECT_EQ(Capacities(instance, kNode), (Counts{2, 1, 2, 0}));
}

TEST(Instance, AtomsOfANodeMakeItsSlotsWhole) {
  PlacementScene scene(testing::Leaves({{8, 6}, {4, 2}}), 4, 2);
  scene.request.groups = {{WorkerSetsOf({{0, 1}, {2, 3}}), kNode, std::nullopt}};
  const Instance instance = scene.Prepare();
  EXPECT_EQ(Capacities(instance, kNode), (Counts{4, 2, 2, 0}));
  EXPECT_EQ(instance.SlotsIn(kLeaf, fabric::DomainIndex{0}), 7u);
}

TEST(Instance, OfAtomsOfSeveralSizesAnySlotCounts) {
  PlacementScene scene(HalfUsed(), 4, 4);
  scene.request.groups = {{WorkerSetsOf({{0, 1, 2}}), kLeaf, std::nullopt}};
  const Instance instance = scene.Prepare();
  EXPECT_FALSE(instance.uniform_atoms());
  EXPECT_EQ(Capacities(instance, kLeaf), (Counts{3, 2}));
}

TEST(Instance, PreferredGroupsMakeSoftAtomsAlone) {
  PlacementScene scene(HalfUsed(), 4, 4);
  scene.request.groups = {{WorkerSetsOf({{0, 1}, {2, 3}}), kSpine, kLeaf}};
  const Instance instance = scene.Prepare();
  EXPECT_TRUE(instance.hard_atoms(kLeaf).empty());
  EXPECT_FALSE(instance.hard_atoms(kSpine).empty());
  const auto soft = instance.soft_atoms(kLeaf);
  ASSERT_EQ(soft.size(), 4u);
  EXPECT_EQ(soft.Items()[0], soft.Items()[1]);
  EXPECT_NE(soft.Items()[1], soft.Items()[2]);
}

TEST(Instance, WithoutGroupsEveryWorkerIsItsOwnAtom) {
  PlacementScene scene(HalfUsed(), 4, 4);
  scene.request.groups = {{WorkerSetsOf({{0, 1}}), std::nullopt, std::nullopt}};
  const Instance instance = scene.Prepare();
  EXPECT_FALSE(instance.has_groups());
  for (Tier t{0}; t <= kNode; ++t) {
    EXPECT_TRUE(instance.hard_atoms(t).empty());
    EXPECT_EQ(instance.unit(t), 1u);
  }
}

TEST(Instance, ASetThatSeveralGroupsPreferCountsOnceAtTheNarrowest) {
  PlacementScene scene(HalfUsed(), 4, 4);
  scene.request.groups = {{WorkerSetsOf({{0, 1}, {2, 3}}), std::nullopt, kSpine},
                          {WorkerSetsOf({{0, 1}, {0, 1, 2}}), std::nullopt, kLeaf}};
  const Instance instance = scene.Prepare();
  std::vector<std::pair<Tier, Numbers>> sets;
  for (const auto& set : instance.preferred_sets()) {
    sets.push_back({set.tier, testing::RawOf(set.workers)});
  }
  EXPECT_EQ(sets, (std::vector<std::pair<Tier, Numbers>>{
                      {kLeaf, {0, 1}}, {kLeaf, {0, 1, 2}}, {kSpine, {2, 3}}}));
}

TEST(Instance, RemembersTheNodesOfTheLastAttemptThatAreLeft) {
  PlacementScene scene(HalfUsed(), 4, 4);
  scene.request.previous_nodes = {NodeIndex{2}, NodeIndex{0}, kUnplaced, NodeIndex{2},
                                  NodeIndex{4}};
  const Instance instance = scene.Prepare();
  EXPECT_EQ(testing::RawOf(instance.previous()), (Numbers{0, 2}));
  EXPECT_TRUE(instance.was_used(NodeIndex{0}));
  EXPECT_FALSE(instance.was_used(NodeIndex{1}));
  EXPECT_TRUE(instance.was_used(NodeIndex{2}));
}

TEST(Instance, TheHullIsTheNarrowestTierThatHoldsThePlacedWorkers) {
  const PlacementScene scene(testing::Spines({{{{8, 8}}, {{8}}}, {{{8}}}}, false), 4, 8);
  const Instance instance = scene.Prepare();
  struct Case {
    ByWorker<NodeIndex> nodes;
    Tier of_first_two, of_all;
  };
  const Case cases[] = {{testing::WorkersOn({0, 1, 2, 3}), kLeaf, Tier{0}},
                        {{NodeIndex{2}, NodeIndex{0}, kUnplaced, NodeIndex{1}}, kSpine, kSpine},
                        {{NodeIndex{3}, kUnplaced, NodeIndex{0}, kUnplaced}, kNode, Tier{0}},
                        {{NodeIndex{0}, NodeIndex{0}, kUnplaced, kUnplaced}, kNode, kNode},
                        {{kUnplaced, kUnplaced, kUnplaced, kUnplaced}, kNode, kNode}};
  const std::vector<WorkerIndex> first_two = {WorkerIndex{0}, WorkerIndex{1}};
  for (const Case& c : cases) {
    EXPECT_EQ(instance.HullOf(first_two, c.nodes), c.of_first_two) << c.nodes.front().Raw();
    EXPECT_EQ(instance.HullOfAll(c.nodes), c.of_all) << c.nodes.front().Raw();
  }
}

}  // namespace
}  // namespace weft::objective
