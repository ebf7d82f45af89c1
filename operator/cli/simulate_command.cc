#include <algorithm>
#include <atomic>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "operator/cli/commands.h"
#include "operator/cli/session.h"
#include "operator/cluster/build_cluster.h"
#include "operator/program/price_file.h"
#include "operator/program/sources.h"
#include "operator/program/terminal.h"
#include "operator/render/simulate_events.h"
#include "operator/render/simulate_html.h"
#include "operator/render/simulate_text.h"
#include "operator/simulate/advice.h"
#include "operator/simulate/read_trace.h"
#include "operator/simulate/summary.h"
#include "operator/simulate/trace.h"

namespace weft::cli {
namespace {

using simulate::DispatchRules;
using simulate::Summary;
using simulate::Variation;

// Runs whose maps are in a report: Weft's beside that of another policy.
constexpr std::size_t kMostMaps = 2;

Result<std::optional<simulate::Trace>> ReadTraceOf(const SimulateArguments& arguments) {
  if (arguments.trace.empty()) {
    if (arguments.format.empty()) return std::optional<simulate::Trace>();
    return Invalid("--format: names the format of a trace; name the trace with --trace FILE");
  }
  if (arguments.format.empty()) {
    return Invalid("--trace: needs --format philly, helios, acme, sacct or weft");
  }
  const auto source = program::ReadSource(arguments.trace);
  if (!source) return source.error();
  auto trace = simulate::ReadTrace({.source = source->name,
                                    .text = source->text,
                                    .format = arguments.format,
                                    .part = arguments.only,
                                    .jobs = arguments.jobs,
                                    .seed = arguments.seed});
  if (!trace) return trace.error();
  const auto tell = [&](std::size_t lines, const char* what) {
    if (lines > 0) std::cerr << "weft: " << source->name << ": left out " << lines << what << "\n";
  };
  tell(trace->without_gpu, " jobs without a GPU");
  tell(trace->not_ended, " jobs that have not ended");
  return std::optional(*std::move(trace));
}

Result<std::size_t> FabricOf(const cluster::Cluster& cluster, const std::string& name) {
  if (!name.empty()) {
    const auto found = cluster.FindFabric(name);
    if (!found) return Invalid("--fabric: no fabric is called \"" + name + "\"");
    return *found;
  }
  if (cluster.fabrics.size() == 1) return std::size_t{0};
  if (cluster.fabrics.empty()) return Invalid("the input holds no node with an accelerator");
  return Invalid("the input holds several fabrics; name one with --fabric NAME");
}

// Every combination of the listed policies, orders and rules of backfill.
std::vector<DispatchRules> RulesOf(const SimulateArguments& arguments) {
  std::vector<simulate::Policy> policies;
  for (const std::string& name : arguments.policies) {
    if (name == "all") {
      policies.assign(simulate::AllPolicies().begin(), simulate::AllPolicies().end());
      break;
    }
    policies.push_back(*simulate::FindPolicy(name));
  }
  std::vector<DispatchRules> all;
  for (const simulate::Policy policy : policies) {
    for (const std::string& order : arguments.orders) {
      for (const std::string& backfill : arguments.backfills) {
        DispatchRules rules;
        rules.policy = policy;
        rules.order = *simulate::FindQueueOrder(order);
        rules.backfill = *simulate::FindBackfill(backfill);
        rules.reserve_seconds = arguments.reserve_after;
        rules.seed = arguments.seed;
        all.push_back(rules);
      }
    }
  }
  return all;
}

// The scenarios of a study: the cluster as it is, and variations of it, each made once.
class Study {
 public:
  Study(const SimulateArguments& arguments, const simulate::Trace* trace)
      : arguments_(arguments), trace_(trace) {}

  // The scenario of a variation, with the job moved that the change names.
  Result<const simulate::Scenario*> ScenarioOf(const simulate::Change& change) {
    const std::string name = change.variation.Name() + (change.moves_largest ? " moved" : "");
    if (const auto found = built_.find(name); found != built_.end())
      return &found->second->scenario;
    auto cluster = ClusterOf(change.variation);
    if (!cluster) return cluster.error();
    const auto fabric = FabricOf(*cluster, arguments_.fabric);
    if (!fabric) return fabric.error();
    auto made = std::make_unique<Built>(Built{*std::move(cluster), {}});
    simulate::ScenarioOptions options;
    options.fabric = *fabric;
    options.past = arguments_.past;
    options.load = change.variation.load.value_or(arguments_.load);
    options.estimates =
        arguments_.estimates == "exact" ? simulate::Estimates::kExact : simulate::Estimates::kNone;
    auto scenario = simulate::MakeScenario(made->cluster, trace_, options);
    if (!scenario) return scenario.error();
    made->scenario = *std::move(scenario);
    if (change.moves_largest) simulate::MoveLargest(made->scenario);
    return &built_.emplace(name, std::move(made)).first->second->scenario;
  }

  // Runs every change on the cores that there are.
  Result<std::vector<Summary>> Run(const std::vector<simulate::Change>& changes) {
    std::vector<const simulate::Scenario*> scenarios;
    for (const simulate::Change& change : changes) {
      const auto scenario = ScenarioOf(change);
      if (!scenario) return scenario.error();
      scenarios.push_back(*scenario);
    }
    std::vector<Summary> summaries(changes.size());
    events_.assign(changes.size(), {});
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
      for (std::size_t i = next++; i < changes.size(); i = next++) {
        summaries[i] = simulate::Summarise(*scenarios[i], OptionsOf(changes[i], i));
        summaries[i].variation = changes[i].variation;
      }
    };
    const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::thread> threads;
    for (std::size_t t = 1; t < std::min(cores, changes.size()); ++t) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    return summaries;
  }

  // What happened in each run of the last call of Run; empty where no file needs it.
  const std::vector<std::vector<simulate::Event>>& events() const { return events_; }

 private:
  struct Built {
    cluster::Cluster cluster;
    simulate::Scenario scenario;  // points into the cluster
  };

  Result<cluster::Cluster> ClusterOf(const Variation& variation) {
    if (!base_) {
      auto base = ReadCluster(arguments_.input);
      if (!base) return base;
      Remark(base->notes);
      base_ = *std::move(base);
      const Status read = program::ReadPricesFor(*base_, arguments_.prices, prices_);
      if (!read) return read.error();
    }
    const auto fabric = FabricOf(*base_, arguments_.fabric);
    if (!fabric) return fabric.error();
    auto inputs = simulate::Vary(*base_->inputs, base_->fabrics[*fabric].name(), variation);
    if (!inputs) return inputs.error();
    return cluster::BuildCluster(*std::move(inputs));
  }

  simulate::RunOptions OptionsOf(const simulate::Change& change, std::size_t index) {
    simulate::RunOptions options;
    options.rules = change.rules;
    options.prices = prices_ ? &*prices_ : nullptr;
    options.faults = arguments_.faults;
    options.faults.failures = change.variation.failures.value_or(options.faults.failures);
    const std::string name(simulate::PolicyName(change.rules.policy));
    options.progress = [name](std::size_t finished, std::size_t jobs) {
      program::Progress("weft: " + name + ": " + std::to_string(finished) + " of " +
                        std::to_string(jobs) + " jobs finished");
    };
    if (!arguments_.events.empty() || (!arguments_.report.empty() && index < kMostMaps)) {
      options.observe = [&events = events_[index]](simulate::Event&& event) {
        events.push_back(std::move(event));
      };
    }
    return options;
  }

  const SimulateArguments& arguments_;
  const simulate::Trace* trace_;
  std::optional<cluster::Cluster> base_;
  std::optional<outlook::Prices> prices_;
  std::map<std::string, std::unique_ptr<Built>> built_;  // by name of the variation
  std::vector<std::vector<simulate::Event>> events_;     // by run
};

Status WriteReport(const SimulateArguments& arguments, const std::vector<simulate::Change>& changes,
                   const std::vector<Summary>& summaries, Study& study) {
  const double seconds =
      arguments.map_at >= 0 ? arguments.map_at : render::BusiestSeconds(summaries.front().series);
  std::vector<render::FleetMap> maps;
  for (std::size_t i = 0; i < std::min(kMostMaps, changes.size()); ++i) {
    const auto scenario = study.ScenarioOf(changes[i]);
    if (!scenario) return scenario.error();
    maps.push_back(render::MapAt(**scenario, study.events()[i], seconds));
  }
  const auto first = study.ScenarioOf(changes.front());
  if (!first) return first.error();
  return program::WriteText(arguments.report, render::SimulateHtml(**first, summaries, maps));
}

Status WriteEvents(const std::string& path, const std::vector<simulate::Change>& changes,
                   const std::vector<Summary>& summaries, Study& study) {
  std::string text = render::kEventColumns;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto scenario = study.ScenarioOf(changes[i]);
    if (!scenario) return scenario.error();
    text +=
        render::EventLines(render::RunName(summaries[i], summaries), **scenario, study.events()[i]);
  }
  return program::WriteText(path, text);
}

bool AllRan(const std::vector<Summary>& summaries) {
  return std::all_of(summaries.begin(), summaries.end(), [](const Summary& one) {
    return one.never_fit.empty() && one.unfinished == 0;
  });
}

int Advise(const SimulateArguments& arguments, Study& study) {
  simulate::Change base;
  base.rules = RulesOf(arguments).front();
  const auto scenario = study.ScenarioOf(base);
  if (!scenario) return Fail(scenario.error(), arguments.input);
  const std::vector<simulate::Change> changes =
      simulate::ChangesToTry(base, *(*scenario)->on->fabric);
  const auto summaries = study.Run(changes);
  if (!summaries) return Fail(summaries.error(), arguments.input);
  const std::vector<simulate::Advice> best = simulate::BestChanges(changes, *summaries);
  const int code =
      (*scenario)->never_fit.empty() && AllRan({summaries->front()}) ? kDone : kNotPlaced;
  if (arguments.output == "table") {
    return Print(render::AdviceText(summaries->front(), best, TextStyle()), code);
  }
  return Print(Encode(simulate::AdviceJson(summaries->front(), best), arguments.output), code);
}

}  // namespace

int RunSimulate(const SimulateArguments& arguments) {
  const auto variations = simulate::ReadSweep(arguments.sweep);
  if (!variations) return Fail(variations.error());
  const auto trace = ReadTraceOf(arguments);
  if (!trace) return Fail(trace.error());
  Study study(arguments, *trace ? &**trace : nullptr);
  if (arguments.advise) return Advise(arguments, study);
  std::vector<simulate::Change> changes;
  for (const Variation& variation : *variations) {
    for (const DispatchRules& rules : RulesOf(arguments)) changes.push_back({"", variation, rules});
  }
  const auto summaries = study.Run(changes);
  if (!summaries) return Fail(summaries.error(), arguments.input);
  const simulate::Scenario& scenario = **study.ScenarioOf(changes.front());
  for (const std::string& note : scenario.notes) std::cerr << "weft: note: " << note << "\n";
  if (!arguments.report.empty()) {
    const Status written = WriteReport(arguments, changes, *summaries, study);
    if (!written) return Fail(written.error());
  }
  if (!arguments.events.empty()) {
    const Status written = WriteEvents(arguments.events, changes, *summaries, study);
    if (!written) return Fail(written.error());
  }
  const int code = scenario.never_fit.empty() && AllRan(*summaries) ? kDone : kNotPlaced;
  if (arguments.output == "table") {
    return Print(render::SimulateText(scenario, *summaries, TextStyle()), code);
  }
  return Print(Encode(simulate::SummariesJson(scenario, *summaries), arguments.output), code);
}

}  // namespace weft::cli
