#include "operator/controllers/running_figures.h"

#include <utility>

namespace weft::controllers {
namespace {

using metrics::Id;
using metrics::Labels;

struct Sum {
  Int128 bytes = 0;
  double milliseconds = 0;
  double watts = 0;
};

// Searches in one call; each takes a millisecond on a fabric of 10,000 nodes.
constexpr std::size_t kMostSearches = 64;

// By tier, then domain; empty tiers are not shown.
using Sums = std::vector<std::vector<Sum>>;

Sums MakeSums(const fabric::Fabric& fabric, std::uint32_t most_domains) {
  Sums sums(fabric.tiers().size());
  for (fabric::Tier t = 1; t < fabric.node_tier(); ++t) {
    if (fabric.domains(t).size() <= most_domains) sums[t].resize(fabric.domains(t).size());
  }
  return sums;
}

void AddSums(const decide::Cluster& cluster, const std::vector<Sums>& sums,
             metrics::Samples& samples) {
  for (std::size_t f = 0; f < sums.size(); ++f) {
    const fabric::Fabric& fabric = *cluster.fabrics[f].fabric;
    for (fabric::Tier t = 0; t < sums[f].size(); ++t) {
      for (fabric::DomainIndex d = 0; d < sums[f][t].size(); ++d) {
        const Labels labels{cluster.fabrics[f].name(), fabric.tiers()[t].name,
                            fabric.domains(t).names[d]};
        samples.Add(Id::kDomainStepBytes, labels, static_cast<double>(sums[f][t][d].bytes));
        samples.Add(Id::kDomainUplinkSeconds, labels, sums[f][t][d].milliseconds / 1e3);
        samples.Add(Id::kDomainWatts, labels, sums[f][t][d].watts);
        if (const auto left = decide::PowerHeadroom(cluster.fabrics[f], t, d)) {
          samples.Add(Id::kDomainPowerHeadroom, labels, *left);
        }
      }
    }
  }
}

}  // namespace

const RunningFigures::Known& RunningFigures::Find(const decide::ClusterFabric& on,
                                                  const decide::Running& running) {
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
  known = {on.fabric, generation, decide::FlowsOf(on, running.workload, running.nodes),
           decide::WattsOf(on, running.workload, running.nodes),
           decide::CostOverBest(on, running.workload, running.nodes)};
  return known;
}

bool RunningFigures::AddTo(const decide::Cluster& cluster, std::uint32_t most_domains,
                           metrics::Samples& samples) {
  std::vector<Sums> sums;
  for (const decide::ClusterFabric& on : cluster.fabrics) {
    sums.push_back(MakeSums(*on.fabric, most_domains));
  }
  before_ = std::exchange(known_, {});
  searches_left_ = kMostSearches;
  if (const auto running = decide::RunningWorkloads(cluster)) {
    for (const decide::Running& one : *running) {
      const Known& known = Find(cluster.fabrics[one.fabric], one);
      if (known.cost_over_best && one.workload.is_job) {
        const api::ObjectKey& key = one.workload.key();
        samples.Add(Id::kJobCostOverBest, {key.name, key.space}, *known.cost_over_best);
      }
      for (const decide::DomainFlow& flow : known.flows) {
        if (sums[one.fabric][flow.tier].empty()) continue;
        Sum& sum = sums[one.fabric][flow.tier][flow.domain];
        sum.bytes += flow.bytes;
        sum.milliseconds += flow.milliseconds;
      }
      for (const decide::DomainWatts& part : known.watts) {
        if (sums[one.fabric][part.tier].empty()) continue;
        sums[one.fabric][part.tier][part.domain].watts += part.watts;
      }
    }
  }
  before_.clear();
  AddSums(cluster, sums, samples);
  return searches_left_ > 0;
}

}  // namespace weft::controllers
