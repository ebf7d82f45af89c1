#include "operator/simulate/scenario.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/json_text.h"
#include "operator/base/timestamp.h"
#include "operator/cluster/choose_fabric.h"
#include "operator/cluster/problem.h"
#include "operator/simulate/pace.h"
#include "operator/simulate/trace_shapes.h"

namespace weft::simulate {
namespace {

// The annotation as a number of at least 0; nothing if it is absent.
Result<std::optional<double>> NumberOf(const cluster::WorkloadView& workload, const char* key) {
  const auto text = workload.meta->annotations.At(key);
  if (!text) return std::optional<double>();
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  constexpr double kMost = 1e18;
  if (error == std::errc() && end == text->data() + text->size() && value >= 0 && value <= kMost) {
    return std::optional(value);
  }
  return Invalid(*workload.place + ": metadata.annotations[" + key +
                 "]: must be a number of at least 0");
}

class Maker {
 public:
  Maker(const cluster::Cluster& cluster, const Trace* trace, const ScenarioOptions& options)
      : cluster_(cluster),
        trace_(trace),
        options_(options),
        on_(cluster.fabrics[options.fabric]),
        paces_(on_) {
    scenario_.on = &on_;
  }

  Result<Scenario> Run() {
    if (Status manifests = AddManifests(); !manifests) return manifests.error();
    if (trace_ != nullptr) {
      if (Status trace = AddTrace(); !trace) return trace.error();
    }
    std::stable_sort(scenario_.jobs.begin(), scenario_.jobs.end(),
                     [](const Job& a, const Job& b) { return a.arrival < b.arrival; });
    scenario_.load = OfferedLoad(scenario_);
    if (options_.load > 0) ScaleTo(options_.load);
    if (const std::string note = paces_.Note(); !note.empty()) scenario_.notes.push_back(note);
    return std::move(scenario_);
  }

 private:
  // The shape of the key, made by `make` if it is new. Nothing if it never fits.
  Result<std::optional<std::uint32_t>> ShapeOf(const std::string& key,
                                               const cluster::WorkloadView& like) {
    const auto [found, fresh] = shapes_.try_emplace(key, std::nullopt);
    if (!fresh) return found->second;
    auto problem = cluster::MakeProblem(on_, like);
    if (!problem) return problem.error();
    Shape& shape = scenario_.shapes.emplace_back();
    shape.problem = *std::move(problem);
    shape.workload = like;
    shape.graph.emplace(shape.problem.traffic);
    shape.gpus = like.workers * like.accelerator->per_worker;
    objective::Options alone;
    alone.ignore_claims = true;
    auto best = placement::Solve(on_.claims, shape.problem.request, *shape.graph, alone);
    if (!best) {
      scenario_.shapes.pop_back();
      return std::optional<std::uint32_t>();
    }
    shape.best = std::move(best->nodes);
    found->second = static_cast<std::uint32_t>(scenario_.shapes.size() - 1);
    return found->second;
  }

  // --- Jobs of manifests

  Status AddManifests() {
    auto workloads = cluster::PendingWorkloads(cluster_, cluster::Order::kOperator);
    if (!workloads) return workloads.error();
    if (options_.past) AddPast(*workloads);
    std::optional<UnixSeconds> first;
    for (const cluster::WorkloadView& one : *workloads) {
      const auto created = ParseTime(one.meta->creation_timestamp);
      if (created && (!first || *created < *first)) first = created;
    }
    for (const cluster::WorkloadView& one : *workloads) {
      if (!one.is_job) continue;
      const auto fabric = cluster::ChooseFabric(cluster_, one);
      if (!fabric) return fabric.error();
      const auto* index = std::get_if<std::size_t>(&*fabric);
      if (index == nullptr || *index != options_.fabric) continue;
      if (Status added = AddManifest(one, first.value_or(0)); !added) return added;
    }
    return {};
  }

  // The TrainingJobs that have ended after they ran.
  void AddPast(std::vector<cluster::WorkloadView>& workloads) const {
    const auto& jobs = cluster_.inputs->jobs;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      if (!jobs[j].unreadable.empty() || !RanFor(jobs[j])) continue;
      cluster::WorkloadView workload = cluster::WorkloadOf(jobs[j]);
      workload.index = j;
      workload.expected_seconds = jobs[j].expected_duration_seconds;
      workloads.push_back(std::move(workload));
    }
  }

  // From the start of a job that has ended to its end, without the time that it was suspended.
  static std::optional<Micros> RanFor(const api::TrainingJob& job) {
    const auto start = ParseTime(job.record.start_time);
    const auto end = ParseTime(job.record.completion_time);
    if (!start || !end) return std::nullopt;
    return std::max<UnixSeconds>(0, *end - *start - job.record.suspended_seconds) * kSecond;
  }

  Status AddManifest(const cluster::WorkloadView& workload, UnixSeconds first) {
    const auto at = NumberOf(workload, kArrivalAnnotation);
    if (!at) return at.error();
    const auto run = NumberOf(workload, kRunAnnotation);
    if (!run) return run.error();
    const auto tokens = NumberOf(workload, kTokensAnnotation);
    if (!tokens) return tokens.error();
    const auto shape = ShapeOf(KeyOf(workload), workload);
    if (!shape) return shape.error();
    Job job;
    job.name = api::Show(workload.key());
    if (!*shape) {
      scenario_.never_fit.push_back(job.name);
      return {};
    }
    job.shape = **shape;
    const UnixSeconds created = ParseTime(workload.meta->creation_timestamp).value_or(first);
    job.arrival = *at ? ToMicros(**at) : (created - first) * kSecond;
    job.expected_seconds = workload.expected_seconds;
    job.priority = workload.priority;
    if (const auto ran = RanFor(cluster_.inputs->jobs[workload.index])) {
      job.run = *ran;
    } else if (*run) {
      job.run = ToMicros(**run);
    } else if (*tokens) {
      const Shape& made = scenario_.shapes[job.shape];
      const auto rate = paces_.TokensPerSecond(made, made.best);
      if (!rate) return Invalid(*workload.place + ": " + rate.error().message);
      job.run = ToMicros(**tokens / *rate);
    } else if (workload.expected_seconds) {
      job.run = *workload.expected_seconds * kSecond;
    } else {
      return Invalid(*workload.place + ": needs the annotation " + kRunAnnotation + " or " +
                     kTokensAnnotation + ", or spec.expectedDurationSeconds");
    }
    scenario_.jobs.push_back(std::move(job));
    return {};
  }

  // Jobs of equal specs have one shape. Without the spec's text a job has one of its own.
  std::string KeyOf(const cluster::WorkloadView& workload) const {
    const api::TrainingJob& job = cluster_.inputs->jobs[workload.index];
    if (job.raw == nullptr || !job.raw->contains("spec")) return "job " + api::Show(job.meta.key);
    nlohmann::json spec = job.raw->at("spec");
    for (const char* times : {"expectedDurationSeconds", "activeDeadlineSeconds", "suspend"}) {
      spec.erase(times);
    }
    return "spec " + api::JsonText(spec);
  }

  // --- Jobs of the trace

  Status AddTrace() {
    const NodeKind node = CommonNode(*on_.fabric);
    if (node.accelerators == 0) return Invalid("the fabric's nodes have no accelerator");
    const bool claims = on_.fabric->ScaleUpNeedsClaim();
    for (const TraceJob& from : trace_->jobs) {
      const auto shape = TraceShapeOf(node, from.gpus, claims);
      if (!shape) return shape.error();
      if (!*shape) {
        scenario_.never_fit.push_back(from.name);
        continue;
      }
      Job job{from.name, **shape, from.arrival, from.run, from.expected_seconds, from.priority};
      if (!job.expected_seconds && options_.estimates == Estimates::kExact) {
        job.expected_seconds = (from.run + kSecond - 1) / kSecond;
      }
      scenario_.jobs.push_back(std::move(job));
    }
    return {};
  }

  Result<std::optional<std::uint32_t>> TraceShapeOf(const NodeKind& node, std::uint32_t gpus,
                                                    bool claims) {
    const std::string key = "trace " + std::to_string(gpus);
    if (const auto found = shapes_.find(key); found != shapes_.end()) return found->second;
    api::TrainingJob job = TraceShape(node, gpus);
    job.meta.key = {"trace", "job"};
    job.pod.claims_compute_domain = claims && job.replicas > 1;
    const std::size_t before = scenario_.shapes.size();
    auto shape = ShapeOf(key, cluster::WorkloadOf(job));
    if (shape && scenario_.shapes.size() > before) {
      Shape& made = scenario_.shapes.back();
      made.job = std::move(job);
      made.workload = cluster::WorkloadOf(made.job);
    }
    return shape;
  }

  void ScaleTo(double load) {
    if (scenario_.load <= 0) return;
    const double factor = scenario_.load / load;
    for (Job& job : scenario_.jobs) {
      job.arrival = static_cast<Micros>(std::llround(static_cast<double>(job.arrival) * factor));
    }
    scenario_.load = OfferedLoad(scenario_);
  }

  const cluster::Cluster& cluster_;
  const Trace* trace_;
  const ScenarioOptions& options_;
  const cluster::ClusterFabric& on_;
  const Paces paces_;
  std::map<std::string, std::optional<std::uint32_t>> shapes_;
  Scenario scenario_;
};

}  // namespace

double OfferedLoad(const Scenario& scenario) {
  if (scenario.jobs.empty()) return 0;
  double work = 0;
  for (const Job& job : scenario.jobs) {
    work += static_cast<double>(job.run) * scenario.shapes[job.shape].gpus;
  }
  const Micros span = scenario.jobs.back().arrival - scenario.jobs.front().arrival;
  const auto gpus = static_cast<double>(
      scenario.on->fabric->AcceleratorsIn(fabric::kOutside, fabric::DomainIndex{0}));
  return span > 0 && gpus > 0 ? work / (static_cast<double>(span) * gpus) : 0;
}

Result<Scenario> MakeScenario(const cluster::Cluster& cluster, const Trace* trace,
                              const ScenarioOptions& options) {
  return Maker(cluster, trace, options).Run();
}

}  // namespace weft::simulate
