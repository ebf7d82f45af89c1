#include "operator/controllers/running_figures.h"

#include <deque>
#include <utility>

#include "operator/cluster/problem.h"
#include "operator/controllers/run_solver.h"

namespace weft::controllers {
namespace {

using metrics::Id;
using metrics::Labels;

// Searches in one call; each takes a millisecond on a fabric of 10,000 nodes.
constexpr std::size_t kMostSearches = 64;

struct Sum {
  Int128 bytes = 0;
  double milliseconds = 0;
  double watts = 0;
};

// By tier, then domain; empty tiers are not shown.
using Sums = fabric::ByTier<fabric::ByDomain<Sum>>;

Sums MakeSums(const fabric::Fabric& fabric, std::uint32_t most_domains) {
  Sums sums(fabric.tiers().size());
  for (fabric::Tier t{1}; t < fabric.node_tier(); ++t) {
    if (fabric.domains(t).size() <= most_domains) sums[t].resize(fabric.domains(t).size());
  }
  return sums;
}

void AddUp(const std::vector<cluster::DomainFlow>& flows,
           const std::vector<predict::DomainWatts>& watts, Sums& sums) {
  for (const cluster::DomainFlow& flow : flows) {
    if (sums[flow.tier].empty()) continue;
    Sum& sum = sums[flow.tier][flow.domain];
    sum.bytes += flow.bytes;
    sum.milliseconds += flow.milliseconds;
  }
  for (const predict::DomainWatts& part : watts) {
    if (!sums[part.tier].empty()) sums[part.tier][part.domain].watts += part.watts;
  }
}

void AddSums(const cluster::Cluster& cluster, const std::vector<Sums>& sums,
             metrics::Samples& samples) {
  for (std::size_t f = 0; f < sums.size(); ++f) {
    const fabric::Fabric& fabric = *cluster.fabrics[f].fabric;
    for (fabric::Tier t{0}; t < sums[f].EndIndex(); ++t) {
      for (fabric::DomainIndex d{0}; d < sums[f][t].EndIndex(); ++d) {
        const Labels labels{cluster.fabrics[f].name(), fabric.tiers()[t].name,
                            fabric.domains(t).names[d]};
        samples.Add(Id::kDomainStepBytes, labels, static_cast<double>(sums[f][t][d].bytes));
        samples.Add(Id::kDomainUplinkSeconds, labels, sums[f][t][d].milliseconds / 1e3);
        samples.Add(Id::kDomainWatts, labels, sums[f][t][d].watts);
        if (const auto left = predict::PowerHeadroom(cluster.fabrics[f], t, d)) {
          samples.Add(Id::kDomainPowerHeadroom, labels, *left);
        }
      }
    }
  }
}

// The uplinks of one fabric, and who shares them; members are indices of running workloads.
struct Sharing {
  explicit Sharing(const cluster::ClusterFabric& on) : uplinks(*on.fabric), contention(uplinks) {}
  predict::Uplinks uplinks;
  predict::Contention contention;
};

void AddContention(const std::vector<cluster::Running>& running, std::deque<Sharing>& fabrics,
                   const std::vector<bool>& has_pace, metrics::Samples& samples) {
  for (Sharing& fabric : fabrics) fabric.contention.Update();
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (!has_pace[i] || !running[i].workload.is_job) continue;
    const api::ObjectKey& key = running[i].workload.key();
    const double speed =
        fabrics[running[i].fabric].contention.speed(static_cast<predict::Contention::Member>(i));
    samples.Add(Id::kJobContention, {key.name, key.space}, 1 / speed);
  }
}

// Only jobs have this figure.
std::optional<double> CostOverBest(const cluster::Cluster& cluster, const cluster::Running& running,
                                   const cluster::Problem& problem) {
  if (!running.workload.is_job) return std::nullopt;
  if (plan::RefusalFor(cluster, running.workload, {})) return std::nullopt;
  return cluster::CostOverBest(cluster.fabrics[running.fabric], problem, running.nodes);
}

predict::Pace PaceOf(const cluster::ClusterFabric& on, const predict::Uplinks& uplinks,
                     const cluster::Running& running, const cluster::Problem& problem) {
  const auto accelerator = predict::AcceleratorOf(
      *on.fabric, running.workload.accelerator->resource_name, running.nodes);
  if (!accelerator) return {};
  return predict::PaceOf(on, uplinks, running.workload, problem.traffic, *accelerator,
                         running.nodes);
}

}  // namespace

RunningFigures::Known RunningFigures::Compute(const cluster::Cluster& cluster,
                                              const predict::Uplinks& uplinks,
                                              const cluster::Running& running) {
  const cluster::ClusterFabric& on = cluster.fabrics[running.fabric];
  Known known{on.fabric, running.workload.meta->generation, {}, {}, {}, {}};
  known.flows = cluster::FlowsOf(on, running.workload, running.nodes);
  known.watts = predict::WattsOf(on, running.workload, running.nodes);
  if (const auto problem = cluster::MakeProblem(on, running.workload)) {
    known.cost_over_best = CostOverBest(cluster, running, *problem);
    known.pace = PaceOf(on, uplinks, running, *problem);
  }
  return known;
}

const RunningFigures::Known& RunningFigures::Find(const cluster::Cluster& cluster,
                                                  const predict::Uplinks& uplinks,
                                                  const cluster::Running& running) {
  const cluster::ClusterFabric& on = cluster.fabrics[running.fabric];
  const std::string& uid = running.placement->meta.uid;
  const std::int64_t generation = running.workload.meta->generation;
  Known& known = known_[uid];
  if (const auto before = before_.find(uid); before != before_.end()) {
    known = std::move(before->second);
    before_.erase(before);
  }
  const bool same = known.fabric == on.fabric && known.generation == generation;
  if (same) return known;
  known = {};  // its domains are those of another fabric
  if (searches_left_ == 0) return known;
  --searches_left_;
  known.fabric = on.fabric;
  known.generation = generation;
  if (plan::CrashedOnFigures(cluster, running.workload, version_)) return known;
  known = RunSolver(deciding_, running.workload, plan::Solving::kFigures,
                    [&] { return Compute(cluster, uplinks, running); });
  return known;
}

bool RunningFigures::AddTo(const cluster::Cluster& cluster, std::uint32_t most_domains,
                           metrics::Samples& samples) {
  std::vector<Sums> sums;
  std::deque<Sharing> sharing;
  for (const cluster::ClusterFabric& on : cluster.fabrics) {
    sums.push_back(MakeSums(*on.fabric, most_domains));
    sharing.emplace_back(on);
  }
  before_ = std::exchange(known_, {});
  searches_left_ = kMostSearches;
  if (const auto running = cluster::RunningWorkloads(cluster)) {
    std::vector<bool> has_pace(running->size(), false);
    for (std::size_t i = 0; i < running->size(); ++i) {
      const cluster::Running& one = (*running)[i];
      const Known& known = Find(cluster, sharing[one.fabric].uplinks, one);
      if (known.cost_over_best && one.workload.is_job) {
        const api::ObjectKey& key = one.workload.key();
        samples.Add(Id::kJobCostOverBest, {key.name, key.space}, *known.cost_over_best);
      }
      has_pace[i] = known.pace.alone > 0;
      sharing[one.fabric].contention.Add(static_cast<predict::Contention::Member>(i), known.pace);
      AddUp(known.flows, known.watts, sums[one.fabric]);
    }
    AddContention(*running, sharing, has_pace, samples);
  }
  before_.clear();
  AddSums(cluster, sums, samples);
  return searches_left_ > 0;
}

}  // namespace weft::controllers
