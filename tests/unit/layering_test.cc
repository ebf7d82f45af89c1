// Holds the tree to its architecture: operator/CMakeLists.txt is the order of the modules, and
// tests/support/source_rules.h the rules. First the rules are shown to fail, then the tree to pass.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/cpp_scan.h"
#include "tests/support/hidden_names.h"
#include "tests/support/source_dir.h"
#include "tests/support/source_rules.h"

namespace weft::testing {
namespace {

namespace fs = std::filesystem;

const std::vector<Module>& Modules() {
  static const std::vector<Module> modules = ReadModules(
      "# comment\n"
      "weft_module(base)\n"
      "weft_module(fabric   USES base)\n"
      "weft_module(traffic  USES base)\n"
      "weft_module(manifest USES base fabric   LINKS yaml)\n"
      "weft_module(cli      USES base fabric traffic manifest)\n");
  return modules;
}

// The rules under test, all of them, as the tree meets them.
Violations CheckFile(const SourceFile& file) {
  Violations found = CheckIncludes(file, Modules());
  for (const auto& rule : {CheckPure(file), CheckSizes(file)}) {
    found.insert(found.end(), rule.begin(), rule.end());
  }
  return found;
}

struct Case {
  std::string name;
  SourceFile file;
  Violations want;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class SourceRules : public ::testing::TestWithParam<Case> {};

TEST_P(SourceRules, Find) { EXPECT_EQ(CheckFile(GetParam().file), GetParam().want); }

std::string Repeat(const std::string& line, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += line;
  return text;
}

std::string FunctionOf(int lines) { return "int F() {\n" + Repeat("  f();\n", lines - 2) + "}\n"; }

// clang-format off
INSTANTIATE_TEST_SUITE_P(Includes, SourceRules, ::testing::ValuesIn(std::vector<Case>{
  {"AModuleMayIncludeItselfAndWhatItUses",
   {"operator/fabric/a.cc", "#include \"operator/fabric/a.h\"\n#include \"operator/base/b.h\"\n"}, {}},
  {"AnIncludeAgainstTheOrderIsFound",
   {"operator/base/a.cc", "\n#include \"operator/fabric/b.h\"\n"},
   {"operator/base/a.cc:2: includes operator/fabric/b.h; base does not use fabric"}},
  {"AnEarlierModuleThatIsNotOnTheLineIsFound",
   {"operator/manifest/a.cc", "#include \"operator/traffic/b.h\"\n"},
   {"operator/manifest/a.cc:1: includes operator/traffic/b.h; manifest does not use traffic"}},
  {"AnIncludeWithoutTheRootIsFound",
   {"operator/fabric/a.cc", "# include \"a.h\"\n"},
   {"operator/fabric/a.cc:1: includes a.h; quoted includes start with operator/"}},
  {"AFolderThatIsNoModuleIsFound",
   {"operator/extra/a.cc", ""},
   {"operator/extra/a.cc:1: is in no module of operator/CMakeLists.txt"}},
  {"AMainMayIncludeAnyModule",
   {"operator/weft_main.cc", "#include \"operator/cli/main.h\"\n"}, {}},
  {"ATestMayIncludeWhatItNeeds",
   {"tests/unit/base/a_test.cc", "#include \"gtest/gtest.h\"\n#include <thread>\n"}, {}},
  {"AHeavyHeaderInAHeaderIsFound",
   {"operator/cli/a.h", "#pragma once\n#include <CLI/CLI.hpp>\n"},
   {"operator/cli/a.h:2: includes CLI/CLI.hpp, which is for .cc files: it compiles slowly"}},
}), [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(Purity, SourceRules, ::testing::ValuesIn(std::vector<Case>{
  {"AThreadInAPureModuleIsFound",
   {"operator/base/a.cc", "#include <thread>\n#include <map>\n"},
   {"operator/base/a.cc:1: a pure module includes thread"}},
  {"AFileInAPureModuleIsFound",
   {"operator/manifest/a.cc", "#include <fstream>\n"},
   {"operator/manifest/a.cc:1: a pure module includes fstream"}},
  {"AProtocolBufferInAPureModuleIsFound",
   {"operator/fabric/a.cc", "#include <weft/v1/plan.pb.h>\n"},
   {"operator/fabric/a.cc:1: a pure module includes weft/v1/plan.pb.h"}},
  {"ALibraryOfTheNetworkInAPureModuleIsFound",
   {"operator/fabric/a.cc", "#include <cpprest/http_client.h>\n"},
   {"operator/fabric/a.cc:1: a pure module includes cpprest/http_client.h"}},
  {"AClockInAPureModuleIsFound",
   {"operator/base/a.cc", "auto t = std::chrono::steady_clock::now();\n"},
   {"operator/base/a.cc:1: a pure module reads a clock"}},
  {"TheEnvironmentInAPureModuleIsFound",
   {"operator/base/a.cc", "const char* home = std::getenv(\"HOME\");\n"},
   {"operator/base/a.cc:1: a pure module uses getenv"}},
  {"ChanceInAPureModuleIsFound",
   {"operator/base/a.cc", "std::random_device chance;\n"},
   {"operator/base/a.cc:1: a pure module uses random_device"}},
  {"TheShellMayDoAllOfThat",
   {"operator/cli/a.cc", "#include <thread>\nauto t = Clock::now(); auto e = getenv(\"A\");\n"}, {}},
  {"CommentsAndLiteralsDoNotCount",
   {"operator/base/a.cc", "// getenv, ::now(\n/* random_device\n getenv */ const char* t = \"getenv\";\n"
                          "const char* r = R\"x(getenv \" ::now()x\"; char q = '\"'; int n = 1'000;\n"}, {}},
  {"CodeAfterALiteralCounts",
   {"operator/base/a.cc", "char q = '\"'; auto e = getenv(\"\\\"\"); // \"\n"},
   {"operator/base/a.cc:1: a pure module uses getenv"}},
  {"APartOfAWordDoesNotCount",
   {"operator/base/a.cc", "int operand = forgetenv_count;\n"}, {}},
}), [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(Sizes, SourceRules, ::testing::ValuesIn(std::vector<Case>{
  {"ASourceFileAtItsBudgetPasses",
   {"operator/base/a.cc", Repeat("int x;\n", 600)}, {}},
  {"ASourceFileOverItsBudgetIsFound",
   {"operator/base/a.cc", Repeat("int x;\n", 601)},
   {"operator/base/a.cc:601: the file's budget is 600 lines"}},
  {"AHeaderOverItsBudgetIsFound",
   {"operator/base/a.h", "#pragma once\n" + Repeat("int x;\n", 200)},
   {"operator/base/a.h:201: the file's budget is 200 lines"}},
  {"AHeaderWithoutAGuardIsFound",
   {"operator/base/a.h", "int x;\n"}, {"operator/base/a.h:1: a header without #pragma once"}},
  {"AFunctionAtItsBudgetPasses",
   {"operator/base/a.cc", FunctionOf(70)}, {}},
  {"AFunctionOverItsBudgetIsFound",
   {"operator/base/a.cc", "int x;\n" + FunctionOf(71)},
   {"operator/base/a.cc:2: a function of 71 lines; the budget is 70"}},
  {"AMethodOverItsBudgetIsFound",
   {"operator/base/a.cc", "namespace a {\nclass B final : public C {\n public:\n" + FunctionOf(71) + "};\n}\n"},
   {"operator/base/a.cc:4: a function of 71 lines; the budget is 70"}},
  {"AConstructorsBodyOverItsBudgetIsFound",
   {"operator/base/a.cc", "A::A(int a) : a_(a), b_{2}, c_{3} {\n" + Repeat("  f();\n", 70) + "}\n"},
   {"operator/base/a.cc:1: a function of 72 lines; the budget is 70"}},
  {"ATableMayBeLong",
   {"operator/base/a.cc", "constexpr A kTable[] = {\n" + Repeat("  {1, F(2)},\n", 100) + "};\n"}, {}},
  {"ATableOfTestCasesMayBeLong",
   {"tests/unit/base/a_test.cc", "SUITE(T, In(std::vector<Case>{\n" + Repeat("  {1},\n", 100) + "}));\n"}, {}},
  {"BracesInTextDoNotCount",
   {"operator/base/a.cc", "int F() {\n  f(\"{\", '{'); // {\n}\n" + Repeat("int x;\n", 80)}, {}},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(ModuleRules, ReadOneModuleALine) {
  std::vector<std::string> lines;
  for (const Module& module : Modules()) {
    lines.push_back(module.name + ":");
    for (const std::string& used : module.uses) lines.back() += " " + used;
  }
  EXPECT_EQ(lines, (std::vector<std::string>{"base:", "fabric: base", "traffic: base",
                                             "manifest: base fabric",
                                             "cli: base fabric traffic manifest"}));
}

TEST(ModuleRules, FindUsesAgainstTheOrder) {
  EXPECT_EQ(
      CheckModules({{"base", {"fabric"}}, {"fabric", {"fabric"}}}),
      (Violations{"operator/CMakeLists.txt: base uses fabric, which is not listed before it",
                  "operator/CMakeLists.txt: fabric uses fabric, which is not listed before it"}));
}

TEST(ModuleRules, FindAPureModuleThatUsesTheShell) {
  EXPECT_EQ(CheckModules({{"kube", {}}, {"plan", {"kube"}}}),
            (Violations{"operator/CMakeLists.txt: plan is pure and uses kube, which is not"}));
}

TEST(ModuleRules, FindAModuleThatNobodyClassified) {
  EXPECT_EQ(CheckModules({{"helpers", {}}}),
            (Violations{
                "operator/CMakeLists.txt: helpers is neither a pure module nor one of the shell"}));
}

TEST(NamespaceRules, FindANamespaceThatIsNotTheFolder) {
  const std::string nested = "namespace near {\nint x;\n}\nnamespace {\nint y;\n}\n";
  const std::vector<SourceFile> files = {
      {"operator/fabric/a.h", "namespace weft::fabric {\n" + nested + "}\n"},
      {"operator/base/a.h", "namespace weft {\n" + nested + "}\n"},
      {"operator/fabric/b.cc", "namespace fs = std::filesystem;\nnamespace weft::fabric {\n}\n"},
      {"operator/weft_main.cc", "namespace {\nint x;\n}\n"},
      {"operator/fabric/c.h", "// namespace weft {\nnamespace weft::rules {\nclass A;\n}\n"},
      {"operator/fabric/d.cc", "namespace weft::fabric {\n}\nnamespace {\nint x;\n}\n"},
      {"operator/base/b.h", "namespace weft::base {\n}\n"}};
  Violations found;
  for (const SourceFile& file : files) {
    const Violations more = CheckNamespace(file);
    found.insert(found.end(), more.begin(), more.end());
  }
  EXPECT_EQ(
      found,
      (Violations{
          "operator/fabric/c.h:2: declares names in weft::rules; its folder is weft::fabric",
          "operator/fabric/d.cc:3: declares names in no namespace; its folder is weft::fabric",
          "operator/base/b.h:1: declares names in weft::base; its folder is weft"}));
}

TEST(TopLevelRules, FindWhatIsMissingAndWhatDoesNotBelong) {
  EXPECT_EQ(CheckTopLevel({".git", "CMakeLists.txt", "LICENSE", "build-sanitize", "crds", "deploy",
                           "notes.txt", "operator", "presets", "proto", "tests"}),
            (Violations{"README.md: is not there", "notes.txt: does not belong at the top",
                        "presets: does not belong at the top"}));
}

TEST(CheckRules, FindAModuleWithFewChecks) {
  const std::string some = "WEFT_CHECK(a);\nWEFT_DCHECK(b);\n// WEFT_CHECK(c);\n";
  EXPECT_EQ(CheckChecks({{"operator/search/a.cc", some + Repeat("int x;\n", 397)},
                         {"operator/life/a.h", some + Repeat("int x;\n", 198)},
                         {"operator/life/b.cc", Repeat("int x;\n", 200)},
                         {"operator/cli/a.cc", Repeat("int x;\n", 400)}}),
            (Violations{"operator/life: 2 checks in 401 lines; the least is 5 in a thousand"}));
}

TEST(HiddenNames, FindTheNameOfAHeaderInAnUnnamedNamespaceOfItsModule) {
  const std::string unnamed =
      "namespace weft::life {\nnamespace {\nconstexpr const char* kVerified = \"V\";\n"
      "Stage StageOf(int);\n}  // namespace\nint Other() {}\n}\n";
  EXPECT_EQ(
      CheckHiddenNames({{"operator/life/a.cc", unnamed},
                        {"operator/life/b.h", "inline constexpr const char* kVerified = 0;\n"},
                        {"operator/life/c.h", "Stage StageOf(const Job& job);\nint Other();\n"},
                        {"operator/watch/d.cc", unnamed}}),
      (Violations{"operator/life/a.cc:3: kVerified hides that of operator/life/b.h",
                  "operator/life/a.cc:4: StageOf hides that of operator/life/c.h"}));
}

TEST(CircleRules, FindFilesThatIncludeEachOther) {
  const std::vector<SourceFile> files = {
      {"operator/a/x.h", "#include \"operator/a/y.h\"\n"},
      {"operator/a/y.cc", "#include \"operator/a/y.h\"\n#include \"operator/a/z.h\"\n"},
      {"operator/a/y.h", ""},
      {"operator/a/z.h", "#include <map>\n#include \"operator/a/x.h\"\n"},
      {"operator/b/user.cc", "#include \"operator/a/x.h\"\n"},
      {"operator/b/one.h", "#include \"operator/b/two.h\"\n"},
      {"operator/b/two.cc", "#include \"operator/b/one.h\"\n"}};
  const std::string three = "operator/a/x, operator/a/y, operator/a/z";
  const std::string two = "operator/b/one, operator/b/two";
  const std::string what = ": include each other in a circle";
  EXPECT_EQ(CheckCircles(files, {}), (Violations{three + what, two + what}));
  EXPECT_EQ(CheckCircles(files, {{two, "a reason"}}), Violations{three + what});
  EXPECT_EQ(CheckCircles(files, {{two, ""}, {three, "a reason"}}),
            Violations{two + ": is an exception without a reason"});
}

TEST(CircleRules, FindExceptionsThatNothingNeedsAndTooManyOfThem) {
  const std::vector<SourceFile> files = {{"operator/a/x.h", "#include \"operator/a/y.h\"\n"},
                                         {"operator/a/y.h", ""}};
  EXPECT_EQ(CheckCircles(files, {}), Violations{});
  EXPECT_EQ(CheckCircles(files, {{"operator/a/x, operator/a/y", "a reason"}}),
            Violations{"operator/a/x, operator/a/y: is an exception that nothing needs"});
  EXPECT_EQ(CheckCircles(files, {{"a", "b"}, {"c", "d"}, {"e", "f"}}).back(),
            "3 circles are listed; the most is 2");
}

TEST(OwnHeaderRules, FindASourceWithoutItsHeader) {
  const std::vector<SourceFile> files = {
      {"operator/a/x.cc", ""},          {"operator/a/x.h", ""},        {"operator/a/y.cc", ""},
      {"operator/a/read_1.cc", ""},     {"operator/a/read_22.cc", ""}, {"operator/b/read_3.cc", ""},
      {"operator/a/header_only.h", ""}, {"operator/weft_main.cc", ""}};
  const std::string what = ": has no header of its own name";
  EXPECT_EQ(CheckOwnHeaders(files, {{"operator/a/read_*.cc", "a reason"}}),
            (Violations{"operator/a/y.cc" + what, "operator/b/read_3.cc" + what}));
  EXPECT_EQ(CheckOwnHeaders(files, {{"operator/*.cc", "a reason"}, {"operator/a/y.cc", ""}}),
            (Violations{"operator/a/read_1.cc" + what, "operator/a/read_22.cc" + what,
                        "operator/b/read_3.cc" + what,
                        "operator/*.cc: is an exception that nothing needs",
                        "operator/a/y.cc: is an exception without a reason"}));
}

TEST(EnumeratorRules, FindAFileThatTellsValuesApart) {
  const std::vector<SourceFile> files = {
      {"operator/a/x.cc", "// Colour::kRed\nbool f(Colour c) { return c == Colour::kRed; }\n"},
      {"operator/a/y.cc", "// Colour::kRed\nColour c; const char* t = \"Colour::kRed\";\n"},
      {"operator/a/z.cc", "Colour c = Colour::kBlue;\n"}};
  EXPECT_EQ(CheckEnumerators(files, "Colour", {{"operator/a/z.cc", "the default"}}),
            Violations{"operator/a/x.cc: names values of Colour"});
}

// The tree itself.

const fs::path kRoot = weft::testing::SourceDir();

SourceFile ReadSourceFile(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return {path.lexically_relative(kRoot).generic_string(), text.str()};
}

std::vector<SourceFile> SourcesUnder(const std::string& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
    const fs::path extension = entry.path().extension();
    if (extension == ".h" || extension == ".cc") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<SourceFile> files;
  for (const fs::path& path : paths) files.push_back(ReadSourceFile(path));
  return files;
}

TEST(Tree, KeepsTheOrderOfItsModules) {
  const auto modules = ReadModules(ReadSourceFile(kRoot / "operator/CMakeLists.txt").text);
  ASSERT_FALSE(modules.empty());
  EXPECT_EQ(CheckModules(modules), Violations{});
  Violations found;
  for (const SourceFile& file : SourcesUnder("operator")) {
    const Violations more = CheckIncludes(file, modules);
    found.insert(found.end(), more.begin(), more.end());
  }
  EXPECT_EQ(found, Violations{});
}

TEST(Tree, IncludesNoFilesInACircle) {
  EXPECT_EQ(CheckCircles(SourcesUnder("operator"), {}), Violations{});
}

TEST(Tree, GivesEverySourceItsOwnHeader) {
  const std::vector<Exception> known = {
      {"operator/api/decode_*.cc", "api/decode.h lists what is read of every kind"},
      {"operator/api/encode_*.cc", "api/encode.h lists what is written of every kind"},
      {"operator/cli/*_command.cc", "cli/commands.h lists what CommandLine runs"},
      {"operator/cli/*_commands.cc", "cli/commands.h lists what CommandLine runs"},
      {"operator/cli/*_command_line.cc", "members of CommandLine by commands (cli/command_line.h)"},
      {"operator/controllers/job_queue.cc", "the members of JobController that write to Kueue"},
      {"operator/controllers/job_trial.cc", "the members of JobController that try a pod"},
      {"operator/controllers/planner_requests.cc", "the members of Planner that keep requests"},
      {"operator/report/*_json.cc", "the JSON of a report stands beside it in the report's header"},
      {"operator/watch/store_reads.cc", "the members of Store that only read"},
  };
  EXPECT_EQ(CheckOwnHeaders(SourcesUnder("operator"), known), Violations{});
}

// A framework is its row in api/framework.h and its file in framework/.
TEST(Tree, TellsNoFrameworksApart) {
  const std::vector<Exception> known = {
      {"operator/api/framework.h", "Custom, the default"},
      {"operator/api/decode_framework.cc", "Custom, if the type that is read is none"},
  };
  EXPECT_EQ(CheckEnumerators(SourcesUnder("operator"), "FrameworkType", known), Violations{});
}

TEST(Tree, DeclaresNamesInTheNamespaceOfTheFolder) {
  Violations found;
  for (const SourceFile& file : SourcesUnder("operator")) {
    const Violations more = CheckNamespace(file);
    found.insert(found.end(), more.begin(), more.end());
  }
  EXPECT_EQ(found, Violations{});
}

TEST(Tree, HidesNoNameOfAHeader) {
  EXPECT_EQ(CheckHiddenNames(SourcesUnder("operator")), Violations{});
}

TEST(Tree, KeepsThreadsFilesAndClocksOutOfPureModules) {
  Violations found;
  for (const SourceFile& file : SourcesUnder("operator")) {
    const Violations more = CheckPure(file);
    found.insert(found.end(), more.begin(), more.end());
  }
  EXPECT_EQ(found, Violations{});
}

TEST(Tree, HasOneDoorToTimeAndThreads) {
  const std::vector<Exception> known = {
      {"operator/kube/http_transport.cc", "its threads are cpprestsdk's, and its silence is real"},
      {"operator/kube/credentials.cc", "tokens expire by the machine's clock"},
      {"operator/kube/exec_plugin.cc", "waits for another process"},
      {"operator/http/slow_lane.h", "a thread of low priority beside cpprestsdk's and gRPC's"},
      {"operator/service/rpc_server.cc", "its threads are gRPC's, and deadlines are the machine's"},
      {"operator/parent/event_loop.cc", "the clock of weft-run, which tests replace"},
      {"operator/parent/checkpoint_file.cc", "a file system that hangs must not stop heartbeats"},
      {"operator/manager/crash_report.cc", "runs in a process of its own, after a crash"},
      {"operator/cli/live_view.cc", "a person waits for the first copy of the cluster"},
      {"operator/cli/session.cc", "a person watches the cluster"},
      {"operator/cli/simulate_command.cc", "plays one simulation on each core"},
      {"operator/cli/top_command.cc", "shows a person what is now"},
      {"operator/cli/report_command.cc", "a period that ends now"},
  };
  EXPECT_EQ(CheckDoor(SourcesUnder("operator"), known), Violations{});
}

TEST(SourceRules, OwnClocksAndThreadsAreFound) {
  const auto found = [](const std::string& path, const std::string& text) {
    return !CheckDoor({{path, text}}, {}).empty();
  };
  EXPECT_TRUE(found("operator/kube/a.cc", "#include <thread>\n"));
  for (const char* code : {"auto t = Clock::now();", "std::time(&t);", "time(nullptr);",
                           "clock_gettime(CLOCK_REALTIME, &t);", "gettimeofday(&t, nullptr);",
                           "timerfd_create(0, 0);", "usleep(1);", "std::thread t;"}) {
    EXPECT_TRUE(found("operator/http/a.cc", code)) << code;
    EXPECT_FALSE(found("operator/run/executor.cc", code)) << code;
  }
  EXPECT_FALSE(found("operator/cli/a.cc", "// Clock::now()\nconst char* text = \"sleep 1\";\n"));
  const SourceFile file{"operator/kube/a.cc", "sleep(1);"};
  EXPECT_EQ(CheckDoor({file}, {{file.path, "for a reason"}}), Violations{});
  EXPECT_EQ(CheckDoor({{file.path, ""}}, {{file.path, "for a reason"}}).size(), 1U);
}

TEST(Tree, KeepsFilesAndFunctionsWithinTheirBudgets) {
  Violations found;
  std::size_t functions = 0;
  for (const char* folder : {"operator", "tests"}) {
    for (const SourceFile& file : SourcesUnder(folder)) {
      const Violations more = CheckSizes(file);
      found.insert(found.end(), more.begin(), more.end());
      functions += FunctionsOf(file.text).size();
    }
  }
  EXPECT_EQ(found, Violations{});
  EXPECT_GT(functions, 500u) << "the scanner sees too few functions to judge them";
}

TEST(Tree, ChecksInvariantsWhereItDecides) {
  EXPECT_EQ(CheckChecks(SourcesUnder("operator")), Violations{});
}

TEST(Tree, HoldsAtTheTopWhatBelongsThere) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kRoot)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(CheckTopLevel(names), Violations{});
}

}  // namespace
}  // namespace weft::testing
