#include "operator/traffic/worker_graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/base/units.h"
#include "tests/support/models.h"

namespace weft::traffic {
namespace {

using testing::Degrees;
using testing::Small;
using testing::SmallExperts;

// By the numbers of both workers.
using Pairs = std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>;

void Send(Pairs& pairs, WorkerIndex from, WorkerIndex to, std::int64_t bytes) {
  if (from == to || bytes <= 0) return;
  pairs[{std::min(from, to).Raw(), std::max(from, to).Raw()}] += bytes;
}

// What each member sends, one rank and one peer at a time.
void SendAll(const GroupFamily& family, std::span<const RankIndex> group, std::uint32_t per_worker,
             Pairs& pairs) {
  const std::size_t size = group.size();
  for (std::size_t k = 0; k < size; ++k) {
    const auto to = [&](std::size_t peer, std::int64_t bytes) {
      Send(pairs, WorkerOf(group[k], per_worker), WorkerOf(group[peer], per_worker), bytes);
    };
    if (family.pattern == Pattern::kRing) to((k + 1) % size, family.amount);
    if (family.pattern == Pattern::kAllToAll) {
      for (std::size_t peer = 0; peer < size; ++peer) to(peer, family.amount);
    }
    if (family.pattern != Pattern::kNeighbours) continue;
    const bool end = k == 0 || k + 1 == size;
    const std::int64_t bytes = end ? family.end_amount : family.amount;
    if (k > 0) to(k - 1, bytes);
    if (k + 1 < size) to(k + 1, bytes);
    if (k == 0) to(size - 1, family.wrap_amount);
    if (k + 1 == size) to(0, family.wrap_amount);
  }
}

Pairs BruteForce(const Traffic& traffic) {
  Pairs pairs;
  for (const GroupFamily& family : traffic.families) {
    for (std::size_t g = 0; g < family.groups(); ++g) {
      SendAll(family, family.group(g), traffic.per_worker, pairs);
    }
  }
  return pairs;
}

Pairs Dense(const WorkerGraph& graph) {
  Pairs pairs;
  for (const Edge& edge : graph.edges()) Send(pairs, edge.a, edge.b, edge.bytes);
  for (const Clique& clique : graph.cliques()) {
    for (std::size_t i = 0; i < clique.members.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const auto &a = clique.members[j], &b = clique.members[i];
        Send(pairs, a.worker, b.worker,
             std::int64_t{a.ranks} * b.ranks * clique.bytes_per_rank_pair);
      }
    }
  }
  return pairs;
}

void CheckInvariants(const WorkerGraph& graph, const std::string& what) {
  ByWorker<std::vector<std::pair<WorkerIndex, std::int64_t>>> lists(graph.workers());
  const Edge* last = nullptr;
  for (const Edge& edge : graph.edges()) {
    EXPECT_LT(edge.a, edge.b) << what;
    EXPECT_GT(edge.bytes, 0) << what;
    if (last != nullptr) {
      EXPECT_LT(std::pair(last->a, last->b), std::pair(edge.a, edge.b)) << what;
    }
    last = &edge;
    lists[edge.a].emplace_back(edge.b, edge.bytes);
    lists[edge.b].emplace_back(edge.a, edge.bytes);
  }
  for (const WorkerIndex w : Range<WorkerIndex>(graph.workers())) {
    std::sort(lists[w].begin(), lists[w].end());
    std::vector<std::pair<WorkerIndex, std::int64_t>> neighbours;
    for (const Neighbour& n : graph.neighbours(w)) neighbours.emplace_back(n.worker, n.bytes);
    EXPECT_EQ(neighbours, lists[w]) << what << ", worker " << w.Raw();
    std::vector<std::uint32_t> cliques;
    for (std::uint32_t c = 0; c < graph.cliques().size(); ++c) {
      for (const Seat& member : graph.cliques()[c].members) {
        if (member.worker == w) cliques.push_back(c);
      }
    }
    const auto of = graph.cliques_of(w);
    EXPECT_EQ(std::vector(of.begin(), of.end()), cliques) << what << ", worker " << w.Raw();
  }
}

TEST(WorkerGraph, EqualsTheDenseMatrixForRandomShapes) {
  constexpr int kShapes = 400;
  SplitMix64 random(7);
  const auto pick = [&](std::vector<std::int64_t> values) {
    return values[random.Below(values.size())];
  };
  int cliques = 0;
  for (int i = 0; i < kShapes; ++i) {
    Parallelism shape = Degrees(pick({1, 2, 3, 4}), pick({1, 1, 2}), pick({1, 2, 3, 4}));
    const std::int64_t data = pick({1, 2, 4, 6, 12});
    for (std::size_t k = 3; k > 0; --k) {
      std::swap(shape.rank_order[k], shape.rank_order[random.Below(k + 1)]);
    }
    const std::int64_t stage = shape.tensor * shape.context * data;
    shape.virtual_pipeline = pick({1, 3});
    shape.expert_tensor = pick({1, shape.tensor});
    const std::int64_t most = stage / shape.expert_tensor;
    shape.expert = most % 3 == 0 ? pick({1, 3, most}) : pick({1, most});
    shape.sharding = pick({0, 1}) == 0 ? Sharding::kNone : Sharding::kFull;
    const auto ranks = static_cast<std::uint32_t>(stage * shape.pipeline);
    std::vector<std::int64_t> divisors;  // also those that cut an axis unevenly
    for (std::uint32_t d = 1; d <= ranks; ++d) {
      if (ranks % d == 0 && d <= 16) divisors.push_back(d);
    }
    const auto per_worker = static_cast<std::uint32_t>(pick(divisors));
    Transformer experts = SmallExperts();
    experts.global_batch_size = 24;
    const Model models[] = {
        {experts, {}},
        {std::nullopt, {{Axis::kPipeline, 7}, {Axis::kExpert, 1001}, {Axis::kExpertTensor, 3}}}};
    const auto traffic =
        ComputeTraffic(models[random.Below(2)], shape, ranks / per_worker, per_worker);
    ASSERT_TRUE(traffic) << traffic.error().message;
    const WorkerGraph graph(*traffic);
    const std::string what = "shape " + std::to_string(i);
    EXPECT_EQ(Dense(graph), BruteForce(*traffic)) << what;
    CheckInvariants(graph, what);
    cliques += graph.cliques().empty() ? 0 : 1;
  }
  EXPECT_GT(cliques, 10) << "too few shapes keep a clique whole";
}

GroupFamily Family(Axis axis, Pattern pattern, const std::vector<std::uint32_t>& members) {
  GroupFamily family;
  family.axis = axis;
  family.pattern = pattern;
  family.group_size = static_cast<std::uint32_t>(members.size());
  family.members = {members.begin(), members.end()};
  family.amount = family.end_amount = 10;
  return family;
}

TEST(WorkerGraph, AddsBothDirections) {
  struct Case {
    const char* name;
    GroupFamily family;
    std::uint32_t per_worker;
    Pairs pairs;
  };
  GroupFamily wrapped = Family(Axis::kPipeline, Pattern::kNeighbours, {0, 1, 2});
  wrapped.wrap_amount = 4;
  GroupFamily by_a_byte = wrapped;
  by_a_byte.wrap_amount = 1;
  GroupFamily ends = Family(Axis::kPipeline, Pattern::kNeighbours, {0, 1, 2, 3});
  ends.end_amount = 20;
  const Case cases[] = {
      {"a ring of two is one edge with twice the amount",
       Family(Axis::kTensor, Pattern::kRing, {0, 1}),
       1,
       {{{0, 1}, 20}}},
      {"a ring inside a worker is nothing", Family(Axis::kTensor, Pattern::kRing, {0, 1}), 2, {}},
      {"a ring of three",
       Family(Axis::kData, Pattern::kRing, {0, 1, 2}),
       1,
       {{{0, 1}, 10}, {{0, 2}, 10}, {{1, 2}, 10}}},
      {"a ring that comes back to a worker",
       Family(Axis::kData, Pattern::kRing, {0, 2, 1, 3}),
       2,
       {{{0, 1}, 40}}},
      {"stages wrap around", wrapped, 1, {{{0, 1}, 20}, {{0, 2}, 8}, {{1, 2}, 20}}},
      {"stages wrap around by a byte", by_a_byte, 1, {{{0, 1}, 20}, {{0, 2}, 2}, {{1, 2}, 20}}},
      {"measured ends send all to their one neighbour",
       ends,
       1,
       {{{0, 1}, 30}, {{1, 2}, 20}, {{2, 3}, 30}}},
      {"everyone to everyone",
       Family(Axis::kExpert, Pattern::kAllToAll, {0, 1, 2}),
       2,
       {{{0, 1}, 40}}},
  };
  for (const Case& c : cases) {
    Traffic traffic;
    traffic.ranks = 4;
    traffic.per_worker = c.per_worker;
    traffic.workers = traffic.ranks / c.per_worker;
    traffic.families = {c.family};
    SeatGroups(traffic);
    EXPECT_EQ(Dense(WorkerGraph(traffic)), c.pairs) << c.name;
  }
}

TEST(WorkerGraph, SaturatesInsteadOfWrapping) {
  Traffic traffic;
  traffic.ranks = 8;
  traffic.per_worker = 4;
  traffic.workers = 2;
  for (Pattern pattern : {Pattern::kRing, Pattern::kNeighbours, Pattern::kAllToAll}) {
    GroupFamily family = Family(Axis::kData, pattern, {0, 4, 1, 5, 2, 6, 3, 7});
    family.group_size = 2;
    family.amount = family.end_amount = family.wrap_amount = kSaturated;
    traffic.families = {family, family};
    SeatGroups(traffic);
    const WorkerGraph graph(traffic);
    ASSERT_EQ(graph.edges().size(), 1U);
    EXPECT_EQ(graph.edges()[0].bytes, kSaturated);
  }
}

TEST(WorkerGraph, KeepsALargeCliqueWhole) {
  Parallelism shape;
  shape.expert = 16384;
  const Model model{std::nullopt, {{Axis::kExpert, 16383}}};
  const auto traffic = ComputeTraffic(model, shape, 16384, 1);
  ASSERT_TRUE(traffic);
  const WorkerGraph graph(*traffic);
  EXPECT_TRUE(graph.edges().empty());
  ASSERT_EQ(graph.cliques().size(), 1U);
  EXPECT_EQ(graph.cliques()[0].members.size(), 16384U);
  EXPECT_EQ(graph.cliques()[0].bytes_per_rank_pair, 2);
}

TEST(WorkerGraph, AWorkerIsOnceInACliqueOfSeveralOfItsRanks) {
  Traffic traffic{
      .ranks = 24, .per_worker = 2, .workers = 12, .modelled = true, .families = {}, .seated = {}};
  std::vector<std::uint32_t> members;  // the first ranks of all workers, then the second
  for (std::uint32_t rank = 0; rank < 24; ++rank) members.push_back(rank % 12 * 2 + rank / 12);
  GroupFamily family = Family(Axis::kExpert, Pattern::kAllToAll, members);
  family.group_size = 24;
  family.amount = 1;
  traffic.families = {family};
  SeatGroups(traffic);
  const WorkerGraph graph(traffic);
  ASSERT_EQ(graph.cliques().size(), 1U);
  WorkerIndex worker;
  for (const Seat& member : graph.cliques()[0].members) {
    EXPECT_EQ(member.worker, worker++);
    EXPECT_EQ(member.ranks, 2U);
  }
  EXPECT_EQ(worker, WorkerIndex{12});
}

TEST(WorkerGraph, OfOneAxisHoldsItAlone) {
  const auto traffic = ComputeTraffic(Model{Small(), {}}, Degrees(2, 1, 2), 8, 1);
  ASSERT_TRUE(traffic);
  Pairs sum;
  for (Axis axis : {Axis::kTensor, Axis::kData, Axis::kPipeline}) {
    const Pairs alone = Dense(WorkerGraph(*traffic, axis));
    EXPECT_FALSE(alone.empty());
    for (const auto& [pair, bytes] : alone) sum[pair] += bytes;
  }
  EXPECT_EQ(sum, Dense(WorkerGraph(*traffic)));
  EXPECT_TRUE(WorkerGraph(*traffic, Axis::kExpert).edges().empty());
}

}  // namespace
}  // namespace weft::traffic
