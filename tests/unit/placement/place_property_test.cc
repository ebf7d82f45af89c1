// Place against every placement there is, by definitions written a second time: the oracle shares
// no code with the solver but the pair weight.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "operator/objective/instance.h"
#include "operator/objective/levels.h"
#include "operator/objective/pair_cost.h"
#include "operator/objective/ring_rate.h"
#include "operator/objective/wide_bytes.h"
#include "operator/placement/place.h"
#include "operator/rules/node_filter.h"
#include "tests/support/campaign.h"
#include "tests/support/random_instance.h"

namespace weft::placement {
namespace {

using fabric::NodeIndex;
using fabric::Tier;
using objective::Options;
using objective::Preferences;
using ::weft::testing::MakeRandomInstance;
using ::weft::testing::RandomInstance;

using Nodes = ByWorker<NodeIndex>;
using Bytes = ByWorker<ByWorker<Int128>>;

// T{i,j} straight from the families of ranks.
Bytes Matrix(const traffic::Traffic& traffic) {
  Bytes matrix(traffic.workers, ByWorker<Int128>(traffic.workers, 0));
  const auto send = [&](traffic::RankIndex from, traffic::RankIndex to, std::int64_t bytes) {
    const WorkerIndex a = traffic::WorkerOf(from, traffic.per_worker);
    const WorkerIndex b = traffic::WorkerOf(to, traffic.per_worker);
    if (a != b) matrix[std::min(a, b)][std::max(a, b)] += bytes;
  };
  for (const auto& family : traffic.families) {
    for (std::size_t g = 0; g < family.groups(); ++g) {
      const auto group = family.group(g);
      const std::size_t n = group.size();
      for (std::size_t k = 0; k < n; ++k) {
        if (family.pattern == traffic::Pattern::kRing) {
          send(group[k], group[(k + 1) % n], family.amount);
        } else if (family.pattern == traffic::Pattern::kAllToAll) {
          for (std::size_t j = 0; j < n; ++j) {
            if (j != k) send(group[k], group[j], family.amount);
          }
        } else {
          const std::int64_t mine = k == 0 || k + 1 == n ? family.end_amount : family.amount;
          if (k + 1 < n) send(group[k], group[k + 1], mine);
          if (k > 0) send(group[k], group[k - 1], mine);
          if (k == 0) send(group[0], group[n - 1], family.wrap_amount);
          if (k + 1 == n) send(group[n - 1], group[0], family.wrap_amount);
        }
      }
    }
  }
  return matrix;
}

class Oracle {
 public:
  Oracle(const RandomInstance& instance, int tolerance)
      : instance_(instance),
        fabric_(*instance.fabric),
        pair_cost_(fabric_, false),
        matrix_(Matrix(instance.traffic)),
        tolerance_(tolerance) {
    rules::CountSlots(*instance.claims,
                      {.pod = &instance.request.pod,
                       .job = instance.request.job,
                       .excluded = {},
                       .cap = instance.request.workers},
                      slots_);
    nodes_.resize(instance.request.workers);
    Enumerate(WorkerIndex{0});
  }

  bool any() const { return !answers_.empty(); }
  Preferences preferences() const { return best_preferences_; }
  Int128 least_cost() const { return least_cost_; }

  // The answer by the whole order of the objective.
  Nodes Best() const {
    const Nodes* best = nullptr;
    for (const auto& [nodes, preferences, cost] : answers_) {
      if (preferences != best_preferences_) continue;
      if (cost * 100 > least_cost_ * (100 + tolerance_)) continue;
      if (best == nullptr || Before(nodes, *best)) best = &nodes;
    }
    return *best;
  }

 private:
  bool SameDomain(Tier tier, NodeIndex a, NodeIndex b) const {
    return fabric_.domains(tier).of_node[a] == fabric_.domains(tier).of_node[b];
  }
  bool Together(Tier tier, std::span<const WorkerIndex> workers) const {
    return std::all_of(workers.begin(), workers.end(), [&](WorkerIndex w) {
      return SameDomain(tier, nodes_[w], nodes_[workers.front()]);
    });
  }

  void Enumerate(WorkerIndex worker) {
    if (worker == nodes_.EndIndex()) return Record();
    for (const NodeIndex n : Range<NodeIndex>(fabric_.node_count())) {
      if (slots_[n] == 0) continue;
      --slots_[n];
      nodes_[worker] = n;
      Enumerate(worker + 1);
      ++slots_[n];
    }
  }

  void Record() {
    const objective::Request& request = instance_.request;
    std::vector<WorkerIndex> all;
    for (const WorkerIndex w : nodes_.Indices()) all.push_back(w);
    if (request.required && !Together(*request.required, all)) return;
    Preferences preferences{};
    if (request.preferred) {
      Tier tier = *request.preferred;
      while (!Together(tier, all)) --tier;
      preferences[objective::kLevelsWider] = *request.preferred - tier;
    }
    std::set<std::vector<WorkerIndex>> missed;
    for (const auto& group : request.groups) {
      for (std::size_t s = 0; s < group.sets.size(); ++s) {
        if (group.required && !Together(*group.required, group.sets.set(s))) return;
        if (group.preferred && !Together(*group.preferred, group.sets.set(s))) {
          missed.insert({group.sets.set(s).begin(), group.sets.set(s).end()});
        }
      }
    }
    preferences[objective::kGroupsMissed] = static_cast<std::uint32_t>(missed.size());
    Int128 cost = 0;
    for (const WorkerIndex i : nodes_.Indices()) {
      for (WorkerIndex j = i + 1; j < nodes_.EndIndex(); ++j) {
        cost += matrix_[i][j] * pair_cost_.Weight(nodes_[i], nodes_[j]);
      }
    }
    if (answers_.empty() || preferences < best_preferences_) {
      best_preferences_ = preferences;
      least_cost_ = cost;
    } else if (preferences == best_preferences_) {
      least_cost_ = std::min(least_cost_, cost);
    }
    answers_.emplace_back(nodes_, preferences, cost);
  }

  // Workers on no node of the last attempt, and those on another node than they had.
  std::vector<std::uint32_t> Moved(const Nodes& nodes) const {
    const Nodes& previous = instance_.request.previous_nodes;
    if (previous.empty()) return {};
    std::vector<std::uint32_t> moved = {0, 0};
    for (const WorkerIndex w : nodes.Indices()) {
      moved[0] += std::count(previous.begin(), previous.end(), nodes[w]) == 0 ? 1 : 0;
      moved[1] += previous[w] != nodes[w] ? 1 : 0;
    }
    return moved;
  }

  // Percent by which the worst part of a ring of Data is slower than the scale-up network; none
  // unless all bytes are Data's and Tensor's.
  std::vector<std::uint32_t> RingSlowed(const Nodes& nodes) const {
    const auto nested = fabric_.nested_scale_up();
    const traffic::GroupFamily* ring = nullptr;
    for (const auto& family : instance_.traffic.families) {
      if (family.axis == traffic::Axis::kTensor || family.amount == 0) continue;
      if (family.axis != traffic::Axis::kData) return {};
      ring = &family;
    }
    if (!nested || !instance_.traffic.modelled || ring == nullptr || pair_cost_.beside_tiers())
      return {};
    const double fast = static_cast<double>(pair_cost_.TierWeight(*nested));
    if (fast >= static_cast<double>(pair_cost_.TierWeight(*nested - 1))) return {};
    double slowest = 0;
    for (std::size_t g = 0; g < ring->groups(); ++g) {
      const auto group = ring->group(g);
      for (Tier t{1}; t <= *nested; ++t) {
        std::map<fabric::DomainIndex, std::pair<double, double>> parts;  // members, exits
        for (std::size_t k = 0; k < group.size(); ++k) {
          const auto domain = [&](traffic::RankIndex rank) {
            return fabric_.domains(t)
                .of_node[nodes[traffic::WorkerOf(rank, instance_.traffic.per_worker)]];
          };
          auto& [members, exits] = parts[domain(group[k])];
          ++members;
          exits += domain(group[k]) != domain(group[(k + 1) % group.size()]) ? 1 : 0;
        }
        for (const auto& [domain, part] : parts) {
          const double between = static_cast<double>(pair_cost_.TierWeight(t - 1));
          const double rate = part.second * between / (part.first * fast);
          if (parts.size() > 1) slowest = std::max({slowest, 1.0, rate});
        }
      }
    }
    return {static_cast<std::uint32_t>(std::ceil(100 * slowest - 1e-9))};
  }

  // Parts of a million of all bytes that leave domains of levels where this costs nothing extra.
  std::vector<std::uint32_t> Wide(const Nodes& nodes) const {
    std::vector<std::uint32_t> wide;
    const Tier levels = fabric_.nested_scale_up().value_or(fabric_.node_tier());
    for (Tier t{1}; t < levels; ++t) {
      if (pair_cost_.TierWeight(t - 1) != pair_cost_.TierWeight(t)) continue;
      if (fabric_.domains(t).size() < 2) continue;
      Int128 all = 0, left = 0;
      for (const WorkerIndex i : nodes.Indices()) {
        for (WorkerIndex j = i + 1; j < nodes.EndIndex(); ++j) {
          all += matrix_[i][j];
          if (SameDomain(t, nodes[i], nodes[j])) continue;
          const Tier shared = fabric_.SharedTier(nodes[i], nodes[j]);
          const bool beside = pair_cost_.Weight(nodes[i], nodes[j]) < pair_cost_.TierWeight(shared);
          if (!beside) left += matrix_[i][j];
        }
      }
      wide.push_back(left == 0 ? 0 : static_cast<std::uint32_t>((left * 1'000'000 - 1) / all + 1));
    }
    return wide;
  }

  std::vector<std::uint32_t> Footprint(const Nodes& nodes) const {
    std::vector<std::uint32_t> broken = Moved(nodes), left;
    for (const std::vector<std::uint32_t>& level : {RingSlowed(nodes), Wide(nodes)}) {
      broken.insert(broken.end(), level.begin(), level.end());
    }
    for (Tier t{1}; t <= fabric_.node_tier(); ++t) {
      std::map<fabric::DomainIndex, std::uint32_t> used;
      for (NodeIndex n : nodes) ++used[fabric_.domains(t).of_node[n]];
      std::uint32_t breaks = 0, free = 0;
      for (const auto& [domain, workers] : used) {
        bool whole = true;
        for (const NodeIndex n : Range<NodeIndex>(fabric_.node_count())) {
          if (fabric_.domains(t).of_node[n] != domain) continue;
          whole = whole && instance_.claims->wholly_free(n);
          free += Original(n);
        }
        free -= workers;
        breaks += whole ? 1 : 0;
      }
      broken.push_back(breaks);
      left.push_back(free);
    }
    broken.insert(broken.end(), left.begin(), left.end());
    return broken;
  }
  std::uint32_t Original(NodeIndex n) const { return slots_[n]; }

  bool Before(const Nodes& a, const Nodes& b) const {
    const auto footprint_a = Footprint(a), footprint_b = Footprint(b);
    if (footprint_a != footprint_b) return footprint_a < footprint_b;
    std::vector<std::string> names_a, names_b;
    for (NodeIndex n : a) names_a.push_back(fabric_.node(n).name);
    for (NodeIndex n : b) names_b.push_back(fabric_.node(n).name);
    return names_a < names_b;
  }

  const RandomInstance& instance_;
  const fabric::Fabric& fabric_;
  objective::PairCost pair_cost_;
  Bytes matrix_;
  int tolerance_;
  fabric::ByNode<std::uint32_t> slots_;
  Nodes nodes_;
  std::vector<std::tuple<Nodes, Preferences, Int128>> answers_;
  Preferences best_preferences_{};
  Int128 least_cost_ = 0;
};

std::vector<std::string> Names(const fabric::Fabric& fabric, const Nodes& nodes) {
  std::vector<std::string> names;
  for (NodeIndex n : nodes) names.push_back(fabric.node(n).name);
  return names;
}

// A last attempt on any nodes, some of them gone.
void AddPrevious(RandomInstance& instance, std::uint64_t seed) {
  SplitMix64 random(seed);
  for (std::uint32_t w = 0; w < instance.request.workers; ++w) {
    const auto n = NodeIndex::Of(random.Below(instance.fabric->node_count() + 1));
    instance.request.previous_nodes.push_back(
        n.Raw() < instance.fabric->node_count() ? n : objective::kUnplaced);
  }
}

TEST(PlaceProperty, ExactSearchFindsTheBestByTheWholeOrder) {
  const std::uint64_t instances = weft::testing::Instances(400);
  std::uint64_t placed = 0;
  for (std::uint64_t seed = 1; seed <= instances; ++seed) {
    RandomInstance instance = MakeRandomInstance(seed, {});
    if (seed % 3 == 0) AddPrevious(instance, seed);
    for (int tolerance : {0, 1, 20}) {
      const Oracle oracle(instance, tolerance);
      Options options;
      options.cost_tolerance_percent = tolerance;
      options.limits.exact_steps = options.limits.exact_tie_steps = 5'000'000;
      const Placement placement =
          Place(*instance.claims, instance.request, *instance.graph, options);
      const Plan* plan = std::get_if<Plan>(&placement);
      ASSERT_EQ(plan != nullptr, oracle.any()) << instance.what;
      if (plan == nullptr) continue;
      ++placed;
      ASSERT_TRUE(plan->exact) << instance.what;
      ASSERT_EQ(plan->preferences, oracle.preferences()) << instance.what;
      ASSERT_EQ(plan->lower_bound == oracle.least_cost(), true) << instance.what;
      ASSERT_EQ(Names(*instance.fabric, plan->nodes), Names(*instance.fabric, oracle.Best()))
          << instance.what << " tolerance " << tolerance;
    }
  }
  EXPECT_GT(placed, 2 * instances);
}

// Jobs whose only traffic is a ring, on fabrics with a scale-up network that nests.
TEST(PlaceProperty, AmongPlacementsOfEqualCostTheRingWithTheLargestSmallestPartWins) {
  weft::testing::RandomOptions random;
  random.most_nodes = 8;
  random.most_workers = 6;
  random.constraints = random.crossing = false;
  random.only_data = true;
  std::uint64_t slowed = 0, by_the_level = 0;
  const std::uint64_t instances = weft::testing::Instances(300);
  for (std::uint64_t seed = 50'000; seed < 50'000 + instances; ++seed) {
    RandomInstance instance = MakeRandomInstance(seed, random);
    if (!instance.fabric->nested_scale_up()) continue;
    const Oracle oracle(instance, 1);
    const auto plan = Solve(*instance.claims, instance.request, *instance.graph, {});
    ASSERT_EQ(plan.has_value(), oracle.any()) << instance.what;
    if (!plan || !plan->exact) continue;
    ASSERT_EQ(Names(*instance.fabric, plan->nodes), Names(*instance.fabric, oracle.Best()))
        << instance.what;
    const auto percent = objective::RingPercent(
        objective::Instance(*instance.claims, instance.request, *instance.graph), plan->nodes);
    slowed += percent.value_or(0) > 100 ? 1 : 0;
    instance.request.ring.reset();
    const auto without = Solve(*instance.claims, instance.request, *instance.graph, {});
    by_the_level += without->nodes != plan->nodes ? 1 : 0;
  }
  EXPECT_GT(slowed, instances / 20);
  EXPECT_GT(by_the_level, instances / 100);
}

void ExpectFewestWideBytes(std::uint64_t first, const weft::testing::RandomOptions& random) {
  std::uint64_t placed = 0, wide = 0;
  const std::uint64_t instances = weft::testing::Instances(200);
  for (std::uint64_t seed = first; seed < first + instances; ++seed) {
    RandomInstance instance = MakeRandomInstance(seed, random);
    const Oracle oracle(instance, 1);
    Options options;
    options.limits.exact_steps = options.limits.exact_tie_steps = 5'000'000;
    const auto plan = Solve(*instance.claims, instance.request, *instance.graph, options);
    ASSERT_EQ(plan.has_value(), oracle.any()) << instance.what;
    if (!plan) continue;
    ++placed;
    ASSERT_EQ(Names(*instance.fabric, plan->nodes), Names(*instance.fabric, oracle.Best()))
        << instance.what;
    const std::vector<std::uint32_t> shares = objective::WideBytes(
        objective::Instance(*instance.claims, instance.request, *instance.graph), plan->nodes);
    wide += std::any_of(shares.begin(), shares.end(), [](auto share) { return share > 0; }) ? 1 : 0;
  }
  EXPECT_GT(placed, instances / 2);
  EXPECT_GT(wide, instances / 20);
}

TEST(PlaceProperty, AmongPlacementsOfEqualCostTheFewestBytesLeaveFreeLevels) {
  ExpectFewestWideBytes(60'000, {.flat = true});
  ExpectFewestWideBytes(61'000, {.planes = true, .flat = true});
}

void ExpectOptimum(std::uint64_t first_seed, const weft::testing::RandomOptions& random) {
  const std::uint64_t instances = weft::testing::Instances(200);
  std::uint64_t placed = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + instances; ++seed) {
    RandomInstance instance = MakeRandomInstance(seed, random);
    if (seed % 3 == 0) AddPrevious(instance, seed);
    const Oracle oracle(instance, 1);
    const Placement placement = Place(*instance.claims, instance.request, *instance.graph, {});
    const Plan* plan = std::get_if<Plan>(&placement);
    ASSERT_EQ(plan != nullptr, oracle.any()) << instance.what;
    if (plan == nullptr) continue;
    ++placed;
    ASSERT_TRUE(plan->exact) << instance.what;
    ASSERT_EQ(plan->lower_bound == oracle.least_cost(), true) << instance.what;
    ASSERT_EQ(Names(*instance.fabric, plan->nodes), Names(*instance.fabric, oracle.Best()))
        << instance.what;
  }
  EXPECT_GT(placed, instances / 2);
}

// Hops tell all nodes apart, so the exact search looks at more of them.
TEST(PlaceProperty, OnSmallTorusesTheAnswerIsTheOptimum) { ExpectOptimum(30'000, {.torus = true}); }

TEST(PlaceProperty, WithPlanesTheAnswerIsTheOptimum) { ExpectOptimum(50'000, {.planes = true}); }

struct Excess {
  double sum = 0, worst = 0;
  int count = 0, above_zero = 0, wider = 0, missed = 0;
};

// How far `fast` is from the optimum, over random instances whose optimum is known.
Excess MeasureExcess(std::uint64_t first, Options fast,
                     const weft::testing::RandomOptions& random) {
  Excess excess;
  const std::uint64_t count = weft::testing::Instances(300);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const RandomInstance instance = MakeRandomInstance(seed, random);
    Options exact;
    exact.cost_tolerance_percent = fast.cost_tolerance_percent = 0;
    exact.limits.exact_steps = exact.limits.exact_tie_steps = 2'000'000;
    const Placement best = Place(*instance.claims, instance.request, *instance.graph, exact);
    const Placement found = Place(*instance.claims, instance.request, *instance.graph, fast);
    const Plan* want = std::get_if<Plan>(&best);
    const Plan* got = std::get_if<Plan>(&found);
    if (want == nullptr || !want->exact) continue;
    ++excess.count;
    if (got == nullptr) {
      ++excess.missed;
      continue;
    }
    EXPECT_EQ(got->lower_bound <= want->cost, true) << instance.what;
    if (got->preferences != want->preferences) {
      ++excess.wider;
      continue;
    }
    if (want->cost == 0) {
      excess.above_zero += got->cost > 0 ? 1 : 0;
      continue;
    }
    const double percent =
        100 * (static_cast<double>(got->cost) / static_cast<double>(want->cost) - 1);
    excess.sum += percent;
    excess.worst = std::max(excess.worst, percent);
  }
  std::cout << excess.count << " solved, mean excess " << excess.sum / excess.count << " %, worst "
            << excess.worst << " %\n";
  return excess;
}

void ExpectClose(const Excess& excess) {
  EXPECT_GT(excess.count, 200);
  EXPECT_LE(excess.sum / excess.count, 0.5);
  EXPECT_LE(excess.worst, 5);
  EXPECT_EQ(excess.above_zero, 0);
  EXPECT_EQ(excess.wider, 0);
  EXPECT_EQ(excess.missed, 0);
}

TEST(PlaceProperty, UsualLimitsComeCloseToTheOptimum) {
  ExpectClose(
      MeasureExcess(10'000, {}, {.most_nodes = 12, .most_workers = 10, .fewest_workers = 4}));
}

Options WithoutExactSearch() {
  Options options;
  options.limits.exact_steps = 0;
  return options;
}

TEST(PlaceProperty, WithoutTheExactSearchTreesComeCloseToo) {
  ExpectClose(
      MeasureExcess(20'000, WithoutExactSearch(),
                    {.most_nodes = 10, .most_workers = 9, .crossing = false, .fewest_workers = 4}));
}

TEST(PlaceProperty, WithoutTheExactSearchBoxesComeCloseToo) {
  ExpectClose(
      MeasureExcess(40'000, WithoutExactSearch(),
                    {.most_nodes = 12, .most_workers = 9, .fewest_workers = 4, .torus = true}));
}

TEST(PlaceProperty, WithoutTheExactSearchPlanesComeCloseToo) {
  ExpectClose(
      MeasureExcess(60'000, WithoutExactSearch(),
                    {.most_nodes = 12, .most_workers = 9, .fewest_workers = 4, .planes = true}));
}

}  // namespace
}  // namespace weft::placement
