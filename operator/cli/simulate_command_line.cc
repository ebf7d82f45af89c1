// The command `weft simulate` of the command line.
#include <limits>

#include "operator/cli/command_line.h"
#include "operator/program/help.h"
#include "operator/simulate/policy.h"
#include "operator/simulate/trace.h"

namespace weft::cli {
namespace {

constexpr const char* kTrace = "Trace";
constexpr const char* kQueue = "Policies";
constexpr const char* kFaults = "Faults";
constexpr double kMostHours = 10'000;
constexpr std::int64_t kMostSeconds = 31'536'000;
constexpr std::int64_t kMostJobs = 100'000'000;

std::vector<std::string> PolicyNames() {
  std::vector<std::string> names;
  for (const simulate::Policy policy : simulate::AllPolicies()) {
    names.emplace_back(simulate::PolicyName(policy));
  }
  names.emplace_back("all");
  return names;
}

}  // namespace

void CommandLine::AddSimulate() {
  CLI::App* command = Add(
      &app_, "simulate", "Run a fleet through time: waiting, completion and traffic by policy",
      "  weft fabric generate --racks 8 --taper 400 > cluster.yaml\n"
      "  weft simulate -f cluster.yaml --trace philly.csv --format philly --load 0.9\n"
      "  weft simulate -f cluster.yaml -f jobs.yaml --policy weft,first-fit,random\n"
      "  sacct -a -X --parsable2 -o JobID,Submit,Start,End,ElapsedRaw,AllocTRES,TimelimitRaw |\n"
      "    weft simulate -f cluster.yaml --trace - --format sacct --policy all",
      [this] { return RunSimulate(simulate_); });
  command->group("Place jobs");
  AddInput(command, simulate_.input);
  command
      ->add_option("--fabric", simulate_.fabric, "The Fabric to simulate (default: the only one)")
      ->option_text("NAME")
      ->group("Input");
  AddOutput(command, simulate_.output, {"table", "json", "yaml"});
  CLI::Option* report =
      command
          ->add_option("--report", simulate_.report,
                       "Also write an HTML page with charts over time to this file")
          ->option_text("FILE")
          ->group("Output");
  command
      ->add_option("--map-at", simulate_.map_at,
                   "Seconds after the start at which the report shows maps of the fleet (default: "
                   "when the most GPUs are waited for)")
      ->option_text("SECONDS")
      ->check(program::NumberAtLeast(0))
      ->needs(report)
      ->group("Output");
  command
      ->add_option("--events", simulate_.events,
                   "Also write every arrival, start, end and fault to this file, as a CSV with the "
                   "node of each worker")
      ->option_text("FILE")
      ->group("Output");
  AddAccelerators(command, simulate_.input.accelerators);
  AddPrices(command, simulate_.prices);
  AddTrace(command);
  AddRules(command);
  AddFaults(command);
}

void CommandLine::AddTrace(CLI::App* command) {
  command
      ->add_flag("--past", simulate_.past,
                 "Also run the TrainingJobs of the input that have ended, when they were created "
                 "and for as long as they ran")
      ->group(kTrace);
  command
      ->add_option("--trace", simulate_.trace,
                   "Jobs that arrive: a table of past jobs, or - for standard input")
      ->option_text("FILE")
      ->group(kTrace);
  Choice(command->add_option("--format", simulate_.format,
                             "Format of the trace: philly, helios, acme, sacct (--parsable2), or "
                             "weft, with the columns job, arrivalSeconds, runSeconds and gpus"),
         "FORMAT", {std::begin(simulate::kTraceFormats), std::end(simulate::kTraceFormats)})
      ->group(kTrace);
  command
      ->add_option("--only", simulate_.only,
                   "Take only the jobs of this virtual cluster of the trace")
      ->option_text("NAME")
      ->group(kTrace);
  command
      ->add_option("--jobs", simulate_.jobs,
                   "How many jobs to draw if the trace holds published shares of job sizes")
      ->option_text("NUMBER")
      ->check(program::WholeNumber(1, kMostJobs))
      ->capture_default_str()
      ->group(kTrace);
  Choice(command->add_option("--estimates", simulate_.estimates,
                             "What users know of run times that the trace does not state: exact, "
                             "the run times, or none"),
         "WHICH", {"exact", "none"})
      ->capture_default_str()
      ->group(kTrace);
  command
      ->add_option("--load", simulate_.load,
                   "Move arrivals together or apart so that the jobs ask for this share of all "
                   "GPUs, such as 0.9 (default: as they are)")
      ->option_text("SHARE")
      ->check(program::NumberAbove(0))
      ->group(kTrace);
}

void CommandLine::AddRules(CLI::App* command) {
  Choices(
      command->add_option("--policy", simulate_.policies,
                          "Who chooses nodes, one or several: " + simulate::PolicyList() + ", all"),
      "POLICY,...", PolicyNames())
      ->capture_default_str()
      ->group(kQueue);
  Choices(command->add_option("--order", simulate_.orders,
                              "Order of the queue, one or several: priority (the operator's: "
                              "priority, then age), age, shortest"),
          "ORDER,...", {"priority", "age", "shortest"})
      ->capture_default_str()
      ->group(kQueue);
  Choices(command->add_option("--backfill", simulate_.backfills,
                              "Which jobs may start before one that waits ahead of them, one or "
                              "several: reserve (the operator's: a job that has waited ten minutes "
                              "gets nodes reserved), any (all that fit), none"),
          "RULE,...", {"reserve", "any", "none"})
      ->capture_default_str()
      ->group(kQueue);
  command
      ->add_option("--reserve-after", simulate_.reserve_after,
                   "Seconds of waiting after which a job gets nodes reserved, as the operator's "
                   "--reserve-after")
      ->option_text("SECONDS")
      ->check(program::WholeNumber(0, kMostSeconds))
      ->capture_default_str()
      ->group(kQueue);
  command->add_option("--seed", simulate_.seed, "Seed of everything that is random")
      ->option_text("NUMBER")
      ->check(program::WholeNumber(0, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str()
      ->group(kQueue);
}

std::array<CLI::Option*, 2> CommandLine::AddFailureRate(CLI::App* command, double& failures,
                                                        double& repair_seconds, const char* group) {
  CLI::Option* rate =
      command
          ->add_option("--failures", failures,
                       "Failures of nodes per 1,000 node-days, such as 3.79 (Llama 3) or 6.5; jobs "
                       "on the node start again from their last checkpoint")
          ->option_text("RATE")
          ->check(program::NumberAtLeast(0))
          ->group(group);
  CLI::Option* repair =
      command->add_option("--repair-seconds", repair_seconds, "How long a failed node is away")
          ->option_text("SECONDS")
          ->check(program::NumberFrom(1, kMostHours * 3600))
          ->group(group)
          ->capture_default_str();
  return {rate, repair};
}

void CommandLine::AddFaults(CLI::App* command) {
  simulate::FaultOptions& faults = simulate_.faults;
  const auto rate = [&](const char* name, double& value, const char* what) {
    command->add_option(name, value, what)
        ->option_text("RATE")
        ->check(program::NumberAtLeast(0))
        ->group(kFaults);
  };
  const auto seconds = [&](const char* name, double& value, const char* what) {
    command->add_option(name, value, what)
        ->option_text("SECONDS")
        ->check(program::NumberFrom(1, kMostHours * 3600))
        ->group(kFaults)
        ->capture_default_str();
  };
  AddFailureRate(command, faults.failures, faults.repair_seconds, kFaults);
  rate("--interruptions", faults.interruptions,
       "How often the cloud takes a spot node away, per 1,000 node-days");
  seconds("--return-seconds", faults.return_seconds, "How long an interrupted spot node is away");
  rate("--cordons", faults.cordons, "How often a node is cordoned, per 1,000 node-days");
  seconds("--cordon-seconds", faults.cordon_seconds, "How long a node stays cordoned");
  command
      ->add_option("--sweep", simulate_.sweep,
                   "Run everything for each of these values, and for each combination if the flag "
                   "is repeated: load=0.7,0.9, taper=100,400 (percent, above the narrowest level), "
                   "nvlink=8,72 (GPUs in a domain) or failures=0,6.5")
      ->option_text("AXIS=VALUE,...")
      ->allow_extra_args(false)
      ->group("Changes to try");
  command
      ->add_flag("--advise", simulate_.advise,
                 "Try other policies and queues, half the oversubscription, one more rack and "
                 "moving the largest job, and name the three that cut completion most")
      ->group("Changes to try");
}

}  // namespace weft::cli
