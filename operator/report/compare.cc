#include "operator/report/compare.h"

#include <algorithm>
#include <utility>

#include "operator/cluster/problem.h"
#include "operator/cluster/text.h"
#include "operator/objective/pair_cost.h"
#include "operator/report/baselines.h"
#include "operator/rules/node_filter.h"

namespace weft::report {
namespace {

using cluster::Cluster;
using plan::PlanEntry;
using plan::PlanReport;

constexpr std::size_t kSeeds = 5;  // odd, so that there is a median

// The run of one policy through the queue.
struct Run {
  Policy policy = Policy::kFirstFit;
  SplitMix64 random{0};
  std::vector<fabric::Claims> claims = {};   // by fabric
  std::vector<PolicyOutcome> outcomes = {};  // by entry
};

class Comparison {
 public:
  Comparison(const Cluster& cluster, const PlanReport& report, const CompareOptions& options)
      : cluster_(cluster), report_(report), options_(options) {}

  CompareReport Compute() {
    const std::vector<PolicyOutcome> weft = RunPolicy(Policy::kWeft, 0);
    const std::vector<PolicyOutcome> first = RunPolicy(Policy::kFirstFit, 0);
    const std::vector<PolicyOutcome> fewest = RunPolicy(Policy::kFewestDomains, 0);
    const std::vector<PolicyOutcome> random = RunRandom();
    CompareReport out;
    for (std::size_t e = 0; e < report_.entries.size(); ++e) {
      const PlanEntry& entry = report_.entries[e];
      if (!entry.fabric) continue;
      CompareJob job{entry.workload.key(),
                     *entry.fabric,
                     entry.modelled,
                     {weft[e], first[e], fewest[e], random[e]}};
      Count(job, out);
      out.jobs.push_back(std::move(job));
    }
    AddPercents(out.total);
    for (CompareJob& job : out.jobs) AddPercents(job.by_policy);
    return out;
  }

 private:
  std::vector<PolicyOutcome> RunPolicy(Policy policy, std::uint64_t seed) {
    Run run;
    run.policy = policy;
    run.random = SplitMix64(seed);
    for (const cluster::ClusterFabric& on : cluster_.fabrics) run.claims.push_back(on.claims);
    run.outcomes.resize(report_.entries.size());
    for (const std::size_t e : report_.decided) Decide(e, run);
    return std::move(run.outcomes);
  }

  // The median run of the seeds, by placed jobs and then total cost, so that a run that placed
  // fewer jobs does not count as cheaper.
  std::vector<PolicyOutcome> RunRandom() {
    std::vector<std::vector<PolicyOutcome>> runs;
    for (std::size_t s = 0; s < kSeeds; ++s) {
      runs.push_back(RunPolicy(Policy::kRandom, options_.seed + s));
    }
    const auto key = [](const std::vector<PolicyOutcome>& run) {
      std::size_t unplaced = 0;
      Int128 cost = 0;
      for (const PolicyOutcome& outcome : run) {
        unplaced += outcome.placed ? 0 : 1;
        cost += outcome.cost;
      }
      return std::pair(unplaced, cost);
    };
    std::stable_sort(runs.begin(), runs.end(),
                     [&](const auto& a, const auto& b) { return key(a) < key(b); });
    return std::move(runs[kSeeds / 2]);
  }

  Nodes Choose(const PlanEntry& entry, const cluster::Problem& problem, Run& run) const {
    if (run.policy == Policy::kWeft) {
      return entry.placed() == nullptr ? Nodes() : entry.placed()->plan.nodes;
    }
    rules::SlotQuery query;
    query.pod = &problem.request.pod;
    query.job = problem.request.job;
    query.excluded = problem.request.excluded;
    query.cap = problem.request.workers;
    fabric::ByNode<std::uint32_t> slots;
    const fabric::Claims& claims = run.claims[*entry.fabric];
    rules::CountSlots(claims, query, slots);
    if (run.policy == Policy::kFirstFit) {
      return FirstFit(claims.fabric(), slots, query.cap);
    }
    if (run.policy == Policy::kRandom) return RandomFit(slots, query.cap, run.random);
    return FewestDomains(claims.fabric(), slots, query.cap);
  }

  // Whether the workload was refused without a search, because it does not wait for nodes.
  static bool WasNotSolved(const PlanEntry& entry) {
    return entry.refused() != nullptr && !entry.refused()->why;
  }

  void Decide(std::size_t e, Run& run) const {
    const PlanEntry& entry = report_.entries[e];
    if (!entry.fabric || WasNotSolved(entry)) return;
    const cluster::ClusterFabric& on = cluster_.fabrics[*entry.fabric];
    const Result<cluster::Problem> problem = cluster::MakeProblem(on, entry.workload);
    if (!problem) return;  // never: Plan would have returned the error
    const Nodes nodes = Choose(entry, *problem, run);
    if (nodes.empty()) return;
    cluster::AddClaims(entry.workload, nodes, run.claims[*entry.fabric]);
    const objective::PairCost pair_cost(*on.fabric, problem->request.pod.claims_compute_domain);
    const objective::Scores scores = ScoreAnyway(pair_cost, problem->traffic, nodes);
    PolicyOutcome& outcome = run.outcomes[e];
    outcome.placed = true;
    outcome.cost = objective::Cost(pair_cost, traffic::WorkerGraph(problem->traffic), nodes);
    outcome.cross_node_bytes = scores.cross_node_bytes;
    outcome.levels = LevelBytesOf(*on.fabric, scores);
    outcome.communication_milliseconds = entry.modelled ? scores.communication_milliseconds : 0;
  }

  static void Count(const CompareJob& job, CompareReport& out) {
    bool all = job.modelled;
    for (std::size_t p = 0; p < kPolicies; ++p) {
      out.placed[p] += job.by_policy[p].placed ? 1 : 0;
      all = all && job.by_policy[p].placed;
    }
    if (!all) return;
    ++out.compared;
    for (std::size_t p = 0; p < kPolicies; ++p) {
      PolicyOutcome& total = out.total[p];
      total.placed = true;
      total.cost += job.by_policy[p].cost;
      total.cross_node_bytes += job.by_policy[p].cross_node_bytes;
      total.communication_milliseconds += job.by_policy[p].communication_milliseconds;
      AddLevels(job.by_policy[p].levels, total.levels);
    }
  }

  static void AddPercents(std::array<PolicyOutcome, kPolicies>& by_policy) {
    const PolicyOutcome& weft = by_policy[static_cast<std::size_t>(Policy::kWeft)];
    if (!weft.placed) return;
    for (PolicyOutcome& outcome : by_policy) {
      if (!outcome.placed) continue;
      if (weft.cost > 0) outcome.cost_percent = PercentOf(outcome.cost, weft.cost);
      if (weft.cost == 0 && outcome.cost == 0) outcome.cost_percent = 100;
    }
  }

  const Cluster& cluster_;
  const PlanReport& report_;
  const CompareOptions& options_;
};

}  // namespace

std::string_view PolicyName(Policy policy) {
  switch (policy) {
    case Policy::kWeft:
      return "weft";
    case Policy::kFirstFit:
      return "first fit";
    case Policy::kFewestDomains:
      return "fewest domains";
    case Policy::kRandom:
      return "random";
  }
  return "";
}

CompareReport Compare(const Cluster& cluster, const PlanReport& report,
                      const CompareOptions& options) {
  return Comparison(cluster, report, options).Compute();
}

}  // namespace weft::report
