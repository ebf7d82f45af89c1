#include "operator/cluster/auto_compute_domain.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "operator/cluster/choose_fabric.h"
#include "operator/cluster/pool_choices.h"
#include "operator/cluster/workload.h"

namespace weft::cluster {
namespace {

using fabric::PoolIndex;

// Whether two nodes of the pools share a domain; of_node: each node's domain of the scale-up
// network. All pools if there are none.
bool TwoShareADomain(const fabric::Fabric& on, const fabric::ByNode<fabric::DomainIndex>& of_node,
                     const std::vector<PoolIndex>& pools) {
  IndexVector<PoolIndex, std::uint8_t> among(on.pools().EndIndex(), pools.empty() ? 1 : 0);
  for (const PoolIndex pool : pools) among[pool] = 1;
  fabric::ByDomain<std::uint8_t> seen(on.node_count(), 0);  // there are no more domains than nodes
  for (const fabric::NodeIndex n : of_node.Indices()) {
    if (among[on.pool(n)] == 0) continue;
    std::uint8_t& before = seen[of_node[n]];
    if (before != 0) return true;
    before = 1;
  }
  return false;
}

bool ClaimsChannel(const api::TrainingJob& job) {
  return std::any_of(job.claims.begin(), job.claims.end(),
                     [](const api::ClaimReference& one) { return one.channel; });
}

class Settling {
 public:
  explicit Settling(const Cluster& cluster) : cluster_(cluster) {}

  bool MayNeedDomain(const api::TrainingJob& job) {
    const auto named = NamedFabric(cluster_, WorkloadOf(job));
    if (named) return MayNeedDomain(*named, job);
    for (std::size_t f = 0; f < cluster_.fabrics.size(); ++f) {
      if (MayNeedDomain(f, job)) return true;
    }
    return false;
  }

 private:
  bool MayNeedDomain(std::size_t which, const api::TrainingJob& job) {
    const fabric::Fabric& on = *cluster_.fabrics[which].fabric;
    if (!on.spec().scale_up) return false;
    const auto choices = PoolChoicesOf(on, job.accelerator, SlicesOf(job.topology));
    if (!choices) return Shares(which, {});
    return std::any_of(choices->begin(), choices->end(), [&](const objective::PoolChoice& choice) {
      return Shares(which, choice.pools);
    });
  }

  bool Shares(std::size_t which, const std::vector<PoolIndex>& pools) {
    const auto [known, is_new] = known_.try_emplace({which, pools}, false);
    if (is_new) {
      const fabric::Fabric& on = *cluster_.fabrics[which].fabric;
      const auto tier = on.nested_scale_up();
      known->second = TwoShareADomain(
          on, tier ? on.domains(*tier).of_node : on.crossing_scale_up()->of_node, pools);
    }
    return known->second;
  }

  const Cluster& cluster_;
  std::map<std::pair<std::size_t, std::vector<PoolIndex>>, bool> known_;
};

}  // namespace

void SettleAutoComputeDomains(const Cluster& cluster, api::Inputs& inputs) {
  std::optional<Settling> settling;
  for (std::size_t j = 0; j < inputs.jobs.size(); ++j) {
    const api::TrainingJob& job = inputs.jobs[j];
    if (!job.topology.compute_domain || !job.unreadable.empty()) continue;
    if (!settling) settling.emplace(cluster);
    const bool claims = ClaimsChannel(job) || settling->MayNeedDomain(job);
    if (claims == job.pod.claims_compute_domain) continue;
    inputs.jobs.Edit(j).pod.claims_compute_domain = claims;
  }
}

}  // namespace weft::cluster
