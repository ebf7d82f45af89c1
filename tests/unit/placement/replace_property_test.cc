// Replace against every placement there is, by an enumeration and rules written a second time; the
// values of a whole placement are objective::Evaluate's and BreakTies', which other tests check.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "operator/base/random.h"
#include "operator/objective/instance.h"
#include "operator/objective/levels.h"
#include "operator/placement/place.h"
#include "operator/placement/replace.h"
#include "tests/support/campaign.h"
#include "tests/support/random_instance.h"

namespace weft::placement {
namespace {

using fabric::NodeIndex;
using objective::Candidate;
using weft::testing::RandomInstance;

// Every completion of a placement in which some workers are open, and the best of them.
class Oracle {
 public:
  Oracle(const RandomInstance& random, const Loss& loss, int tolerance)
      : random_(random),
        loss_(loss),
        instance_(*random.claims, random.request, *random.graph),
        free_(instance_.slots().begin(), instance_.slots().end()),
        nodes_(loss.nodes),
        tolerance_(tolerance) {
    for (const WorkerIndex w : nodes_.Indices()) {
      if (!IsFailed(w)) free_[nodes_[w]] -= std::min(1U, free_[nodes_[w]]);
    }
    Enumerate(0);
  }

  std::optional<ByWorker<NodeIndex>> Best() const {
    if (answers_.empty()) return std::nullopt;
    objective::Objective least = answers_.front().objective();
    for (const Candidate& one : answers_) least = std::min(least, one.objective());
    const Candidate* best = nullptr;
    objective::TieBreakers best_ties;
    for (const Candidate& one : answers_) {
      if (one.preferences != least.preferences) continue;
      if ((one.cost - FixedCost()) * 100 > (least.cost - FixedCost()) * (100 + tolerance_))
        continue;
      const objective::TieBreakers ties = objective::BreakTies(instance_, one.nodes);
      if (best != nullptr &&
          std::tuple(ties, Names(one.nodes)) >= std::tuple(best_ties, Names(best->nodes))) {
        continue;
      }
      best = &one;
      best_ties = ties;
    }
    return best->nodes;
  }

 private:
  bool IsFailed(WorkerIndex w) const {
    return std::count(loss_.failed.begin(), loss_.failed.end(), w) > 0;
  }

  Int128 FixedCost() const {
    Int128 cost = 0;
    const auto add = [&](WorkerIndex a, WorkerIndex b, Int128 bytes) {
      if (IsFailed(a) || IsFailed(b)) return;
      cost += bytes * instance_.pair_cost().Weight(loss_.nodes[a], loss_.nodes[b]);
    };
    for (const traffic::Edge& edge : random_.graph->edges()) add(edge.a, edge.b, edge.bytes);
    for (const traffic::Clique& clique : random_.graph->cliques()) {
      for (std::size_t i = 0; i < clique.members.size(); ++i) {
        for (std::size_t j = i + 1; j < clique.members.size(); ++j) {
          const traffic::Seat &a = clique.members[i], &b = clique.members[j];
          add(a.worker, b.worker, Int128{a.ranks} * b.ranks * clique.bytes_per_rank_pair);
        }
      }
    }
    return cost;
  }

  std::vector<std::string> Names(const ByWorker<NodeIndex>& nodes) const {
    std::vector<std::string> names;
    for (const NodeIndex n : nodes) names.push_back(random_.fabric->node(n).name);
    return names;
  }

  bool Together(fabric::Tier tier, std::span<const WorkerIndex> workers) const {
    const auto& of_node = random_.fabric->domains(tier).of_node;
    return std::all_of(workers.begin(), workers.end(), [&](WorkerIndex w) {
      return of_node[nodes_[w]] == of_node[nodes_[workers.front()]];
    });
  }

  void Enumerate(std::size_t next) {
    if (next == loss_.failed.size()) return Record();
    for (const NodeIndex n : free_.Indices()) {
      if (free_[n] == 0) continue;
      --free_[n];
      nodes_[loss_.failed[next]] = n;
      Enumerate(next + 1);
      ++free_[n];
    }
  }

  void Record() {
    const objective::Request& request = random_.request;
    std::vector<WorkerIndex> all;
    for (const WorkerIndex w : nodes_.Indices()) all.push_back(w);
    if (request.required && !Together(*request.required, all)) return;
    for (const auto& group : request.groups) {
      for (std::size_t s = 0; group.required && s < group.sets.size(); ++s) {
        if (!Together(*group.required, group.sets.set(s))) return;
      }
    }
    answers_.push_back(objective::Evaluate(instance_, nodes_));
  }

  const RandomInstance& random_;
  const Loss& loss_;
  objective::Instance instance_;
  fabric::ByNode<std::uint32_t> free_;
  ByWorker<NodeIndex> nodes_;
  int tolerance_;
  std::vector<Candidate> answers_;
};

struct Broken {
  RandomInstance random;
  Loss loss;
};

// A placed job that loses one to four workers, with or without the nodes that they were on.
std::optional<Broken> Break(std::uint64_t seed) {
  SplitMix64 draws(seed);
  weft::testing::RandomOptions options;
  options.most_nodes = 10;
  options.most_workers = 7;
  options.planes = seed % 5 == 0;
  options.flat = seed % 7 == 0;
  options.torus = seed % 11 == 0;
  options.only_data = seed % 6 == 0;
  Broken broken{MakeRandomInstance(seed, options), {}};
  const auto plan = Solve(*broken.random.claims, broken.random.request, *broken.random.graph);
  if (!plan) return std::nullopt;
  broken.loss.nodes = plan->nodes;
  const std::uint32_t workers = broken.random.request.workers;
  if (workers < 2) return std::nullopt;  // none would be healthy
  const std::uint64_t most = std::min<std::uint64_t>(4, workers - 1);
  while (broken.loss.failed.size() < 1 + draws.Below(most)) {
    const auto w = WorkerIndex::Of(draws.Below(workers));
    auto& failed = broken.loss.failed;
    if (std::count(failed.begin(), failed.end(), w) == 0) failed.push_back(w);
  }
  std::sort(broken.loss.failed.begin(), broken.loss.failed.end());
  if (draws.Below(2) == 0) broken.random.request.previous_nodes = plan->nodes;
  if (draws.Below(4) == 0) return broken;
  auto& excluded = broken.random.request.excluded;
  for (const WorkerIndex w : broken.loss.failed) excluded.push_back(plan->nodes[w]);
  std::sort(excluded.begin(), excluded.end());
  excluded.erase(std::unique(excluded.begin(), excluded.end()), excluded.end());
  return broken;
}

// How many of so many placed jobs were compared, from a seed on. A job with a placement must get
// the oracle's; one without must be refused, or groups must have been freed.
void CompareFrom(std::uint64_t first_seed, std::uint64_t jobs) {
  std::uint64_t replaced = 0, seen = 0;
  for (std::uint64_t seed = first_seed; seen < jobs; ++seed) {
    const std::optional<Broken> broken = Break(seed);
    if (!broken) continue;
    ++seen;
    const int tolerance = static_cast<int>(seed % 3) * 10;
    const Oracle oracle(broken->random, broken->loss, tolerance);
    objective::Options options;
    options.cost_tolerance_percent = tolerance;
    const ReplaceAnswer answer = Replace(*broken->random.claims, broken->random.request,
                                         *broken->random.graph, broken->loss, options);
    const auto* found = std::get_if<Replaced>(&answer);
    const auto best = oracle.Best();
    ASSERT_EQ(found != nullptr && found->groups_moved == 0, best.has_value())
        << seed << " " << broken->random.what;
    if (!best) continue;
    ++replaced;
    ASSERT_TRUE(found->exact) << seed << " " << broken->random.what;
    ASSERT_EQ(found->placement.nodes, *best) << seed << " " << broken->random.what;
  }
  EXPECT_GT(replaced, jobs / 3);
}

TEST(ReplaceProperty, FindsTheBestByTheWholeOrder) {
  CompareFrom(1, weft::testing::Instances(500));
}

// Seeds that the solver was never tuned on.
TEST(ReplaceProperty, FindsTheBestForSeedsKeptApart) {
  CompareFrom(7'000'001, weft::testing::Instances(500));
}

}  // namespace
}  // namespace weft::placement
