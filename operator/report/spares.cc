#include "operator/report/spares.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "operator/report/ground.h"
#include "operator/report/spare_jobs.h"

namespace weft::report {
namespace {

using cluster::Cluster;
using cluster::ClusterFabric;
using fabric::NodeIndex;
using fabric::Tier;
using outlook::AwayNodes;

double Real(std::int64_t count) { return static_cast<double>(count); }

// The levels of one pool.
class PoolAdviser {
 public:
  PoolAdviser(const fabric::Fabric& fabric, const FailureModel& model,
              const std::vector<NodeIndex>& nodes)
      : fabric_(fabric), model_(model), nodes_(nodes) {
    for (Tier tier = fabric::kOutside; tier < fabric.node_tier(); ++tier) {
      domains_.push_back(DomainsOf(fabric, nodes, tier));
    }
  }

  SpareLevel At(Tier tier) const {
    const SpareDomains& domains = domains_[tier];
    SpareLevel out;
    out.level = fabric_.tiers()[tier].name;
    out.domains = static_cast<std::int64_t>(domains.sizes.size());
    out.nodes = static_cast<std::int64_t>(domains.largest.size());
    const AwayNodes away(Real(out.nodes), model_.Away());
    out.rho = away.rho();
    out.p99 = away.SparesFor(outlook::kRarely);
    out.best = outlook::BestSpares(Real(out.nodes), away);
    out.total = Total(domains);
    out.idle_share = Real(out.total) / Real(std::ssize(nodes_) + out.total);
    out.waits_without = away.MoreThan(0);
    out.waits_with = away.MoreThan(out.best);
    out.goodput_without = outlook::Goodput(Real(out.nodes), away, 0);
    out.goodput_with = outlook::Goodput(Real(out.nodes), away, out.best);
    out.reliability = outlook::ReliabilityAt(FailuresOf(fabric_, model_, domains.largest));
    for (Tier lost = tier + 1; lost < fabric_.node_tier(); ++lost) {
      out.losses.push_back(LossOf(lost, out, away, domains.largest));
    }
    return out;
  }

 private:
  // The best number of spares of every domain; many are equally large.
  std::int64_t Total(const SpareDomains& domains) const {
    std::map<std::int64_t, std::int64_t> best;  // by size
    std::int64_t total = 0;
    for (const std::int64_t size : domains.sizes) {
      const auto [found, added] = best.emplace(size, 0);
      if (added) {
        found->second = outlook::BestSpares(Real(size), AwayNodes(Real(size), model_.Away()));
      }
      total += found->second;
    }
    return total;
  }

  DomainLoss LossOf(Tier lost, const SpareLevel& at, const AwayNodes& away,
                    std::span<const NodeIndex> nodes) const {
    DomainLoss out;
    out.level = fabric_.tiers()[lost].name;
    out.nodes = static_cast<std::int64_t>(domains_[lost].largest.size());
    out.covered = at.best >= out.nodes;
    const outlook::AwayRate* rate = model_.Find(out.level);
    if (rate == nullptr) return out;
    const auto domains = std::ssize(DomainsOf(fabric_, nodes, lost).sizes);
    const AwayNodes domains_away(Real(domains), *rate);
    out.away = domains_away.MoreThan(0);
    const std::int64_t more = std::max(at.best, out.nodes);
    out.pays = outlook::Goodput(Real(at.nodes), away, more) * domains_away.AtMost(1) >
               at.goodput_with * domains_away.AtMost(0);
    return out;
  }

  const fabric::Fabric& fabric_;
  const FailureModel& model_;
  const std::vector<NodeIndex>& nodes_;
  fabric::ByTier<SpareDomains> domains_;  // without the node tier
};

// The nodes with accelerators, by the name of the accelerator.
std::map<std::string, std::vector<NodeIndex>> PoolsOf(const fabric::Fabric& fabric) {
  const auto names = ProductNames(fabric);
  std::map<std::string, std::vector<NodeIndex>> pools;
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    if (IsAcceleratorNode(fabric, n)) pools[names[fabric.pool(n)]].push_back(n);
  }
  return pools;
}

SparePool PoolOf(const fabric::Fabric& fabric, const FailureModel& model,
                 const std::vector<NodeIndex>& nodes) {
  SparePool pool;
  pool.fabric = fabric.spec().name;
  pool.nodes = std::ssize(nodes);
  for (const NodeIndex n : nodes) {
    if (!fabric.usable(n)) ++pool.unusable;
    if (fabric.pools()[fabric.pool(n)].capacity == fabric::CapacityType::kSpot) ++pool.spot;
  }
  const PoolAdviser adviser(fabric, model, nodes);
  for (Tier tier = fabric::kOutside; tier < fabric.node_tier(); ++tier) {
    pool.levels.push_back(adviser.At(tier));
  }
  return pool;
}

// Names the jobs at the levels where they need their replacements.
void SetRequired(const SpareJobs& jobs, SparePool& pool) {
  for (std::size_t j = 0; j < jobs.jobs.size(); ++j) {
    const SpareJob& job = jobs.jobs[j];
    if (job.fabric != pool.fabric || !jobs.products[j].contains(pool.accelerator)) continue;
    for (SpareLevel& level : pool.levels) {
      const bool here = level.level == job.level && &level != &pool.levels.front();
      if (here) level.required.push_back(job.job);
    }
  }
}

}  // namespace

Result<SpareAdvice> AdviseSpares(const Cluster& cluster, const FailureSources& sources) {
  SpareAdvice advice;
  for (const ClusterFabric& on : cluster.fabrics) {
    auto model = FailureModelOf(*on.fabric, sources);
    if (!model) return Invalid(WithPlace(cluster, model.error().message));
    for (const auto& [name, nodes] : PoolsOf(*on.fabric)) {
      advice.pools.push_back(PoolOf(*on.fabric, *model, nodes));
      advice.pools.back().accelerator = name;
    }
    advice.failures.push_back({on.name(), *std::move(model)});
  }
  if (advice.pools.empty()) return Invalid("the input holds no node with an accelerator");
  auto jobs = SpareJobsOf(cluster, advice.failures);
  if (!jobs) return jobs.error();
  for (SparePool& pool : advice.pools) SetRequired(*jobs, pool);
  advice.jobs = std::move(jobs->jobs);
  advice.refused = std::move(jobs->refused);
  return advice;
}

}  // namespace weft::report
