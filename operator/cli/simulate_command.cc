#include <algorithm>
#include <atomic>
#include <iostream>
#include <nlohmann/json.hpp>
#include <thread>

#include "operator/cli/commands.h"
#include "operator/cli/session.h"
#include "operator/cli/sources.h"
#include "operator/cli/terminal.h"
#include "operator/render/simulate_text.h"
#include "operator/simulate/summary.h"
#include "operator/simulate/trace.h"

namespace weft::cli {
namespace {

using simulate::DispatchRules;

Result<std::optional<simulate::Trace>> ReadTraceOf(const SimulateArguments& arguments) {
  if (arguments.trace.empty()) {
    if (arguments.format.empty()) return std::optional<simulate::Trace>();
    return Invalid("--format: names the format of a trace; name the trace with --trace FILE");
  }
  if (arguments.format.empty()) {
    return Invalid("--trace: needs --format philly, helios, acme, sacct or weft");
  }
  const auto source = ReadSource(arguments.trace);
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

Result<std::size_t> FabricOf(const decide::Cluster& cluster, const std::string& name) {
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
        rules.seed = arguments.seed;
        all.push_back(rules);
      }
    }
  }
  return all;
}

// Runs them on the cores that there are. Progress is that of the runs that have not ended.
std::vector<simulate::Summary> RunAll(const simulate::Scenario& scenario,
                                      const std::vector<DispatchRules>& all) {
  std::vector<simulate::Summary> summaries(all.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < all.size(); i = next++) {
      simulate::RunOptions options;
      options.rules = all[i];
      const std::string name(simulate::PolicyName(all[i].policy));
      options.progress = [&](std::size_t finished, std::size_t jobs) {
        Progress("weft: " + name + ": " + std::to_string(finished) + " of " + std::to_string(jobs) +
                 " jobs finished");
      };
      summaries[i] = simulate::Summarise(scenario, options);
    }
  };
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (std::size_t t = 1; t < std::min(cores, all.size()); ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return summaries;
}

}  // namespace

int RunSimulate(const SimulateArguments& arguments) {
  const auto trace = ReadTraceOf(arguments);
  if (!trace) return Fail(trace.error());
  const auto cluster = ReadCluster(arguments.input);
  if (!cluster) return Fail(cluster.error(), arguments.input);
  const auto fabric = FabricOf(*cluster, arguments.fabric);
  if (!fabric) return Fail(fabric.error());
  simulate::ScenarioOptions options;
  options.fabric = *fabric;
  options.load = arguments.load;
  options.estimates =
      arguments.estimates == "exact" ? simulate::Estimates::kExact : simulate::Estimates::kNone;
  const auto scenario = simulate::MakeScenario(*cluster, *trace ? &**trace : nullptr, options);
  if (!scenario) return Fail(scenario.error(), arguments.input);
  Remark(cluster->notes);
  for (const std::string& note : scenario->notes) std::cerr << "weft: note: " << note << "\n";
  const auto summaries = RunAll(*scenario, RulesOf(arguments));
  const bool all = scenario->never_fit.empty() &&
                   std::all_of(summaries.begin(), summaries.end(), [](const auto& one) {
                     return one.never_fit.empty() && one.unfinished == 0;
                   });
  const int code = all ? kDone : kNotPlaced;
  if (arguments.output == "table") {
    return Print(render::SimulateText(*scenario, summaries, TextStyle()), code);
  }
  return Print(Encode(simulate::SummariesJson(*scenario, summaries), arguments.output), code);
}

}  // namespace weft::cli
