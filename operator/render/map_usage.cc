#include "operator/render/map_usage.h"

#include <algorithm>
#include <map>

#include "operator/render/domain_count.h"

namespace weft::render {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

MapUsage::MapUsage(const MapInput& map) : map_(map) {
  for (std::size_t job = 0; job < map.jobs.size(); ++job) {
    const ByWorker<NodeIndex>& nodes = map.jobs[job].nodes;
    for (const WorkerIndex w : nodes.Indices()) planned_.push_back({nodes[w], job, w});
  }
  std::sort(planned_.begin(), planned_.end());
}

std::span<const MapUsage::PlannedWorker> MapUsage::PlannedIn(Tier tier, DomainIndex domain) const {
  const auto& begin = map_.fabric->domains(tier).begin;
  const auto from =
      std::lower_bound(planned_.begin(), planned_.end(), PlannedWorker{begin[domain], 0, {}});
  const auto to = std::lower_bound(from, planned_.end(), PlannedWorker{begin[domain + 1], 0, {}});
  return {from, to};
}

DomainUsage MapUsage::In(Tier tier, DomainIndex domain) const {
  const fabric::Fabric& fabric = *map_.fabric;
  const auto& begin = fabric.domains(tier).begin;
  DomainUsage usage;
  for (NodeIndex n = begin[domain]; n < begin[domain + 1]; ++n) {
    const std::int64_t total = fabric.accelerators(n);
    usage.total = SaturatingAdd(usage.total, total);
    const std::int64_t earlier = std::min(total, map_.claims->used_accelerators(n));
    usage.earlier = SaturatingAdd(usage.earlier, earlier);
    if (StateOf(fabric, n) != NodeState::kTakesPods) {
      usage.off = SaturatingAdd(usage.off, total - earlier);
    }
  }
  std::map<std::size_t, std::int64_t> planned;
  usage.free = usage.total - usage.earlier - usage.off;
  for (const PlannedWorker& one : PlannedIn(tier, domain)) {
    const std::int64_t gpus = map_.jobs[one.job].gpus_per_worker;
    planned[one.job] += gpus;
    // A job's pod may be on a cordoned node if it tolerates that.
    (StateOf(fabric, one.node) == NodeState::kTakesPods ? usage.free : usage.off) -= gpus;
  }
  usage.off = std::max<std::int64_t>(usage.off, 0);
  usage.free = std::max<std::int64_t>(usage.free, 0);
  usage.planned.assign(planned.begin(), planned.end());
  return usage;
}

std::vector<WorkerIndex> MapUsage::Workers(Tier tier, DomainIndex domain, std::size_t job) const {
  std::vector<WorkerIndex> workers;
  for (const PlannedWorker& one : PlannedIn(tier, domain)) {
    if (one.job == job) workers.push_back(one.worker);
  }
  std::sort(workers.begin(), workers.end());
  return workers;
}

std::string WorkerRanges(const std::vector<WorkerIndex>& workers) {
  std::string text;
  for (std::size_t first = 0; first < workers.size();) {
    std::size_t last = first;
    while (last + 1 < workers.size() && workers[last + 1] == workers[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(workers[first].Raw());
    if (last > first) text += "-" + std::to_string(workers[last].Raw());
    first = last + 1;
  }
  return text;
}

}  // namespace weft::render
