#include "operator/cli/command_line.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace weft::cli {
namespace {

struct Said {
  int code = 0;
  std::string out, err;
};

Said Type(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"weft"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (std::string& word : all) argv.push_back(word.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Said said;
  said.code = CommandLine().Run(static_cast<int>(argv.size()), argv.data());
  said.out = ::testing::internal::GetCapturedStdout();
  said.err = ::testing::internal::GetCapturedStderr();
  return said;
}

TEST(CommandLine, WrongUsageNamesTheWord) {
  struct Case {
    std::vector<std::string> words;
    const char* want;
  };
  const Case cases[] = {
      {{"pln"}, "weft: unknown command \"pln\"; did you mean plan?\nSee \"weft --help\".\n"},
      {{"zzz"}, "weft: unknown command \"zzz\"\nSee \"weft --help\".\n"},
      {{"fabric", "shwo"},
       "weft: unknown command \"shwo\"; did you mean show?\nSee \"weft fabric --help\".\n"},
      {{"fabric"},
       "weft: no command given; the commands are show, generate, import\n"
       "See \"weft fabric --help\".\n"},
      {{"plan", "jobs.yaml"},
       "weft: unexpected argument \"jobs.yaml\"; name manifests with -f: -f jobs.yaml\n"
       "See \"weft plan --help\".\n"},
      {{"plan", "--outptu", "json"},
       "weft: unknown option \"--outptu\"; did you mean --output?\nSee \"weft plan --help\".\n"},
      {{"plan", "-o", "xml"},
       "weft: --output: \"xml\" is not one of table, json, yaml\nSee \"weft plan --help\".\n"},
      {{"plan", "-f"}, "weft: --filename needs a value\nSee \"weft plan --help\".\n"},
      {{"fabric", "generate", "--nodes", "many"},
       "weft: --nodes: \"many\" is not a whole number from 1 to 1,048,576\n"
       "See \"weft fabric generate --help\".\n"},
      {{"fabric", "generate", "--nodes", "0"},
       "weft: --nodes: \"0\" is not a whole number from 1 to 1,048,576\n"
       "See \"weft fabric generate --help\".\n"},
      {{"fabric", "generate", "--racks", "2", "--nodes", "9"},
       "weft: --nodes: is only for a design; with --racks the number of nodes is racks x nodes per "
       "rack\n"},
      {{"fabric", "generate", "--taper", "200"},
       "weft: --racks: is required to describe a network of racks, as --taper does\n"},
      {{"fabric", "generate", "--racks", "2", "--link", "spine=RoCE400"},
       "weft: --link: \"spine\" is not a level of this fabric, which has outside, leaf\n"},
      {{"fabric", "generate", "--racks", "2", "--rails", "65"},
       "weft: --rails: \"65\" is not a whole number from 1 to 64\n"
       "See \"weft fabric generate --help\".\n"},
  };
  for (const Case& c : cases) {
    const Said said = Type(c.words);
    EXPECT_EQ(said.code, kBadInput) << c.want;
    EXPECT_EQ(said.out, "") << c.want;
    EXPECT_EQ(said.err, c.want);
  }
}

TEST(CommandLine, HelpStaysInItsColumns) {
  std::vector<std::vector<std::string>> commands = {{}};
  for (const CommandWords& command : CommandLine().Words()) {
    std::istringstream path(command.path);
    std::vector<std::string> words;
    for (std::string word; path >> word;) words.push_back(word);
    commands.push_back(words);
  }
  ASSERT_GE(commands.size(), 14U);
  for (std::vector<std::string> words : commands) {
    words.emplace_back("--help");
    const Said said = Type(words);
    EXPECT_EQ(said.code, kDone);
    const std::string shown = said.out.substr(0, said.out.find("\nExamples:\n"));
    std::istringstream lines(shown);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 100U) << line;
      if (!line.starts_with("  ")) continue;
      const bool name_alone = line.find("  ", line.find_first_not_of(' ')) == line.npos;
      if (name_alone && line.find("--") < 29) continue;  // its text stands on the next line
      const std::size_t text = line.find_first_not_of(' ', std::min<std::size_t>(30, line.size()));
      EXPECT_TRUE(text == line.npos || line[29] == ' ') << line;
    }
    EXPECT_EQ(said.out.find("Excludes"), said.out.npos);
    EXPECT_NE(said.out.find("Examples:\n  "), said.out.npos);
  }
}

TEST(CommandLine, HelpGroupsTheCommands) {
  const std::string help = Type({"--help"}).out;
  std::size_t at = 0;
  for (const char* group : {"\nUsage: weft COMMAND [OPTIONS]\n", "\nPlace jobs:\n  plan ",
                            "\nLook at a cluster:\n  top ", "\nDescribe a fabric:\n  fabric ",
                            "\nOther:\n", "\nOptions:\n", "\nExamples:\n", "\nExit codes:\n"}) {
    const std::size_t found = help.find(group, at);
    ASSERT_NE(found, help.npos) << group << help;
    at = found;
  }
}

TEST(CommandLine, EveryCommandAndOptionIsOfferedToCompletion) {
  const std::vector<CommandWords> commands = CommandLine().Words();
  const auto words = [&](const std::string& path) {
    for (const CommandWords& one : commands) {
      if (one.path == path) return one;
    }
    return CommandWords{};
  };
  const auto has = [](const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  EXPECT_TRUE(has(words("").words, "plan"));
  EXPECT_TRUE(has(words("plan").words, "--compare"));
  EXPECT_TRUE(has(words("fabric generate").values["--design"], "gb200-nvl72"));
  EXPECT_TRUE(has(words("fabric generate").values["--link"], "RoCE400"));
  EXPECT_TRUE(has(words("completion").words, "fish"));
  EXPECT_EQ(words("plan").values.count("--watch"), 0U);
}

}  // namespace
}  // namespace weft::cli
