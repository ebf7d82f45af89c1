#include "operator/cli/main.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <iostream>
#include <utility>
#include <vector>

#include "operator/cli/commands.h"
#include "operator/cli/completion.h"
#include "operator/cli/session.h"

namespace weft::cli {

namespace {

constexpr const char* kFilesHelp =
    "Manifests: files, folders (.yaml, .yml, .json) or - for standard input; may be repeated";

constexpr const char* kPlugin = "kubectl-weft";

void AddOutput(CLI::App* command, std::string& output, std::vector<std::string> forms) {
  std::string help;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    help += (i == 0 ? "" : i + 1 == forms.size() ? " or " : ", ") + forms[i];
  }
  command->add_option("-o,--output", output, help)
      ->check(CLI::IsMember(std::move(forms)))
      ->capture_default_str();
}

// As kubectl has it.
void AddNamespace(CLI::App* command, InputArguments& input) {
  CLI::Option* one =
      command
          ->add_option("-n,--namespace", input.space,
                       "Jobs of this namespace alone; what others hold is not free all the same")
          ->type_name("NAMESPACE");
  command->add_flag("-A,--all-namespaces")
      ->description("Jobs of all namespaces (default)")
      ->excludes(one);
}

void AddWatch(CLI::App* command, InputArguments& input) {
  command->add_flag("-w,--watch", input.watch,
                    "Follow the cluster and print again when the answer has changed");
}

void AddOrder(CLI::App* command, std::string& order) {
  command
      ->add_option("--order", order,
                   "file: as read (default); operator: by priority class, then age (default of a "
                   "cluster)")
      ->check(CLI::IsMember({"file", "operator"}));
}

// Sub-commands and options of a command and all below it.
void Collect(const CLI::App* app, const std::string& path, std::vector<CommandWords>& out) {
  CommandWords words{path, {}};
  for (const CLI::App* command : app->get_subcommands({}))
    words.words.push_back(command->get_name());
  for (const CLI::Option* option : app->get_options()) {
    for (const std::string& name : option->get_lnames()) words.words.push_back("--" + name);
  }
  out.push_back(words);
  for (const CLI::App* command : app->get_subcommands({})) {
    Collect(command, path.empty() ? command->get_name() : path + " " + command->get_name(), out);
  }
}

// The whole command line; `run` is what was chosen.
class CommandLine {
 public:
  CommandLine()
      : app_("Weft places GPU training jobs so that the least traffic crosses slow links.",
             "weft") {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", WEFT_VERSION);
    app_.footer(
        "Examples:\n"
        "  kubectl get nodes,pods -A -o yaml > cluster.yaml\n"
        "  weft plan -f cluster.yaml -f jobs.yaml        where would every worker go?\n"
        "  weft audit -f cluster.yaml                    what does today's scheduler cost?\n"
        "  weft plan --cluster -f job.yaml               the same of a live cluster: a what-if\n"
        "  weft fabric generate --list                   reference designs to try it on\n"
        "\nExit codes: 0 done, 1 a failure outside the input, 2 bad usage or input,\n"
        "3 something could not be placed.");
    AddTop();
    AddPlan();
    AddExplain();
    AddAudit();
    AddLint();
    AddVerify();
    AddSnapshot();
    AddMap();
    AddFabric();
    AddCompletion();
  }

  // The words typed so far, for a script of CompletionScript.
  int Complete(const std::vector<std::string>& typed) {
    std::vector<CommandWords> commands;
    Collect(&app_, "", commands);
    std::cout << Candidates(typed, commands);
    return kDone;
  }

  int Run(int argc, char** argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app_.exit(error) == 0 ? kDone : kBadInput;
    }
    for (const auto& [command, input] : inputs_) {
      if (!command->parsed()) continue;
      // kubectl's plug-in speaks of kubectl's cluster.
      if (argc > 0 && std::filesystem::path(argv[0]).filename() == kPlugin) input->cluster = true;
      if (input->watch) return Watch(*input, run_);
    }
    return run_();
  }

 private:
  CLI::App* Add(CLI::App* parent, const char* name, const char* what, const char* examples,
                std::function<int()> run) {
    CLI::App* command = parent->add_subcommand(name, what);
    command->footer(std::string("Examples:\n") + examples);
    command->callback([this, run = std::move(run)] { run_ = run; });
    return command;
  }

  void AddInput(CLI::App* command, InputArguments& input);
  void AddTop();
  void AddPlan();
  void AddExplain();
  void AddAudit();
  void AddLint();
  void AddVerify();
  void AddSnapshot();
  void AddMap();
  void AddFabric();
  void AddShow(CLI::App* fabric);
  void AddGenerate(CLI::App* fabric);
  void AddImport(CLI::App* fabric);
  void AddCompletion();

  CLI::App app_;
  std::function<int()> run_;
  std::vector<std::pair<CLI::App*, InputArguments*>> inputs_;
  TopArguments top_;
  PlanArguments plan_;
  ExplainArguments explain_;
  AuditArguments audit_;
  LintArguments lint_;
  VerifyArguments verify_;
  SnapshotArguments snapshot_;
  MapArguments map_;
  ShowArguments show_;
  GenerateArguments generate_;
  ImportArguments import_;
  std::string shell_;
};

// Manifests, a cluster, or what manifests would change in a cluster.
void CommandLine::AddInput(CLI::App* command, InputArguments& input) {
  inputs_.emplace_back(command, &input);
  command->add_option("-f,--filename", input.files, kFilesHelp)
      ->allow_extra_args(false)
      ->type_name("FILE");
  command
      ->add_option("--kubeconfig", input.kubeconfig,
                   "Read the cluster of this kubeconfig; nothing is written to it. With -f: as if "
                   "those manifests had been applied, each in place of the live object of its kind "
                   "and name")
      ->type_name("FILE");
  command
      ->add_option("--context", input.context,
                   "Read the cluster of this context of the kubeconfig (default: the current one)")
      ->type_name("NAME");
  command->add_flag("--cluster", input.cluster,
                    "Read the cluster of $KUBECONFIG, else ~/.kube/config, else that of the pod "
                    "this runs in");
}

void CommandLine::AddTop() {
  CLI::App* command = Add(&app_, "top", "Show the fleet and every job that has not ended",
                          "  kubectl weft top -w                     live\n"
                          "  weft top --cluster -n team-a -o wide\n"
                          "  weft top --context gpu-east -o json | jq .fabrics",
                          [this] { return RunTop(top_); });
  AddInput(command, top_.input);
  AddNamespace(command, top_.input);
  AddWatch(command, top_.input);
  AddOutput(command, top_.output, {"table", "wide", "json", "yaml"});
}

void CommandLine::AddPlan() {
  CLI::App* command =
      Add(&app_, "plan", "Place every pending TrainingJob and Placement",
          "  weft plan -f cluster.yaml -f jobs.yaml\n"
          "  weft plan -f cluster.yaml -f jobs.yaml --compare\n"
          "  weft plan -f cluster.yaml -f job.yaml -o json | jq '.items[].status.nodes'\n"
          "  kubectl get nodes,pods -A -o yaml | weft plan -f - -f job.yaml\n"
          "  weft plan --kubeconfig ~/.kube/config -f job.yaml     a what-if against live state\n"
          "  weft plan --context gpu-east                          what waits there now",
          [this] { return RunPlan(plan_); });
  AddInput(command, plan_.input);
  AddOutput(command, plan_.output, {"table", "json", "yaml"});
  AddNamespace(command, plan_.input);
  AddWatch(command, plan_.input);
  command->add_flag("--compare", plan_.compare,
                    "Also say what first-fit, fewest-domains and random placement would cost");
  command->add_flag("--timings", plan_.timings,
                    "One JSON object a job on standard error, with the solve time");
  command
      ->add_option("--effort", plan_.effort,
                   "How long to search for each job: quick, normal (as the operator) or thorough "
                   "(seconds)")
      ->check(CLI::IsMember({"quick", "normal", "thorough"}))
      ->capture_default_str();
  AddOrder(command, plan_.order);
}

void CommandLine::AddExplain() {
  CLI::App* command = Add(&app_, "explain", "Say why a job goes where it goes, or why nowhere",
                          "  weft explain -f cluster.yaml -f jobs.yaml\n"
                          "  weft explain -f cluster.yaml -f jobs.yaml team-a/llama3-70b\n"
                          "  weft explain --cluster team-a/llama3-70b      a live decision",
                          [this] { return RunExplain(explain_); });
  AddInput(command, explain_.input);
  AddOutput(command, explain_.output, {"table", "json", "yaml"});
  AddNamespace(command, explain_.input);
  AddWatch(command, explain_.input);
  command->add_option("name", explain_.names, "Jobs, as namespace/name or name; none: all")
      ->type_name("JOB");
}

void CommandLine::AddAudit() {
  CLI::App* command = Add(&app_, "audit", "Judge gangs that other schedulers placed; read-only",
                          "  kubectl get nodes,pods -A -o yaml | weft audit -f -\n"
                          "  weft audit -f cluster.yaml -o json | jq .total\n"
                          "  weft audit --context gpu-east",
                          [this] { return RunAudit(audit_); });
  AddInput(command, audit_.input);
  AddOutput(command, audit_.output, {"table", "json", "yaml"});
  AddNamespace(command, audit_.input);
  AddWatch(command, audit_.input);
}

void CommandLine::AddLint() {
  CLI::App* command =
      Add(&app_, "lint", "Check TrainingJobs: what is wrong, wasteful or never fits",
          "  weft lint -f cluster.yaml -f job.yaml\n"
          "  weft lint --cluster -f job.yaml",
          [this] { return RunLint(lint_); });
  AddInput(command, lint_.input);
  AddOutput(command, lint_.output, {"table", "json", "yaml"});
  AddNamespace(command, lint_.input);
  AddWatch(command, lint_.input);
}

void CommandLine::AddVerify() {
  CLI::App* command =
      Add(&app_, "verify", "In a worker's pod: report where it, or one of its ranks, really runs",
          "  weft verify                          host and node, as the init container says them\n"
          "  weft verify --rank 3 --world 16      exit code 1 where that rank was placed elsewhere",
          [this] { return RunVerify(verify_); });
  CLI::Option* rank = command->add_option("--rank", verify_.rank, "the framework's own rank");
  CLI::Option* world = command->add_option("--world", verify_.world, "and how many there are");
  rank->needs(world);
  world->needs(rank);
  command->add_option("--file", verify_.file, "where the report is added")->capture_default_str();
}

void CommandLine::AddSnapshot() {
  CLI::App* command =
      Add(&app_, "snapshot", "Write all inputs of a decision as one file that plan replays",
          "  weft snapshot -f cluster.yaml -f jobs.yaml > snapshot.yaml\n"
          "  weft plan -f snapshot.yaml\n"
          "  weft snapshot --cluster > snapshot.yaml",
          [this] { return RunSnapshot(snapshot_); });
  AddInput(command, snapshot_.input);
  AddOrder(command, snapshot_.order);
}

void CommandLine::AddMap() {
  CLI::App* command = Add(&app_, "map", "Draw the fabric with every job on it",
                          "  weft map -f cluster.yaml -f jobs.yaml > map.html\n"
                          "  weft map -f cluster.yaml -f jobs.yaml -o svg > map.svg\n"
                          "  weft map --cluster > map.html\n"
                          "  weft map --cluster --serve 127.0.0.1:8001",
                          [this] { return RunMap(map_); });
  AddInput(command, map_.input);
  command->add_option("-o,--output", map_.output, "html or svg")
      ->check(CLI::IsMember({"html", "svg"}))
      ->capture_default_str();
  command->add_option("--fabric", map_.fabric, "The fabric to draw as SVG (default: the first)")
      ->type_name("NAME");
  command
      ->add_option(
          "--serve", map_.serve,
          "Serve a page that follows the cluster, until interrupted, at a loopback address")
      ->type_name("ADDRESS:PORT");
}

void CommandLine::AddFabric() {
  CLI::App* fabric = app_.add_subcommand("fabric", "Show, generate or import a fabric");
  fabric->require_subcommand(1);
  AddShow(fabric);
  AddGenerate(fabric);
  AddImport(fabric);
}

void CommandLine::AddShow(CLI::App* fabric) {
  CLI::App* show = Add(fabric, "show", "Draw the tree of levels with free and used GPUs",
                       "  weft fabric show -f cluster.yaml\n"
                       "  weft fabric show -f cluster.yaml --nodes\n"
                       "  weft fabric show --context gpu-east",
                       [this] { return RunFabricShow(show_); });
  AddInput(show, show_.input);
  AddOutput(show, show_.output, {"table", "json", "yaml"});
  AddWatch(show, show_.input);
  show->add_flag("--nodes", show_.nodes, "List every node");
}

void CommandLine::AddGenerate(CLI::App* fabric) {
  CLI::App* generate = Add(
      fabric, "generate", "Write Node and Fabric manifests of a reference design",
      "  weft fabric generate --list\n"
      "  weft fabric generate --design dgx-h100-superpod --fragmented 35 --seed 1 > cluster.yaml",
      [this] { return RunFabricGenerate(generate_); });
  generate->add_flag("--list", generate_.list, "Name the designs");
  generate->add_option("--design", generate_.design, "The design's name")->type_name("NAME");
  generate->add_option("--nodes", generate_.nodes, "Number of nodes (default: the design's)")
      ->check(CLI::PositiveNumber);
  generate
      ->add_option("--fragmented", generate_.fragmented,
                   "Percent of all GPUs held by pods of earlier jobs")
      ->check(CLI::Range(0, 100))
      ->type_name("PERCENT");
  generate->add_option("--seed", generate_.seed, "Of the earlier jobs")->capture_default_str();
  generate->add_option("--gpus-per-node", generate_.gpus_per_node, "GPUs of each node")
      ->check(CLI::PositiveNumber);
}

void CommandLine::AddImport(CLI::App* fabric) {
  CLI::App* import =
      Add(fabric, "import", "Write Node and Fabric manifests of a fabric dump, model or table",
          "  ibnetdiscover > fabric.txt && weft fabric import fabric.txt --gpus-per-node 8\n"
          "  weft fabric import /etc/slurm/topology.conf\n"
          "  weft fabric import topo.csv --csv --levels DSW,PSW,ASW --gpus-per-node 8",
          [this] { return RunFabricImport(import_); });
  import->add_option("file", import_.file, "The file; - for standard input")
      ->required()
      ->type_name("FILE");
  const auto format = [&](const char* name, const char* what) {
    import->add_flag_callback(
        std::string("--") + name, [this, name] { import_.format = name; }, what);
};
format("ibnetdiscover", "The file is an ibnetdiscover dump (default: by its text)");
format("topograph", "... a topograph model");
format("slurm", "... a Slurm topology.conf");
format("csv", "... a table with a header row");
import->add_option("--levels", import_.levels, "csv: columns of the levels, widest first")
    ->delimiter(',')
    ->type_name("COLUMN,...");
import->add_option("--node-column", import_.node_column,
                   "csv: column of the node's name (default: the first that is no level)");
import->add_option("--gpus-per-node", import_.gpus_per_node, "GPUs of each node")
    ->check(CLI::PositiveNumber);
import->add_option("--resource", import_.resource, "Resource name of the GPUs")
    ->capture_default_str();
import->add_option("--fabric-name", import_.fabric_name, "Name of the Fabric")
    ->capture_default_str();
}

void CommandLine::AddCompletion() {
  CLI::App* command = Add(&app_, "completion", "Write a completion script for a shell",
                          "  source <(weft completion bash)\n"
                          "  weft completion kubectl > kubectl_complete-weft",
                          [this] {
                            std::vector<CommandWords> commands;
                            Collect(&app_, "", commands);
                            std::cout << CompletionScript(shell_, commands);
                            return kDone;
                          });
  command->add_option("shell", shell_, "bash, zsh, fish; kubectl: of `kubectl weft`")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "kubectl"}));
}

}  // namespace

int Main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string_view(argv[1]) == "__complete") {
      return CommandLine().Complete({argv + 2, argv + argc});
    }
    return CommandLine().Run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::cerr << "weft: out of memory\n";
    return kFailed;
  }
}

}  // namespace weft::cli
