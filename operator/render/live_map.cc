#include "operator/render/live_map.h"

#include <map>
#include <string>
#include <utility>

#include "operator/base/quantity.h"
#include "operator/cluster/gangs.h"
#include "operator/cluster/running.h"
#include "operator/life/job_status.h"
#include "operator/render/map_spans.h"
#include "operator/render/text_format.h"
#include "operator/report/job_figures.h"

namespace weft::render {
namespace {

using fabric::NodeIndex;
using fabric::Tier;

constexpr std::size_t kLeastGang = 2;

bool IsJob(const cluster::Holder& holder) {
  if (holder.kind == "TrainingJob" || holder.kind == "Placement") return true;
  return holder.kind != "Pod" && holder.holdings.size() >= kLeastGang;
}

// Whether another holder has the same kind and key; it is next to this one, as they are sorted.
bool IsAlike(const cluster::ClusterFabric& on, const cluster::Holder& holder) {
  const auto same = [&holder](const cluster::Holder& other) {
    return other.kind == holder.kind && other.key == holder.key;
  };
  const cluster::Holder *first = on.holders.data(), *last = first + on.holders.size() - 1;
  return (&holder != first && same(*(&holder - 1))) || (&holder != last && same(*(&holder + 1)));
}

std::int64_t Accelerators(const fabric::Fabric& fabric, const fabric::Resources& amounts) {
  std::int64_t sum = 0;
  for (const auto& [name, amount] : amounts) {
    const auto resource = fabric.FindResource(name);
    if (resource && fabric.IsAccelerator(*resource)) sum += amount;
  }
  return sum;
}

// Why the job is there, from its Placement: "1 spine, 2 leaf; 104 % of the bound".
std::string WhyOf(const api::Placement& placement) {
  std::string why;
  for (const api::Condition& condition : placement.conditions) {
    if (condition.type == "Placed") why = condition.message;
  }
  const report::TrafficFigures traffic = report::ReadTraffic(placement);
  if (traffic.cost_over_bound_percent) {
    why += "; cost " + std::to_string(*traffic.cost_over_bound_percent) +
           " % of the lower bound for the free capacity";
  }
  if (traffic.cross_node_bytes && traffic.best_cross_node_bytes) {
    why += "; " + BytesText(*traffic.cross_node_bytes) + " between nodes, " +
           BytesText(*traffic.best_cross_node_bytes) + " at best";
  }
  return why;
}

// What its Placement says is predicted of it.
std::string PredictedOf(const api::Placement& placement) {
  const report::OutlookFigures outlook = report::ReadOutlook(placement);
  if (!outlook.step_milliseconds || !outlook.tokens_per_second || !outlook.memory_bytes) return "";
  const auto capacity = static_cast<double>(outlook.memory_capacity.value_or(0));
  if (capacity <= 0) return "";
  PredictedJob job{static_cast<double>(*outlook.step_milliseconds),
                   static_cast<double>(*outlook.tokens_per_second),
                   static_cast<double>(*outlook.memory_bytes) / capacity,
                   {},
                   {}};
  if (outlook.mfu_percent) job.mfu = static_cast<double>(*outlook.mfu_percent) / 100;
  if (outlook.watts) job.watts = static_cast<double>(*outlook.watts);
  return PredictedText(job);
}

class Builder {
 public:
  explicit Builder(const cluster::Cluster& cluster) : cluster_(cluster) {
    if (auto running = cluster::RunningWorkloads(cluster)) running_ = *std::move(running);
    for (const cluster::Running& one : running_) {
      by_key_[{std::string(one.workload.kind()), one.workload.key()}] = &one;
    }
  }

  LiveMap Build(std::size_t fabric) const {
    const cluster::ClusterFabric& on = cluster_.fabrics[fabric];
    LiveMap live;
    auto claims = std::make_unique<fabric::Claims>(on.claims);
    live.input.title = on.name();
    live.input.fabric = on.fabric.get();
    live.input.leaving.resize(on.fabric->tiers().size());
    for (Tier t{0}; t < live.input.leaving.EndIndex(); ++t) {
      live.input.leaving[t].resize(on.fabric->domains(t).size());
    }
    for (const cluster::Holder& holder : on.holders) {
      if (!IsJob(holder) || holder.holdings.empty()) continue;
      for (const cluster::Holding& holding : holder.holdings) {
        claims->Remove(holding.node, *holding.amounts, holding.compute_domain);
      }
      live.input.jobs.push_back(JobOf(*on.fabric, holder, IsAlike(on, holder)));
      AddFlows(fabric, holder, live.input);
    }
    AddWaiting(live.input);
    live.claims = std::move(claims);
    live.input.claims = live.claims.get();
    return live;
  }

 private:
  const cluster::Running* Find(const cluster::Holder& holder) const {
    const auto found = by_key_.find({holder.kind, holder.key});
    return found == by_key_.end() ? nullptr : found->second;
  }

  // `alike`: whether another holder has the same kind and name.
  MapJob JobOf(const fabric::Fabric& fabric, const cluster::Holder& holder, bool alike) const {
    MapJob job;
    const std::string kind = cluster::KindText(holder.kind, holder.group, alike);
    job.name = api::Show(holder.key) + (holder.kind == "TrainingJob" ? "" : " (" + kind + ")");
    job.cross_node = "-";
    for (const cluster::Holding& holding : holder.holdings) job.nodes.push_back(holding.node);
    job.gpus_per_worker =
        static_cast<std::uint32_t>(Accelerators(fabric, *holder.holdings.front().amounts));
    if (const cluster::Running* running = Find(holder)) {
      if (running->nodes.size() == job.nodes.size()) job.nodes = running->nodes;
      api::Summary summary;
      life::Summarise(*running->placement, summary);
      if (const auto bytes = ParseQuantity(summary.cross_node)) job.cross_node = BytesText(*bytes);
      job.why = WhyOf(*running->placement);
      job.predicted = PredictedOf(*running->placement);
    } else {
      job.why = "placed by another scheduler";
    }
    job.spans = SpansOf(fabric, job.nodes);
    return job;
  }

  void AddFlows(std::size_t fabric, const cluster::Holder& holder, MapInput& map) const {
    const cluster::Running* running = Find(holder);
    if (running == nullptr || running->fabric != fabric) return;
    const cluster::ClusterFabric& on = cluster_.fabrics[fabric];
    for (const auto& flow : cluster::FlowsOf(on, running->workload, running->nodes)) {
      MapFlow& sum = map.leaving[flow.tier][flow.domain];
      sum.bytes += flow.bytes;
      sum.milliseconds += flow.milliseconds;
    }
  }

  void AddWaiting(MapInput& map) const {
    for (const api::TrainingJob& job : cluster_.inputs->jobs) {
      if (!report::WantsNodes(job)) continue;
      const life::JobStatus status = life::StatusOf(job);
      const api::Condition* placed = life::FindCondition(status, "Placed");
      Refusal refusal{"not looked at yet", ""};
      if (placed != nullptr) refusal = {placed->reason, placed->message};
      map.unplaced.push_back({api::Show(job.meta.key), std::move(refusal), true});
    }
  }

  const cluster::Cluster& cluster_;
  std::vector<cluster::Running> running_;
  std::map<std::pair<std::string, api::ObjectKey>, const cluster::Running*> by_key_;
};

}  // namespace

std::vector<LiveMap> BuildLiveMaps(const cluster::Cluster& cluster) {
  const Builder builder(cluster);
  std::vector<LiveMap> maps;
  for (std::size_t f = 0; f < cluster.fabrics.size(); ++f) maps.push_back(builder.Build(f));
  return maps;
}

}  // namespace weft::render
