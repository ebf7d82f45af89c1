#include "operator/render/simulate_map.h"

#include <algorithm>
#include <map>
#include <utility>

#include "operator/cluster/running.h"
#include "operator/render/map_spans.h"
#include "operator/render/simulate_text.h"
#include "operator/simulate/virtual_time.h"

namespace weft::render {
namespace {

using fabric::Tier;
using simulate::Event;
using simulate::EventKind;
using simulate::JobIndex;

// Who runs and who waits at a time.
struct State {
  std::map<JobIndex, const Event*> running;      // with its start
  std::map<JobIndex, simulate::Micros> waiting;  // since when
};

State StateAt(const std::vector<Event>& events, simulate::Micros time) {
  State state;
  for (const Event& event : events) {
    if (event.time > time) break;
    switch (event.kind) {
      case EventKind::kArrive:
        state.waiting[event.job] = event.time;
        break;
      case EventKind::kStart:
        state.waiting.erase(event.job);
        state.running[event.job] = &event;
        break;
      case EventKind::kRestart:
        state.running.erase(event.job);
        state.waiting[event.job] = event.time;
        break;
      case EventKind::kEnd:
        state.running.erase(event.job);
        break;
      case EventKind::kLose:
      case EventKind::kCordon:
      case EventKind::kReturn:
        break;
    }
  }
  return state;
}

void AddJob(const simulate::Scenario& scenario, const Event& start, double seconds, MapInput& map) {
  const simulate::Job& job = scenario.jobs[start.job];
  const simulate::Shape& shape = scenario.shapes[job.shape];
  const double began = simulate::ToSeconds(start.time);
  const double waited = began - simulate::ToSeconds(job.arrival);
  const std::string wait = waited > 0 ? "waited " + LongTimeText(waited) : "did not wait";
  MapJob shown;
  shown.name = job.name;
  shown.spans = SpansOf(*map.fabric, start.nodes);
  shown.cross_node = "-";
  shown.nodes = ByWorker<fabric::NodeIndex>(start.nodes);
  shown.gpus_per_worker = shape.workload.accelerator->per_worker;
  shown.why = wait + ", runs for " + LongTimeText(seconds - began);
  map.jobs.push_back(std::move(shown));
  for (const cluster::DomainFlow& flow :
       cluster::FlowsOf(*scenario.on, shape.workload, objective::Nodes(start.nodes))) {
    MapFlow& sum = map.leaving[flow.tier][flow.domain];
    sum.bytes += flow.bytes;
    sum.milliseconds += flow.milliseconds;
  }
}

}  // namespace

FleetMap MapAt(const simulate::Scenario& scenario, const std::vector<Event>& events,
               double seconds) {
  FleetMap fleet;
  fleet.seconds = seconds;
  const cluster::ClusterFabric& on = *scenario.on;
  fleet.input.title = on.name();
  fleet.input.fabric = on.fabric.get();
  fleet.input.claims = &on.claims;
  fleet.input.leaving.resize(on.fabric->tiers().size());
  for (Tier t{0}; t < fleet.input.leaving.EndIndex(); ++t) {
    fleet.input.leaving[t].resize(on.fabric->domains(t).size());
  }
  const State state = StateAt(events, simulate::ToMicros(seconds));
  std::vector<const Event*> starts;
  for (const auto& [job, start] : state.running) starts.push_back(start);
  std::sort(starts.begin(), starts.end(), [](const Event* a, const Event* b) {
    return std::pair(a->time, a->job) < std::pair(b->time, b->job);
  });
  for (const Event* start : starts) AddJob(scenario, *start, seconds, fleet.input);
  fleet.waiting = state.waiting.size();
  for (const auto& [job, since] : state.waiting) {
    fleet.longest_wait = std::max(fleet.longest_wait, seconds - simulate::ToSeconds(since));
  }
  return fleet;
}

double BusiestSeconds(const simulate::Series& series) {
  const auto less = [](const simulate::Series::Point& a, const simulate::Series::Point& b) {
    return std::pair(a.mean.waiting_gpus, a.mean.used_gpus) <
           std::pair(b.mean.waiting_gpus, b.mean.used_gpus);
  };
  const auto most = std::max_element(series.points.begin(), series.points.end(), less);
  return most == series.points.end() ? 0 : most->seconds;
}

}  // namespace weft::render
