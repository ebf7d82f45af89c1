#include <algorithm>
#include <set>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/traffic/traffic.h"
#include "operator/traffic/worker_grid.h"
#include "operator/traffic/worker_sets.h"
#include "tests/support/models.h"
#include "tests/support/raw_of.h"

namespace weft::traffic {
namespace {

using testing::Degrees;

using Set = std::vector<std::uint32_t>;

std::vector<Set> Sets(const WorkerSets& sets) {
  std::vector<Set> all;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    all.push_back(weft::testing::RawOf(sets.set(s)));
  }
  return all;
}

TEST(GroupWorkers, NamesTheWorkersOfEachGroup) {
  struct Case {
    const char* name;
    std::vector<Axis> axes;
    Parallelism shape;
    std::uint32_t workers, per_worker;
    std::vector<Set> sets;
  };
  Parallelism experts = Degrees(2, 1, 2);
  experts.expert = 2;
  const Case cases[] = {
      {"a tensor group inside a worker",
       {Axis::kTensor},
       Degrees(2, 1, 2),
       4,
       2,
       {{0}, {1}, {2}, {3}}},
      {"a tensor group across workers", {Axis::kTensor}, Degrees(4, 1, 1), 4, 2, {{0, 1}, {2, 3}}},
      {"tensor, context and data are a stage",
       {Axis::kData, Axis::kTensor, Axis::kContext},
       Degrees(2, 1, 2),
       8,
       1,
       {{0, 1, 2, 3}, {4, 5, 6, 7}}},
      {"data alone leaves tensor and context apart",
       {Axis::kData},
       Degrees(1, 2, 1),
       4,
       1,
       {{0, 2}, {1, 3}}},
      {"pipeline groups of one worker each are once",
       {Axis::kPipeline},
       Degrees(2, 1, 2),
       4,
       2,
       {{0, 2}, {1, 3}}},
      {"expert groups stand at the stride of expertTensor",
       {Axis::kExpert},
       experts,
       16,
       1,
       {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {8, 10}, {9, 11}, {12, 14}, {13, 15}}},
      {"experts and their tensor ranks are a block",
       {Axis::kExpert, Axis::kExpertTensor},
       experts,
       16,
       1,
       {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}},
      {"no axis: each worker alone", {}, Degrees(2, 1, 1), 2, 2, {{0}, {1}}},
      {"workers that cut a group overlap two sets",
       {Axis::kTensor},
       Degrees(3, 1, 1),
       3,
       2,
       {{0, 1}, {1, 2}}},
  };
  for (const Case& c : cases) {
    const auto sets = GroupWorkers(c.axes, c.shape, c.workers, c.per_worker);
    ASSERT_TRUE(sets) << c.name << ": " << sets.error().message;
    EXPECT_EQ(Sets(*sets), c.sets) << c.name;
  }
}

TEST(GroupWorkers, RefusesWhatIsNoGroup) {
  const auto error = [](Axis axis, Parallelism shape) {
    const auto sets = GroupWorkers(std::array{axis}, shape, 8, 1);
    return sets ? std::string("fine") : sets.error().message;
  };
  EXPECT_EQ(error(Axis::kSharding, {}),
            "topology.groups: Sharding is not an axis of a group; use Data");
  Parallelism odd;
  odd.expert_tensor = 3;
  EXPECT_EQ(error(Axis::kExpertTensor, odd),
            "parallelism.expertTensor: 3 must divide the 8 ranks of one pipeline stage, since "
            "topology.groups names ExpertTensor");
  EXPECT_EQ(error(Axis::kTensor, Degrees(3, 1, 1)).substr(0, 12), "parallelism:");
}

struct Coordinates {
  std::array<std::int64_t, 4> at{};  // by Axis
  std::int64_t in_stage = 0;         // place among the ranks of the stage, ascending
};

std::vector<Coordinates> Locate(const Parallelism& shape, std::int64_t ranks) {
  const std::int64_t data = ranks / (shape.tensor * shape.context * shape.pipeline);
  const std::array<std::int64_t, 4> degrees = {shape.tensor, shape.context, data, shape.pipeline};
  std::vector<Coordinates> all;
  std::vector<std::int64_t> seen(static_cast<std::size_t>(shape.pipeline), 0);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    Coordinates c;
    std::int64_t rest = rank;
    for (Axis axis : shape.rank_order) {
      const auto a = static_cast<std::size_t>(axis);
      c.at[a] = rest % degrees[a];
      rest /= degrees[a];
    }
    c.in_stage = seen[static_cast<std::size_t>(c.at[3])]++;
    all.push_back(c);
  }
  return all;
}

bool Joined(const Coordinates& x, const Coordinates& y, Axis axis, const Parallelism& shape) {
  const std::int64_t etp = shape.expert_tensor > 0 ? shape.expert_tensor : shape.tensor;
  const std::int64_t block = etp * shape.expert;
  if (axis == Axis::kExpert) {
    return x.at[3] == y.at[3] && x.in_stage / block == y.in_stage / block &&
           x.in_stage % etp == y.in_stage % etp;
  }
  if (axis == Axis::kExpertTensor) {
    return x.at[3] == y.at[3] && x.in_stage / etp == y.in_stage / etp;
  }
  for (std::size_t a = 0; a < 4; ++a) {
    if (a != static_cast<std::size_t>(axis) && x.at[a] != y.at[a]) return false;
  }
  return true;
}

// Breadth-first search over all pairs of ranks.
std::set<Set> BruteForce(std::span<const Axis> axes, const Parallelism& shape, std::int64_t ranks,
                         std::uint32_t per_worker) {
  const std::vector<Coordinates> all = Locate(shape, ranks);
  std::vector<bool> seen(all.size(), false);
  std::set<Set> sets;
  for (std::uint32_t start = 0; start < all.size(); ++start) {
    if (seen[start]) continue;
    seen[start] = true;
    std::vector<std::uint32_t> queue = {start};
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (std::uint32_t next = 0; next < all.size(); ++next) {
        const bool joined = std::any_of(axes.begin(), axes.end(), [&](Axis axis) {
          return Joined(all[queue[at]], all[next], axis, shape);
        });
        if (seen[next] || !joined) continue;
        seen[next] = true;
        queue.push_back(next);
      }
    }
    std::set<std::uint32_t> workers;
    for (std::uint32_t rank : queue) workers.insert(rank / per_worker);
    sets.insert(Set(workers.begin(), workers.end()));
  }
  return sets;
}

TEST(GroupWorkers, EqualsAWalkOverAllRanksForRandomShapes) {
  constexpr int kShapes = 300;
  SplitMix64 random(11);
  const auto pick = [&](std::vector<std::int64_t> values) {
    return values[random.Below(values.size())];
  };
  for (int i = 0; i < kShapes; ++i) {
    Parallelism shape = Degrees(pick({1, 2, 3, 4}), pick({1, 2}), pick({1, 2, 3}));
    for (std::size_t k = 3; k > 0; --k) {
      std::swap(shape.rank_order[k], shape.rank_order[random.Below(k + 1)]);
    }
    const std::int64_t stage = shape.tensor * shape.context * pick({1, 2, 4});
    shape.expert_tensor = pick({0, 1});
    shape.expert = shape.expert_tensor == 1 ? pick({1, stage}) : pick({1, stage / shape.tensor});
    const std::int64_t ranks = stage * shape.pipeline;
    std::vector<std::int64_t> divisors;
    for (std::int64_t d = 1; d <= ranks; ++d) {
      if (ranks % d == 0) divisors.push_back(d);
    }
    const auto per_worker = static_cast<std::uint32_t>(pick(divisors));
    std::vector<Axis> axes;
    for (Axis axis : {Axis::kTensor, Axis::kContext, Axis::kData, Axis::kPipeline, Axis::kExpert,
                      Axis::kExpertTensor}) {
      if (random.Below(3) == 0) axes.push_back(axis);
    }
    const auto sets =
        GroupWorkers(axes, shape, static_cast<std::uint32_t>(ranks) / per_worker, per_worker);
    ASSERT_TRUE(sets) << sets.error().message;
    const std::set<Set> want = BruteForce(axes, shape, ranks, per_worker);
    EXPECT_EQ(Sets(*sets), std::vector<Set>(want.begin(), want.end())) << "shape " << i;
  }
}

TEST(WorkerGrid, IsWhatIsLeftOfTheAxes) {
  struct Case {
    const char* name;
    Parallelism shape;
    std::uint32_t workers, per_worker;
    std::vector<std::uint32_t> grid;
  };
  const Case cases[] = {
      {"one worker has no digits", Degrees(2, 1, 1), 1, 2, {}},
      {"tensor inside a worker leaves data and pipeline", Degrees(8, 1, 4), 64, 8, {16, 4}},
      {"a tensor group of four workers", Degrees(8, 1, 4), 64, 2, {4, 4, 4}},
      {"a worker that holds part of data", Degrees(4, 1, 4), 32, 8, {8, 4}},
      {"a worker that cuts an axis unevenly", Degrees(3, 1, 1), 3, 2, {3}},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(WorkerGrid(c.shape, c.workers, c.per_worker), c.grid) << c.name;
  }
}

TEST(Axis, HasTheNameOfManifests) {
  for (int i = 0; i < kAxisCount; ++i) {
    const auto axis = static_cast<Axis>(i);
    EXPECT_EQ(FindAxis(AxisName(axis)), axis);
  }
  EXPECT_EQ(AxisName(Axis::kExpertTensor), "ExpertTensor");
  EXPECT_EQ(FindAxis("tensor"), std::nullopt);
}

}  // namespace
}  // namespace weft::traffic
