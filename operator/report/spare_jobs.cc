#include "operator/report/spare_jobs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "operator/base/refusal.h"
#include "operator/cluster/choose_fabric.h"
#include "operator/cluster/pool_choices.h"
#include "operator/cluster/running.h"
#include "operator/cluster/text.h"
#include "operator/outlook/accelerators.h"

namespace weft::report {
namespace {

using cluster::Cluster;
using cluster::WorkloadView;
using fabric::NodeIndex;
using fabric::Tier;

// Units of the resource that the node has.
std::int64_t UnitsOf(const fabric::Fabric& fabric, NodeIndex node, fabric::ResourceIndex resource) {
  return std::max(fabric.capacity(node, resource), fabric.allocatable(node, resource));
}

// The nodes that the workers would fill, side by side. Fewer nodes than the workers need are all.
std::vector<NodeIndex> NodesFor(const fabric::Fabric& fabric, const WorkloadView& workload) {
  const auto resource = fabric.FindResource(workload.accelerator->resource_name);
  std::vector<NodeIndex> nodes;
  if (!resource) return nodes;
  const auto choices =
      cluster::PoolChoicesOf(fabric, *workload.accelerator, cluster::SlicesOf(*workload.topology));
  const std::int64_t each = std::max<std::int64_t>(workload.accelerator->per_worker, 1);
  std::int64_t left = workload.workers;
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    if (left <= 0) break;
    const bool may = !choices || (!choices->empty() &&
                                  std::binary_search(choices->front().pools.begin(),
                                                     choices->front().pools.end(), fabric.pool(n)));
    const std::int64_t workers = may ? UnitsOf(fabric, n, *resource) / each : 0;
    if (workers == 0) continue;
    nodes.push_back(n);
    left -= workers;
  }
  return nodes;
}

// The level in whose domain a replacement must be: the narrowest that is required of the job or of
// one of its groups. A group that must be in one node moves to another node as a whole.
Result<Tier> ReplacementTier(const fabric::Fabric& fabric, const WorkloadView& workload) {
  Tier narrowest = fabric::kOutside;
  const auto narrow = [&](const std::string& name) {
    if (name.empty()) return true;
    const std::optional<Tier> tier = fabric.FindTier(name);
    const auto& scale_up = fabric.spec().scale_up;
    if (!tier) return scale_up && scale_up->name == name;  // crosses the levels
    if (*tier < fabric.node_tier()) narrowest = std::max(narrowest, *tier);
    return true;
  };
  const api::TopologySpec& topology = *workload.topology;
  const auto unknown = [&](const std::string& path, const std::string& name) {
    return Invalid(*workload.place + ": spec.topology." + path + "required: unknown level \"" +
                   name + "\"; weft fabric show names the levels of Fabric " + fabric.spec().name);
  };
  if (!narrow(topology.required)) return unknown("", topology.required);
  for (std::size_t g = 0; g < topology.groups.size(); ++g) {
    const std::string& name = topology.groups[g].required;
    if (!narrow(name)) return unknown("groups[" + std::to_string(g) + "].", name);
  }
  return narrowest;
}

class JobLister {
 public:
  JobLister(const Cluster& cluster, const std::vector<FabricFailures>& failures)
      : cluster_(cluster), failures_(failures) {
    for (const cluster::ClusterFabric& on : cluster.fabrics) {
      names_.push_back(ProductNames(*on.fabric));
    }
  }

  Result<SpareJobs> List() {
    const auto workloads = cluster::AllWorkloads(cluster_, cluster::Mark::kInvalid);
    if (!workloads) return workloads.error();
    const auto running = cluster::RunningWorkloads(cluster_);
    if (!running) return running.error();
    for (const cluster::Running& one : *running) held_[Key(one.workload)] = &one;
    for (const WorkloadView& workload : *workloads) {
      if (const Status added = Add(workload); !added) {
        out_.refused.push_back({*workload.place, added.error().message, true});
      }
    }
    return std::move(out_);
  }

 private:
  using JobKey = std::pair<std::string_view, api::ObjectKey>;

  static JobKey Key(const WorkloadView& workload) { return {workload.kind(), workload.key()}; }

  Status Add(const WorkloadView& workload) {
    if (!workload.invalid.empty()) return Invalid(workload.invalid);
    const auto found = held_.find(Key(workload));
    const cluster::Running* held = found == held_.end() ? nullptr : found->second;
    std::size_t on = 0;
    if (held != nullptr) {
      on = held->fabric;
    } else {
      const auto chosen = cluster::ChooseFabric(cluster_, workload);
      if (!chosen) return chosen.error();
      if (const auto* refusal = std::get_if<Refusal>(&*chosen)) {
        LeaveOut(workload, refusal->message);
        return {};
      }
      on = std::get<std::size_t>(*chosen);
    }
    const fabric::Fabric& fabric = *cluster_.fabrics[on].fabric;
    std::vector<NodeIndex> nodes;
    if (held != nullptr) {
      nodes.assign(held->nodes.begin(), held->nodes.end());
      std::sort(nodes.begin(), nodes.end());
      nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    } else {
      nodes = NodesFor(fabric, workload);
    }
    if (nodes.empty()) {
      LeaveOut(workload, "no node of Fabric " + fabric.spec().name + " has " +
                             cluster::AmountText(workload.accelerator->resource_name,
                                                 workload.accelerator->per_worker) +
                             " for one of its workers");
      return {};
    }
    const auto tier = ReplacementTier(fabric, workload);
    if (!tier) return tier.error();
    out_.jobs.push_back(JobOn(on, nodes, *tier));
    out_.jobs.back().job = api::Show(workload.key());
    out_.jobs.back().held = held != nullptr;
    return {};
  }

  void LeaveOut(const WorkloadView& workload, const std::string& why) {
    out_.refused.push_back({*workload.place, *workload.place + ": " + why});
  }

  // The best number of spares of every domain of a job; many are equally large.
  static std::int64_t Total(const SpareDomains& domains, const FailureModel& model) {
    std::map<std::int64_t, std::int64_t> best;  // by size
    std::int64_t total = 0;
    for (const std::int64_t size : domains.sizes) {
      const auto [found, added] = best.emplace(size, 0);
      const auto nodes = static_cast<double>(size);
      if (added) {
        found->second = outlook::BestSpares(nodes, outlook::AwayNodes(nodes, model.Away()),
                                            static_cast<double>(domains.sizes.size()));
      }
      total += found->second;
    }
    return total;
  }

  SpareJob JobOn(std::size_t on, const std::vector<NodeIndex>& nodes, Tier tier) {
    const fabric::Fabric& fabric = *cluster_.fabrics[on].fabric;
    const FailureModel& model = failures_[on].model;
    SpareJob job;
    job.fabric = fabric.spec().name;
    job.nodes = std::ssize(nodes);
    job.level = fabric.tiers()[tier].name;
    const SpareDomains domains = DomainsOf(fabric, nodes, tier);
    job.domains = std::ssize(domains.sizes);
    const auto most = static_cast<double>(domains.largest.size());
    const outlook::AwayNodes away(most, model.Away());
    job.rho = away.rho();
    job.p99 = away.SparesFor(outlook::kRarely);
    job.best = outlook::BestSpares(most, away, static_cast<double>(job.domains));
    job.total = Total(domains, model);
    job.reliability = outlook::ReliabilityAt(FailuresOf(fabric, model, nodes));
    std::set<std::string> products;
    std::set<fabric::PoolIndex> pools;
    for (const NodeIndex n : nodes) pools.insert(fabric.pool(n));
    for (const fabric::PoolIndex pool : pools) products.insert(names_[on][pool]);
    out_.products.push_back(std::move(products));
    return job;
  }

  const Cluster& cluster_;
  const std::vector<FabricFailures>& failures_;
  std::vector<IndexVector<fabric::PoolIndex, std::string>> names_;  // by fabric
  std::map<JobKey, const cluster::Running*> held_;
  SpareJobs out_;
};

}  // namespace

SpareDomains DomainsOf(const fabric::Fabric& fabric, std::span<const NodeIndex> nodes, Tier tier) {
  const auto& domain = fabric.domains(tier).of_node;
  SpareDomains out;
  for (std::size_t begin = 0; begin < nodes.size();) {
    std::size_t end = begin;
    while (end < nodes.size() && domain[nodes[end]] == domain[nodes[begin]]) ++end;
    out.sizes.push_back(static_cast<std::int64_t>(end - begin));
    if (end - begin > out.largest.size()) out.largest = nodes.subspan(begin, end - begin);
    begin = end;
  }
  return out;
}

double FailuresOf(const fabric::Fabric& fabric, const FailureModel& model,
                  std::span<const NodeIndex> nodes) {
  double failures = static_cast<double>(nodes.size()) * model.node.per_1000_days;
  for (const LevelRate& level : model.levels) {
    const auto& domain = fabric.domains(*fabric.FindTier(level.level)).of_node;
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const bool first = n == 0 || domain[nodes[n]] != domain[nodes[n - 1]];
      if (first) failures += level.rate.per_1000_days;
    }
  }
  return failures;
}

bool IsAcceleratorNode(const fabric::Fabric& fabric, NodeIndex node) {
  if (fabric.accelerators(node) > 0) return true;
  for (const fabric::ResourceIndex r : fabric.resources().Indices()) {
    if (fabric.IsAccelerator(r) && fabric.capacity(node, r) > 0) return true;
  }
  return false;
}

IndexVector<fabric::PoolIndex, std::string> ProductNames(const fabric::Fabric& fabric) {
  IndexVector<fabric::PoolIndex, std::string> names;
  for (const auto& pool : fabric.pools()) {
    std::string name = pool.product;
    if (!name.empty()) {
      const auto known = outlook::FindAccelerator(name, fabric.spec().accelerators);
      if (known) name = known->name;
    }
    names.push_back(std::move(name));
  }
  return names;
}

Result<SpareJobs> SpareJobsOf(const Cluster& cluster, const std::vector<FabricFailures>& failures) {
  return JobLister(cluster, failures).List();
}

}  // namespace weft::report
