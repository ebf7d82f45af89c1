#include "operator/search/rooms.h"

#include <gtest/gtest.h>

#include "tests/support/placement_scene.h"
#include "tests/support/raw_of.h"

namespace weft::search {
namespace {

using fabric::DomainIndex;
using fabric::Tier;
using objective::Instance;
using testing::PlacementScene;

using Numbers = std::vector<std::uint32_t>;
using Counts = std::vector<std::uint64_t>;

constexpr Tier kSpine{1}, kLeaf{2}, kNode{3};

// Workers of 2 GPUs on leaves l0 (4, 3, 2 and 1 slots), l1 (4 and 4) and l2 (none).
struct Scene : PlacementScene {
  Scene() : PlacementScene(testing::Leaves({{8, 6, 4, 2}, {8, 8}, {0}}), 16, 2) {}
};

Counts RoomsOf(const Rooms& rooms, const Instance& instance, Tier tier) {
  Counts counts;
  for (DomainIndex d{0}; d < instance.fabric().domains(tier).EndIndex(); ++d) {
    counts.push_back(rooms.room(tier, d));
  }
  return counts;
}

Numbers ChildrenOf(Rooms& rooms, Tier tier, DomainIndex domain) {
  const auto children = rooms.Children(tier, domain);
  return testing::RawOf(children);
}

TEST(Rooms, OfSingleWorkersAreTheSlots) {
  const Scene scene;
  const Instance instance = scene.Prepare();
  const Rooms rooms(instance, {1, 1, 1, 1});
  EXPECT_EQ(RoomsOf(rooms, instance, kNode), (Counts{4, 3, 2, 1, 4, 4, 0}));
  EXPECT_EQ(RoomsOf(rooms, instance, kLeaf), (Counts{10, 8, 0}));
  EXPECT_EQ(RoomsOf(rooms, instance, kSpine), (Counts{18}));
}

TEST(Rooms, OfTilesAreWholeTilesAtEveryTier) {
  const Scene scene;
  const Instance instance = scene.Prepare();
  const Rooms pairs(instance, {1, 1, 1, 2});
  EXPECT_EQ(RoomsOf(pairs, instance, kNode), (Counts{4, 2, 2, 0, 4, 4, 0}));
  EXPECT_EQ(RoomsOf(pairs, instance, kLeaf), (Counts{8, 8, 0}));
  const Rooms sixes(instance, {1, 1, 6, 2});
  EXPECT_EQ(RoomsOf(sixes, instance, kLeaf), (Counts{6, 6, 0}));
  EXPECT_EQ(RoomsOf(sixes, instance, kSpine), (Counts{12}));
  const Rooms fours(instance, {1, 8, 1, 4});
  EXPECT_EQ(RoomsOf(fours, instance, kNode), (Counts{4, 0, 0, 0, 4, 4, 0}));
  EXPECT_EQ(RoomsOf(fours, instance, kSpine), (Counts{8}));
}

TEST(Rooms, ChildrenAreThoseThatTakeAWorkerTheRoomiestFirst) {
  const Scene scene;
  const Instance instance = scene.Prepare();
  Rooms rooms(instance, {1, 1, 1, 1});
  EXPECT_EQ(ChildrenOf(rooms, kSpine, DomainIndex{0}), (Numbers{0, 1}));
  EXPECT_EQ(ChildrenOf(rooms, kLeaf, DomainIndex{0}), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(ChildrenOf(rooms, kLeaf, DomainIndex{2}), (Numbers{}));
  Rooms fours(instance, {1, 1, 1, 4});
  EXPECT_EQ(ChildrenOf(fours, kLeaf, DomainIndex{0}), (Numbers{0}));
  EXPECT_EQ(ChildrenOf(fours, kSpine, DomainIndex{0}), (Numbers{1, 0}));
}

TEST(Rooms, OfEqualChildrenTheOneInUseComesFirst) {
  testing::FabricShape shape = testing::Leaves({{8, 8, 8}});
  shape.nodes[1].accelerators = 16;
  shape.nodes[1].used = 8;
  const PlacementScene scene(shape, 8, 2);
  const Instance instance = scene.Prepare();
  Rooms rooms(instance, {1, 1, 1, 1});
  EXPECT_EQ(ChildrenOf(rooms, kLeaf, DomainIndex{0}), (Numbers{1, 0, 2}));
}

TEST(Rooms, TheTightestFitHasRoomForAllAndLeastBeyond) {
  const PlacementScene scene(testing::Leaves({{8, 6, 6, 4, 2}}), 16, 2);  // 4, 3, 3, 2 and 1 slots
  const Instance instance = scene.Prepare();
  Rooms rooms(instance, {1, 1, 1, 1});
  EXPECT_EQ(rooms.TightestFit(kLeaf, DomainIndex{0}, 0, 4), 0u);
  EXPECT_EQ(rooms.TightestFit(kLeaf, DomainIndex{0}, 0, 3), 1u);
  EXPECT_EQ(rooms.TightestFit(kLeaf, DomainIndex{0}, 2, 3), 2u);
  EXPECT_EQ(rooms.TightestFit(kLeaf, DomainIndex{0}, 0, 2), 3u);
  EXPECT_EQ(rooms.TightestFit(kLeaf, DomainIndex{0}, 0, 1), 4u);
}

TEST(Rooms, TypicalAreThoseOfTheMiddleChildThatAJobWouldUse) {
  const Scene scene;
  const Instance instance = scene.Prepare();
  Rooms rooms(instance, {1, 1, 1, 1});
  EXPECT_EQ(rooms.Typical(kSpine, DomainIndex{0}, 6),
            (Counts{6, 4}));                                        // two nodes of l0: the first
  EXPECT_EQ(rooms.Typical(kLeaf, DomainIndex{0}, 9), (Counts{3}));  // three nodes of l0: the second
  EXPECT_EQ(rooms.Typical(kLeaf, DomainIndex{0}, 10), (Counts{3}));  // four: the second too
  EXPECT_EQ(rooms.Typical(kSpine, DomainIndex{0}, 18),
            (Counts{10, 3}));  // both leaves: l0 with all it holds
  EXPECT_EQ(rooms.Typical(kNode, DomainIndex{0}, 3), (Counts{}));
  EXPECT_EQ(rooms.Typical(kLeaf, DomainIndex{2}, 3), (Counts{}));
}

}  // namespace
}  // namespace weft::search
