#include "operator/cli/completion.h"

#include <gtest/gtest.h>

namespace weft::cli {
namespace {

const std::vector<CommandWords> kCommands = {
    {"", {"plan", "fabric", "--help", "--version"}, {}},
    {"plan",
     {"--filename", "--output", "--compare"},
     {{"--filename", {}}, {"-f", {}}, {"--output", {"table", "json"}}, {"-o", {"table", "json"}}}},
    {"fabric", {"show", "generate", "--help"}, {}},
    {"fabric generate", {"--design"}, {{"--design", {"dgx", "gb200"}}}},
};

TEST(Candidates, AreWhatMayStandThere) {
  struct Case {
    const char* name;
    std::vector<std::string> typed;
    const char* want;
  };
  const Case cases[] = {
      {"nothing typed", {}, "plan\nfabric\n:0\n"},
      {"an empty word", {""}, "plan\nfabric\n:0\n"},
      {"the start of a command", {"pl"}, "plan\n:0\n"},
      {"the start of an option", {"--v"}, "--version\n:0\n"},
      {"a command's options", {"plan", "--c"}, "--compare\n:0\n"},
      {"a command without words offers files", {"plan", ""}, ":0\n"},
      {"a command of a command", {"fabric", "g"}, "generate\n:0\n"},
      {"options of the inner command", {"fabric", "generate", "--"}, "--design\n:0\n"},
      {"the value of an option", {"plan", "--output", ""}, "table\njson\n:0\n"},
      {"the start of a value", {"plan", "-o", "j"}, "json\n:0\n"},
      {"a value after an equals sign", {"plan", "--output=j"}, "--output=json\n:0\n"},
      {"the same as bash cuts it", {"plan", "--output", "=", "j"}, "json\n:0\n"},
      {"... and before the value begins", {"plan", "--output", "="}, "table\njson\n:0\n"},
      {"a file after -f", {"plan", "-f", ""}, ":0\n"},
      {"a value that is named like a command", {"plan", "-f", "fabric", "--c"}, "--compare\n:0\n"},
      {"after a value the options again", {"plan", "-o", "json", "--c"}, "--compare\n:0\n"},
      {"an unknown word", {"no-such", "x"}, ":0\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(Candidates(c.typed, kCommands), c.want) << c.name;
}

TEST(CompletionScript, AsksTheProgramAndKnowsNoWords) {
  for (const char* shell : {"bash", "zsh", "fish", "kubectl"}) {
    const std::string script = CompletionScript(shell);
    EXPECT_NE(script.find("__complete"), script.npos) << shell;
    EXPECT_EQ(script.find("--output"), script.npos) << shell;
    EXPECT_LE(std::count(script.begin(), script.end(), '\n'), 12) << shell;
  }
  EXPECT_EQ(CompletionScript("tcsh"), "");
}

}  // namespace
}  // namespace weft::cli
