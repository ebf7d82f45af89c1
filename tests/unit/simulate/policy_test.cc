#include "operator/simulate/policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "operator/report/baselines.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/nodes_of.h"

namespace weft::report {
namespace {

using fabric::DomainIndex;
using fabric::NodeIndex;

std::vector<DomainIndex> LeavesOf(const fabric::Fabric& fabric, const Nodes& nodes) {
  std::set<DomainIndex> leaves;
  for (const NodeIndex n : nodes)
    leaves.insert(fabric.domains(*fabric.FindTier("leaf")).of_node[n]);
  return {leaves.begin(), leaves.end()};
}

// The rooms of the leaves.
std::vector<std::uint32_t> Rooms(const fabric::Fabric& fabric,
                                 const fabric::ByNode<std::uint32_t>& slots) {
  const auto& begin = fabric.domains(*fabric.FindTier("leaf")).begin;
  std::vector<std::uint32_t> rooms;
  for (DomainIndex d{0}; d + 1 < begin.EndIndex(); ++d) {
    rooms.push_back(0);
    for (NodeIndex n = begin[d]; n < begin[d + 1]; ++n) rooms.back() += slots[n];
  }
  return rooms;
}

// The least number of leaves that hold the workers, by trying all sets.
std::size_t FewestLeaves(const std::vector<std::uint32_t>& rooms, std::uint32_t workers) {
  std::size_t fewest = rooms.size() + 1;
  for (unsigned set = 1; set < 1U << rooms.size(); ++set) {
    std::uint32_t room = 0;
    std::size_t count = 0;
    for (std::size_t d = 0; d < rooms.size(); ++d) {
      if ((set >> d & 1U) == 0) continue;
      room += rooms[d];
      ++count;
    }
    if (room >= workers) fewest = std::min(fewest, count);
  }
  return fewest;
}

class Baselines : public ::testing::Test {
 protected:
  // Five leaves of six nodes with random free slots.
  fabric::ByNode<std::uint32_t> RandomSlots() {
    fabric::ByNode<std::uint32_t> slots;
    while (slots.size() < cluster_.fabric->node_count()) {
      slots.push_back(static_cast<std::uint32_t>(random_.Below(3)));
    }
    return slots;
  }
  static void ExpectWithin(const Nodes& nodes, const fabric::ByNode<std::uint32_t>& slots) {
    std::map<NodeIndex, std::uint32_t> used;
    for (const NodeIndex n : nodes) EXPECT_LE(++used[n], slots[n]);
  }

  testing::Cluster cluster_ = testing::MakeCluster(
      testing::Leaves(std::vector<testing::FreePerNode>(5, testing::FreePerNode(6, 8))));
  SplitMix64 random_{9};
};

TEST_F(Baselines, AgreeWithBruteForceOnSmallFabrics) {
  const fabric::Fabric& fabric = *cluster_.fabric;
  for (int round = 0; round < 300; ++round) {
    const fabric::ByNode<std::uint32_t> slots = RandomSlots();
    const auto workers = static_cast<std::uint32_t>(1 + random_.Below(16));
    const std::vector<std::uint32_t> rooms = Rooms(fabric, slots);
    std::uint32_t all = 0;
    for (const std::uint32_t room : rooms) all += room;
    const Nodes fewest = FewestDomains(fabric, slots, workers);
    const Nodes tightest = TightestDomain(fabric, slots, workers);
    const Nodes packed = PackNodes(fabric, slots, workers);
    for (const Nodes* nodes : {&fewest, &tightest, &packed}) {
      ASSERT_EQ(nodes->size(), all >= workers ? workers : 0U);
      ExpectWithin(*nodes, slots);
    }
    if (all < workers) continue;
    EXPECT_EQ(LeavesOf(fabric, fewest).size(), FewestLeaves(rooms, workers));
    if (FewestLeaves(rooms, workers) != 1) continue;
    // The leaf with the least room that is enough.
    std::uint32_t least = ~0U;
    for (const std::uint32_t room : rooms) least = room >= workers ? std::min(least, room) : least;
    const bool one_node = *std::max_element(slots.begin(), slots.end()) >= workers;
    ASSERT_EQ(LeavesOf(fabric, tightest).size(), 1U);
    if (!one_node) {
      EXPECT_EQ(rooms[LeavesOf(fabric, tightest).front().Raw()], least);
    }
  }
}

TEST_F(Baselines, PackTakesPartlyUsedNodesFirst) {
  fabric::ByNode<std::uint32_t> slots(cluster_.fabric->node_count(), 2);
  slots[NodeIndex{7}] = slots[NodeIndex{20}] = 1;
  EXPECT_EQ(PackNodes(*cluster_.fabric, slots, 3), testing::WorkersOn({7, 20, 0}));
}

TEST_F(Baselines, SegmentsStayInsideOneBlock) {
  const fabric::Fabric& fabric = *cluster_.fabric;
  // Rooms 3, 6, 5, 4, 2: eight workers are two segments of four.
  fabric::ByNode<std::uint32_t> slots(fabric.node_count(), 0);
  const std::uint32_t rooms[] = {3, 6, 5, 4, 2};
  for (std::size_t leaf = 0; leaf < 5; ++leaf) {
    for (std::size_t i = 0; i < rooms[leaf]; ++i) slots[NodeIndex::Of(leaf * 6 + i)] = 1;
  }
  const Nodes nodes = BlockSegments(fabric, slots, 8);
  ASSERT_EQ(nodes.size(), 8U);
  for (std::size_t segment = 0; segment < 2; ++segment) {
    const Nodes one(nodes.begin() + static_cast<std::ptrdiff_t>(4 * segment),
                    nodes.begin() + static_cast<std::ptrdiff_t>(4 * segment + 4));
    EXPECT_EQ(LeavesOf(fabric, one).size(), 1U);
  }
  // Four segments need four blocks with room for four, and there are three.
  EXPECT_TRUE(BlockSegments(fabric, slots, 16).empty());
  // A segment goes to the tightest block that holds it.
  EXPECT_EQ(LeavesOf(fabric, BlockSegments(fabric, slots, 4)),
            std::vector<DomainIndex>{DomainIndex{3}});
}

}  // namespace
}  // namespace weft::report
