#include "operator/simulate/summary.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/simulate/virtual_time.h"

namespace weft::simulate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint32_t kSizes[] = {1, 8, 64, 512, 0};

double Rounded(double value) {
  constexpr double kDigits = 1e6;
  return std::round(value * kDigits) / kDigits;
}

Spread Completions(const Scenario& scenario, const Outcome& outcome) {
  std::vector<double> values;
  for (std::size_t j = 0; j < outcome.jobs.size(); ++j) {
    if (outcome.jobs[j].end < 0) continue;
    values.push_back(ToSeconds(outcome.jobs[j].end - scenario.jobs[j].arrival));
  }
  return SpreadOf(std::move(values));
}

void AddWaits(const Scenario& scenario, const Outcome& outcome, Summary& summary) {
  std::vector<double> waits;
  for (const std::uint32_t most : kSizes) summary.sizes.push_back({most, 0, 0});
  for (std::size_t j = 0; j < outcome.jobs.size(); ++j) {
    if (outcome.jobs[j].end < 0) continue;
    const Job& job = scenario.jobs[j];
    waits.push_back(ToSeconds(outcome.jobs[j].start - job.arrival));
    const std::uint32_t gpus = scenario.shapes[job.shape].gpus;
    auto size = summary.sizes.begin();
    while (size->most_gpus != 0 && gpus > size->most_gpus) ++size;
    ++size->jobs;
    size->mean_wait += waits.back();
  }
  for (SizeClass& size : summary.sizes) {
    if (size.jobs > 0) size.mean_wait /= static_cast<double>(size.jobs);
  }
  std::erase_if(summary.sizes, [](const SizeClass& size) { return size.jobs == 0; });
  summary.finished = waits.size();
  summary.wait = SpreadOf(std::move(waits));
}

void AddSlowdowns(const Scenario& scenario, const Outcome& outcome, Summary& summary) {
  double placement = 0, contention = 0;
  std::size_t jobs = 0;
  for (std::size_t j = 0; j < outcome.jobs.size(); ++j) {
    const JobRecord& record = outcome.jobs[j];
    const Job& job = scenario.jobs[j];
    const Shape& shape = scenario.shapes[job.shape];
    if (record.end < 0 || job.run == 0 || shape.best.size() < 2 || !*shape.workload.model) continue;
    placement += record.placement_slowdown;
    contention += record.contention_slowdown;
    ++jobs;
  }
  if (jobs == 0) return;
  summary.placement_slowdown = placement / static_cast<double>(jobs);
  summary.contention_slowdown = contention / static_cast<double>(jobs);
}

void AddTotals(const Scenario& scenario, const Outcome& outcome, Summary& summary) {
  Micros last = 0;
  for (const JobRecord& record : outcome.jobs) last = std::max(last, record.end);
  const Micros first = scenario.jobs.empty() ? 0 : scenario.jobs.front().arrival;
  summary.makespan = ToSeconds(std::max<Micros>(0, last - first));
  const auto gpus = static_cast<double>(
      scenario.on->fabric->AcceleratorsIn(fabric::kOutside, fabric::DomainIndex{0}));
  if (summary.makespan > 0 && gpus > 0) {
    summary.utilisation = outcome.series.gpu_seconds / (gpus * summary.makespan);
    const double arriving = ToSeconds(scenario.jobs.back().arrival - first);
    if (arriving > 0) {
      summary.arriving_utilisation = outcome.arriving_gpu_seconds / (gpus * arriving);
    }
    summary.mean_queue = outcome.series.queue_seconds / summary.makespan;
  }
  for (fabric::Tier tier{1}; tier < outcome.level_bytes.EndIndex(); ++tier) {
    summary.level_bytes.emplace_back(scenario.on->fabric->tiers()[tier].name,
                                     outcome.level_bytes[tier]);
  }
}

Json SpreadJson(const Spread& spread) {
  return {
      {"mean", Rounded(spread.mean)}, {"p50", Rounded(spread.p50)}, {"p99", Rounded(spread.p99)}};
}

Json SizesJson(const std::vector<SizeClass>& sizes) {
  Json list = Json::array();
  for (const SizeClass& size : sizes) {
    Json one;
    if (size.most_gpus > 0) one["atMostGPUs"] = size.most_gpus;
    one["jobs"] = size.jobs;
    one["meanWaitSeconds"] = Rounded(size.mean_wait);
    list.push_back(std::move(one));
  }
  return list;
}

Json SeriesJson(const Series& series) {
  Json list = Json::array();
  for (const Series::Point& point : series.points) {
    list.push_back({{"seconds", Rounded(point.seconds)},
                    {"usedGPUs", Rounded(point.mean.used_gpus)},
                    {"waitingJobs", Rounded(point.mean.waiting_jobs)},
                    {"waitingGPUs", Rounded(point.mean.waiting_gpus)},
                    {"freeBlocks", point.free_blocks},
                    {"strandedShare", Rounded(point.stranded_share)}});
  }
  return list;
}

// In kWh.
Json EnergyJson(const Summary& summary) {
  constexpr double kJoules = 3.6e6;
  Json one = {{"jobs", Rounded(summary.bill.job_joules / kJoules)},
              {"idle", Rounded(summary.bill.idle_joules / kJoules)}};
  if (summary.facility_joules) one["facility"] = Rounded(*summary.facility_joules / kJoules);
  return one;
}

Json CostJson(const Summary& summary) {
  if (!summary.bill.cost) return nullptr;
  return {{"jobs", Rounded(summary.bill.cost->jobs)},
          {"fleet", Rounded(summary.bill.cost->fleet)},
          {"currency", summary.currency}};
}

Json VariationJson(const Variation& variation) {
  Json one = Json::object();
  if (variation.load) one["load"] = *variation.load;
  if (variation.taper_percent) one["taperPercent"] = *variation.taper_percent;
  if (variation.scale_up_gpus) one["scaleUpGPUs"] = *variation.scale_up_gpus;
  if (variation.failures) one["failuresPer1000NodeDays"] = *variation.failures;
  if (variation.more_racks > 0) one["moreRacks"] = variation.more_racks;
  return one;
}

Json SummaryJson(const Summary& summary) {
  Json one;
  one["policy"] = PolicyName(summary.rules.policy);
  one["order"] = QueueOrderName(summary.rules.order);
  one["backfill"] = BackfillName(summary.rules.backfill);
  one["variation"] = VariationJson(summary.variation);
  one["offeredLoad"] = Rounded(summary.load);
  one["jobs"] = summary.jobs;
  one["finished"] = summary.finished;
  one["unfinished"] = summary.unfinished;
  one["neverFit"] = summary.never_fit;
  one["waitSeconds"] = SpreadJson(summary.wait);
  one["completionSeconds"] = SpreadJson(summary.completion);
  one["contentionFreeCompletionSeconds"] = SpreadJson(summary.contention_free_completion);
  one["makespanSeconds"] = Rounded(summary.makespan);
  one["utilisation"] = Rounded(summary.utilisation);
  one["utilisationWhileJobsArrive"] = Rounded(summary.arriving_utilisation);
  one["placementSlowdown"] = Rounded(summary.placement_slowdown);
  one["contentionSlowdown"] = Rounded(summary.contention_slowdown);
  Json bytes = Json::object();
  for (const auto& [level, sum] : summary.level_bytes) bytes[level] = std::round(sum);
  one["levelBytes"] = std::move(bytes);
  one["meanQueue"] = Rounded(summary.mean_queue);
  one["waitBySize"] = SizesJson(summary.sizes);
  one["events"] = summary.events;
  one["nodeFailures"] = summary.failures;
  one["restarts"] = summary.restarts;
  one["lostShare"] = Rounded(summary.lost_share);
  one["energyKilowattHours"] = EnergyJson(summary);
  one["cost"] = CostJson(summary);
  one["series"] = SeriesJson(summary.series);
  return one;
}

}  // namespace

Summary Summarise(const Scenario& scenario, const RunOptions& options) {
  Outcome outcome = Run(scenario, options);
  Summary summary;
  summary.rules = options.rules;
  summary.load = scenario.load;
  summary.failures = outcome.failures;
  summary.restarts = outcome.restarts;
  if (outcome.series.gpu_seconds > 0) {
    summary.lost_share = outcome.lost_gpu_seconds / outcome.series.gpu_seconds;
  }
  summary.jobs = scenario.jobs.size();
  summary.unfinished = outcome.unfinished;
  summary.events = outcome.events;
  summary.bill = outcome.bill;
  if (options.prices != nullptr) {
    summary.currency = options.prices->currency;
    summary.facility_joules =
        options.prices->cooling_overhead * (outcome.bill.job_joules + outcome.bill.idle_joules);
  }
  summary.completion = Completions(scenario, outcome);
  AddWaits(scenario, outcome, summary);
  AddSlowdowns(scenario, outcome, summary);
  AddTotals(scenario, outcome, summary);
  summary.contention_free_completion = summary.completion;
  if (outcome.contended) {
    RunOptions alone = options;
    alone.contention = false;
    alone.observe = nullptr;
    summary.contention_free_completion = Completions(scenario, Run(scenario, alone));
  }
  summary.never_fit = std::move(outcome.never_fit);
  summary.series = std::move(outcome.series);
  return summary;
}

Json SummariesJson(const Scenario& scenario, const std::vector<Summary>& summaries) {
  Json out;
  out["nodes"] = scenario.on->fabric->node_count();
  out["gpus"] = scenario.on->fabric->AcceleratorsIn(fabric::kOutside, fabric::DomainIndex{0});
  out["jobs"] = scenario.jobs.size();
  out["neverFit"] = scenario.never_fit;
  out["offeredLoad"] = Rounded(scenario.load);
  Json list = Json::array();
  for (const Summary& summary : summaries) list.push_back(SummaryJson(summary));
  out["policies"] = std::move(list);
  return out;
}

}  // namespace weft::simulate
