#include "operator/cli/command_line.h"

#include <filesystem>
#include <iostream>

#include "operator/cli/session.h"
#include "operator/program/help.h"
#include "operator/program/terminal.h"

namespace weft::cli {

namespace {

constexpr const char* kPlugin = "kubectl-weft";

}  // namespace

CommandLine::CommandLine()
    : app_("Weft places GPU training jobs so that the fewest bytes cross slow links", "weft") {
  app_.formatter(std::make_shared<program::HelpFormatter>(program::StandardOutput().columns));
  app_.require_subcommand(1);
  app_.set_help_flag("-h,--help", "Print this help");
  app_.set_version_flag("--version", WEFT_VERSION, "Print the version");
  app_.footer(
      "Examples:\n"
      "  kubectl get nodes,pods -A -o yaml > cluster.yaml\n"
      "  weft plan -f cluster.yaml -f jobs.yaml    where every worker would go\n"
      "  weft audit -f cluster.yaml                what the placements of other schedulers cost\n"
      "  weft plan --cluster -f job.yaml           where a job would go in a live cluster\n"
      "  weft fabric generate --list               reference designs to try Weft on\n"
      "\n"
      "Exit codes:\n"
      "  0  done\n"
      "  1  a request to the cluster, or a read or write, failed\n"
      "  2  wrong usage or input\n"
      "  3  at least one job could not be placed");
  AddPlan();
  AddExplain();
  AddOutlook();
  AddAdvise();
  AddSimulate();
  AddLint();
  AddSnapshot();
  AddTop();
  AddQueue();
  AddAudit();
  AddReport();
  AddMap();
  AddFabric();
  AddVerify();
  AddCompletion();
}

int CommandLine::Run(int argc, char** argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app_.exit(error);  // help or version
    std::cerr << program::UsageError(app_, error);
    return kBadInput;
  }
  for (const auto& [command, input] : inputs_) {
    if (!command->parsed()) continue;
    // As a plug-in of kubectl, `weft` reads the same cluster as kubectl.
    if (argc > 0 && std::filesystem::path(argv[0]).filename() == kPlugin) input->cluster = true;
    if (input->watch) return Watch(*input, run_);
  }
  return run_();
}

CLI::App* CommandLine::Add(CLI::App* parent, const char* name, const char* what,
                           const char* examples, std::function<int()> run) {
  CLI::App* command = parent->add_subcommand(name, what);
  command->footer(std::string("Examples:\n") + examples);
  command->callback([this, run = std::move(run)] { run_ = run; });
  return command;
}

CLI::Option* CommandLine::Choice(CLI::Option* option, const char* value,
                                 std::vector<std::string> words) {
  choices_[option] = words;
  return option->option_text(value)->check(program::OneOf(std::move(words)));
}

CLI::Option* CommandLine::Choices(CLI::Option* option, const char* value,
                                  std::vector<std::string> words) {
  return Choice(option->delimiter(','), value, std::move(words));
}

void CommandLine::AddInput(CLI::App* command, InputArguments& input) {
  inputs_.emplace_back(command, &input);
  command
      ->add_option(
          "-f,--filename", input.files,
          "Manifests: a file, a folder (its .yaml, .yml and .json files) or - for standard "
          "input; may be repeated")
      ->allow_extra_args(false)
      ->option_text("FILE")
      ->group(kInput);
  command
      ->add_flag("--cluster", input.cluster,
                 "Read a live cluster without writing to it: the one of $KUBECONFIG, else of "
                 "~/.kube/config, else the one that this pod runs in. With -f, answer as if those "
                 "manifests had been applied to it")
      ->group(kInput);
  command
      ->add_option("--kubeconfig", input.kubeconfig,
                   "Read the live cluster that this kubeconfig file names")
      ->option_text("FILE")
      ->group(kInput);
  command
      ->add_option(
          "--context", input.context,
          "Read the live cluster that this kubeconfig context names (default: the current context)")
      ->option_text("NAME")
      ->group(kInput);
}

void CommandLine::AddOutput(CLI::App* command, std::string& output,
                            std::vector<std::string> forms) {
  std::string help = "Output format: ";
  for (std::size_t i = 0; i < forms.size(); ++i) {
    help += (i == 0 ? "" : i + 1 == forms.size() ? " or " : ", ") + forms[i];
  }
  Choice(command->add_option("-o,--output", output, help), "FORMAT", std::move(forms))
      ->capture_default_str()
      ->group(kOutput);
}

void CommandLine::AddNamespace(CLI::App* command, InputArguments& input) {
  CLI::Option* one =
      command
          ->add_option("-n,--namespace", input.space,
                       "Show only this namespace's jobs; capacity that other namespaces hold still "
                       "counts as used")
          ->option_text("NAME")
          ->group(kOutput);
  command->add_flag("-A,--all-namespaces")
      ->description("Show the jobs of all namespaces; this is the default")
      ->excludes(one)
      ->group(kOutput);
}

void CommandLine::AddWatch(CLI::App* command, InputArguments& input) {
  command
      ->add_flag("-w,--watch", input.watch,
                 "Watch the live cluster and print the answer again whenever it changes")
      ->group(kOutput);
}

void CommandLine::AddOrder(CLI::App* command, std::string& order) {
  Choice(command->add_option(
             "--order", order,
             "Order in which jobs are placed: file, as in the files (default with files); "
             "operator, by priority class, then by age (default with a live cluster)"),
         "ORDER", {"file", "operator"});
}

void CommandLine::AddPlan() {
  CLI::App* command =
      Add(&app_, "plan", "Show where every waiting TrainingJob and Placement would go",
          "  weft plan -f cluster.yaml -f jobs.yaml\n"
          "  weft plan -f cluster.yaml -f jobs.yaml --compare\n"
          "  weft plan -f cluster.yaml -f job.yaml -o json | jq '.items[].status.nodes'\n"
          "  kubectl get nodes,pods -A -o yaml | weft plan -f - -f job.yaml\n"
          "  weft plan --cluster -f job.yaml       where would this job go now?\n"
          "  weft plan --context gpu-east          where would its pending jobs go?",
          [this] { return RunPlan(plan_); });
  command->group(kPlacing);
  AddInput(command, plan_.input);
  AddOutput(command, plan_.output, {"table", "json", "yaml"});
  AddNamespace(command, plan_.input);
  AddWatch(command, plan_.input);
  command
      ->add_flag("--compare", plan_.compare,
                 "Also place the jobs first-fit, in the fewest domains and at random, and show "
                 "what each of these costs")
      ->group(kOutput);
  command
      ->add_flag("--timings", plan_.timings,
                 "Also print one JSON object for each job, with its solve time, on standard error")
      ->group(kOutput);
  command
      ->add_option("--effort", plan_.effort,
                   "How long to search for each job: quick, normal (as the operator does) or "
                   "thorough (takes seconds)")
      ->check(CLI::IsMember({"quick", "normal", "thorough"}))
      ->capture_default_str();
  AddOrder(command, plan_.order);
}

void CommandLine::AddExplain() {
  CLI::App* command =
      Add(&app_, "explain", "Explain why a job goes where it goes, or why it cannot be placed",
          "  weft explain -f cluster.yaml -f jobs.yaml\n"
          "  weft explain -f cluster.yaml -f jobs.yaml team-a/llama3-70b\n"
          "  weft explain --cluster team-a/llama3-70b      a decision in a live cluster\n"
          "  weft explain --cluster --lose node-17,node-18    what jobs need if two nodes are lost",
          [this] { return RunExplain(explain_); });
  command->group(kPlacing);
  AddInput(command, explain_.input);
  AddOutput(command, explain_.output, {"table", "json", "yaml"});
  AddNamespace(command, explain_.input);
  AddWatch(command, explain_.input);
  command
      ->add_option("name", explain_.names,
                   "Jobs to explain, as NAMESPACE/NAME or NAME (default: all)")
      ->option_text("JOB...");
  command
      ->add_option("--lose", explain_.lose,
                   "Instead, say what running jobs would need if these nodes were lost now: which "
                   "worker could be replaced where while the others keep their nodes, what that "
                   "costs, and which jobs must be placed anew. Today the operator restarts a job "
                   "that loses a node whole (Recreate)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("NODE,...");
}

void CommandLine::AddLint() {
  CLI::App* command =
      Add(&app_, "lint", "Check TrainingJobs for errors and waste, and whether they can ever fit",
          "  weft lint -f cluster.yaml -f job.yaml\n"
          "  weft lint --cluster -f job.yaml",
          [this] { return RunLint(lint_); });
  command->group(kPlacing);
  AddInput(command, lint_.input);
  AddOutput(command, lint_.output, {"table", "json", "yaml"});
  AddAccelerators(command, lint_.input.accelerators);
  AddNamespace(command, lint_.input);
  AddWatch(command, lint_.input);
}

void CommandLine::AddSnapshot() {
  CLI::App* command =
      Add(&app_, "snapshot", "Write everything that the plan depends on to one file",
          "  weft snapshot -f cluster.yaml -f jobs.yaml > snapshot.yaml\n"
          "  weft plan -f snapshot.yaml            print the same plan\n"
          "  weft snapshot --cluster > snapshot.yaml",
          [this] { return RunSnapshot(snapshot_); });
  command->group(kPlacing);
  AddInput(command, snapshot_.input);
  AddOrder(command, snapshot_.order);
}

void CommandLine::AddFabric() {
  CLI::App* fabric = app_.add_subcommand("fabric", "Show, generate or import a fabric");
  fabric->group(kFabrics);
  fabric->require_subcommand(1);
  fabric->footer(
      "Examples:\n"
      "  weft fabric show -f cluster.yaml\n"
      "  weft fabric generate --list\n"
      "  weft fabric import /etc/slurm/topology.conf");
  AddShow(fabric);
  AddGenerate(fabric);
  AddImport(fabric);
}

void CommandLine::AddVerify() {
  constexpr std::int64_t kMostRanks = std::int64_t{1} << 31;
  CLI::App* command = Add(
      &app_, "verify", "Report, from inside a worker's pod, where it runs or how long a step takes",
      "  weft verify                        host and node, as the init container reports them\n"
      "  weft verify --rank 3 --world 16    exits with 1 if that rank was placed elsewhere\n"
      "  weft verify --step 12.4            notes on this job that a step takes 12.4 s\n"
      "  weft verify --step 12.4 team-a/llama   the same from outside of the job's pods",
      [this] { return RunVerify(verify_); });
  command->group(kOther);
  CLI::Option* rank =
      command->add_option("--rank", verify_.rank, "The rank that the framework gave this process")
          ->option_text("NUMBER")
          ->check(program::WholeNumber(0, kMostRanks));
  CLI::Option* world =
      command->add_option("--world", verify_.world, "The number of ranks of the job")
          ->option_text("NUMBER")
          ->check(program::WholeNumber(1, kMostRanks));
  rank->needs(world);
  world->needs(rank);
  command->add_option("--file", verify_.file, "Append the report to this file")
      ->option_text("FILE")
      ->capture_default_str();
  CLI::Option* step =
      command
          ->add_option("--step", verify_.step,
                       "Measured seconds of one optimizer step: written to the job, so that later "
                       "predictions learn from it, and compared with the predicted step")
          ->option_text("SECONDS")
          ->check(program::NumberAbove(0))
          ->excludes(rank);
  command->add_option("job", verify_.job, "With --step: the job; default: the job of this pod")
      ->option_text("[NAMESPACE/]NAME")
      ->needs(step);
  command->add_option("-n,--namespace", verify_.space, "The namespace of the job")
      ->option_text("NAMESPACE")
      ->needs(step);
  command->add_option("--kubeconfig", verify_.kubeconfig, "The cluster's kubeconfig")
      ->option_text("FILE")
      ->needs(step);
  command->add_option("--context", verify_.context, "The context of the kubeconfig")
      ->option_text("NAME")
      ->needs(step);
}

void CommandLine::AddCompletion() {
  CLI::App* command = Add(&app_, "completion", "Write a completion script for a shell",
                          "  source <(weft completion bash)\n"
                          "  weft completion fish | source\n"
                          "  weft completion kubectl > kubectl_complete-weft",
                          [this] {
                            std::cout << CompletionScript(shell_);
                            return kDone;
                          });
  command->group(kOther);
  Choice(command->add_option("shell", shell_,
                             "bash, zsh or fish; kubectl: for `kubectl weft` in any shell"),
         "SHELL", {"bash", "zsh", "fish", "kubectl"})
      ->required();
}

int CommandLine::Complete(const std::vector<std::string>& typed) const {
  std::cout << Candidates(typed, Words());
  return kDone;
}

std::vector<CommandWords> CommandLine::Words() const {
  std::vector<CommandWords> commands;
  Collect(&app_, "", commands);
  return commands;
}

void CommandLine::Collect(const CLI::App* app, const std::string& path,
                          std::vector<CommandWords>& out) const {
  CommandWords words{path, {}, {}};
  for (const CLI::App* command : app->get_subcommands({})) {
    words.words.push_back(command->get_name());
  }
  for (const CLI::Option* option : app->get_options()) {
    const auto choices = choices_.find(option);
    const bool known = choices != choices_.end();
    if (option->get_positional() && known) {
      words.words.insert(words.words.end(), choices->second.begin(), choices->second.end());
    }
    const auto takes_value = [&](const std::string& name) {
      if (!program::TakesValue(*option)) return;
      words.values[name] = known ? choices->second : std::vector<std::string>();
    };
    for (const std::string& name : option->get_lnames()) {
      words.words.push_back("--" + name);
      takes_value("--" + name);
    }
    for (const std::string& letter : option->get_snames()) takes_value("-" + letter);
  }
  out.push_back(std::move(words));
  for (const CLI::App* command : app->get_subcommands({})) {
    const std::string& name = command->get_name();
    Collect(command, path.empty() ? name : path + " " + name, out);
  }
}

}  // namespace weft::cli
