#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "operator/cli/commands.h"
#include "operator/cli/completion.h"

namespace weft::cli {

// Groups of commands and of options in the help.
inline constexpr const char* kPlacing = "Place jobs";
inline constexpr const char* kLooking = "Look at a cluster";
inline constexpr const char* kFabrics = "Describe a fabric";
inline constexpr const char* kOther = "Other";
inline constexpr const char* kInput = "Input";
inline constexpr const char* kOutput = "Output";

// The whole command line of `weft`: its commands, their options and help, and the parsed arguments.
class CommandLine {
 public:
  CommandLine();

  // Parses the arguments and runs the command. Returns the exit code.
  int Run(int argc, char** argv);
  // Prints the candidates for the last word of `typed`, for a script of CompletionScript.
  int Complete(const std::vector<std::string>& typed) const;
  // Every command with the words that may follow it, for completion.
  std::vector<CommandWords> Words() const;

 private:
  CLI::App* Add(CLI::App* parent, const char* name, const char* what, const char* examples,
                std::function<int()> run);
  // An option whose value is one of `words`.
  CLI::Option* Choice(CLI::Option* option, const char* value, std::vector<std::string> words);
  // An option whose value is a list of `words`, separated by commas.
  CLI::Option* Choices(CLI::Option* option, const char* value, std::vector<std::string> words);
  void AddInput(CLI::App* command, InputArguments& input);
  void AddOutput(CLI::App* command, std::string& output, std::vector<std::string> forms);
  void AddNamespace(CLI::App* command, InputArguments& input);
  void AddWatch(CLI::App* command, InputArguments& input);
  void AddOrder(CLI::App* command, std::string& order);
  void AddPrices(CLI::App* command, std::string& file, const char* shows = "what a job costs");
  void AddAccelerators(CLI::App* command, std::string& file);
  // --failures and --repair-seconds; returns both.
  std::array<CLI::Option*, 2> AddFailureRate(CLI::App* command, double& failures,
                                             double& repair_seconds, const char* group);

  void AddPlan();
  void AddExplain();
  void AddOutlook();
  void AddAdvise();
  void AddSpares(CLI::App* advise);
  void AddSimulate();
  void AddTrace(CLI::App* simulate);
  void AddRules(CLI::App* simulate);
  void AddFaults(CLI::App* simulate);
  void AddLint();
  void AddSnapshot();
  void AddTop();
  void AddQueue();
  void AddAudit();
  void AddReport();
  void AddMap();
  void AddFabric();
  void AddShow(CLI::App* fabric);
  void AddGenerate(CLI::App* fabric);
  void AddGeometry(CLI::App* generate);
  void AddGeometryLinks(CLI::App* generate);
  void AddImport(CLI::App* fabric);
  void AddTable(CLI::App* import);
  void AddVerify();
  void AddCompletion();
  void Collect(const CLI::App* app, const std::string& path, std::vector<CommandWords>& out) const;

  CLI::App app_;
  std::function<int()> run_;
  std::vector<std::pair<CLI::App*, InputArguments*>> inputs_;
  std::map<const CLI::Option*, std::vector<std::string>> choices_;
  TopArguments top_;
  QueueArguments queue_;
  PlanArguments plan_;
  ExplainArguments explain_;
  AuditArguments audit_;
  ReportArguments report_;
  OutlookArguments outlook_;
  AdviseArguments advise_;
  SimulateArguments simulate_;
  LintArguments lint_;
  VerifyArguments verify_;
  SnapshotArguments snapshot_;
  MapArguments map_;
  ShowArguments show_;
  GenerateArguments generate_;
  ImportArguments import_;
  std::string shell_;
};

}  // namespace weft::cli
