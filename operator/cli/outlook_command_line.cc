// The commands `weft outlook` and `weft advise` of the command line.
#include "operator/cli/command_line.h"
#include "operator/program/help.h"

namespace weft::cli {

void CommandLine::AddOutlook() {
  CLI::App* command =
      Add(&app_, "outlook",
          "Predict whether each job fits in memory, how long a step takes and what bounds it",
          "  weft outlook -f cluster.yaml -f jobs.yaml\n"
          "  weft outlook -f cluster.yaml -f job.yaml -o json | jq '.[0].memoryBytesPerGPU'\n"
          "  weft outlook --cluster -n team-a          for the jobs that run or wait there",
          [this] { return RunOutlook(outlook_); });
  command->group(kPlacing);
  AddInput(command, outlook_.input);
  AddOutput(command, outlook_.output, {"table", "json", "yaml"});
  AddNamespace(command, outlook_.input);
  AddWatch(command, outlook_.input);
  AddAccelerators(command, outlook_.input.accelerators);
  AddPrices(command, outlook_.prices);
}

void CommandLine::AddAccelerators(CLI::App* command, std::string& file) {
  command
      ->add_option("--accelerators", file,
                   "YAML file with accelerators that Weft's table lacks, as "
                   "deploy/examples/accelerators.yaml")
      ->option_text("FILE");
}

void CommandLine::AddPrices(CLI::App* command, std::string& file, const char* shows) {
  command
      ->add_option("--prices", file,
                   std::string("YAML file with the price of an hour of each accelerator, in the "
                               "format of deploy/examples/prices.yaml; also shows ") +
                       shows)
      ->option_text("FILE");
}

void CommandLine::AddAdvise() {
  CLI::App* command = Add(
      &app_, "advise",
      "Find the fastest layouts of a job or model that fit in memory, or how many spare nodes to "
      "keep",
      "  weft advise -f cluster.yaml -f job.yaml\n"
      "  weft advise -f cluster.yaml -f job.yaml --gpus 8..1024 --tokens 15T --prices prices.yaml\n"
      "  weft advise -f cluster.yaml -f model.yaml --gpus 8..1024\n"
      "  weft advise -f cluster.yaml -f job.yaml -o yaml | kubectl apply -f -\n"
      "  weft advise --spares -f cluster.yaml -f jobs.yaml",
      [this] { return advise_.spares.asked ? RunAdviseSpares(advise_) : RunAdvise(advise_); });
  command->group(kPlacing);
  AddInput(command, advise_.input);
  Choice(command->add_option("-o,--output", advise_.output,
                             "Output format: table, json, or yaml: the first layout as a "
                             "TrainingJob to apply"),
         "FORMAT", {"table", "json", "yaml"})
      ->capture_default_str()
      ->group(kOutput);
  command->add_option("--rows", advise_.rows, "Show at most this number of layouts")
      ->option_text("NUMBER")
      ->check(program::WholeNumber(1, 1'000))
      ->capture_default_str()
      ->group(kOutput);
  command
      ->add_option("--gpus", advise_.gpus,
                   "Number of accelerators, or a range whose doublings are tried, such as 8..1024 "
                   "(default: as many as the job has); with it the job needs no spec.workers")
      ->option_text("NUMBER");
  command
      ->add_option("--tokens", advise_.tokens,
                   "Tokens to train on, such as 15T; also shows days and cost, with the time that "
                   "failures take")
      ->option_text("NUMBER");
  command
      ->add_option(
          "--deadline", advise_.deadline_days,
          "Show only layouts that train on --tokens in at most DAYS days, the cheapest first")
      ->option_text("DAYS")
      ->check(program::NumberAbove(0));
  command
      ->add_option("--budget", advise_.budget,
                   "Show only layouts that train on --tokens for at most AMOUNT, by --prices")
      ->option_text("AMOUNT")
      ->check(program::NumberAbove(0));
  AddAccelerators(command, advise_.input.accelerators);
  AddPrices(command, advise_.prices);
  command->add_option("name", advise_.job, "Job, as NAMESPACE/NAME or NAME (default: the only one)")
      ->option_text("JOB");
  AddSpares(command);
}

void CommandLine::AddSpares(CLI::App* command) {
  constexpr const char* kSpares = "Spare nodes";
  SparesArguments& spares = advise_.spares;
  CLI::Option* asked =
      command
          ->add_flag("--spares", spares.asked,
                     "Instead of layouts, show how many spare nodes to keep at which level of the "
                     "fabric, what they cost and save, and how often jobs should write checkpoints")
          ->group(kSpares);
  for (const char* other : {"--rows", "--gpus", "--tokens", "--deadline", "--budget", "--prices"}) {
    command->get_option(other)->excludes(asked);
  }
  command->get_option("name")->excludes(asked);
  const auto [rate, repair] =
      AddFailureRate(command, spares.failures, spares.repair_seconds, kSpares);
  // The Fabric's rates come before a default.
  rate->default_str("");
  repair->default_str("");
  rate->needs(asked)->each([&](const std::string&) { spares.failures_given = true; });
  repair->needs(asked)->each([&](const std::string&) { spares.repair_given = true; });
  command
      ->add_option("--failure-model", spares.failure_model,
                   "YAML file with failures and repair times of nodes and of whole domains, as "
                   "deploy/examples/failures.yaml (default: spec.failureRates of the Fabric)")
      ->option_text("FILE")
      ->needs(asked)
      ->group(kSpares);
}

}  // namespace weft::cli
