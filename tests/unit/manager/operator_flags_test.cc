#include "operator/manager/operator_flags.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace weft::manager {
namespace {

TEST(OperatorFlags, AreTheDefaultsWithoutWords) {
  const ParsedFlags parsed = ParseOperatorFlags({});
  ASSERT_TRUE(parsed.flags) << parsed.text;
  EXPECT_EQ(ShowFlags(*parsed.flags), ShowFlags(OperatorFlags()));
}

TEST(OperatorFlags, TakeEveryForm) {
  struct Case {
    std::vector<std::string> words;
    const char* want;  // in ShowFlags
  };
  const Case cases[] = {
      {{"--workers=3"}, "--workers=3"},
      {{"--workers", "3", "--workers", "4"}, "--workers=4"},
      {{"--leader-elect=false"}, "--leader-elect=false"},
      {{"--read-only"}, "--read-only=true"},
      {{"--probe-address="}, "--probe-address=\"\""},
      {{"--metrics-security", "tls"}, "--metrics-security=tls"},
      {{"--requests-per-second=2.5"}, "--requests-per-second=2.5"},
      {{"--accelerator-resources=example.com/npu,example.com/x"},
       "--accelerator-resources=\"example.com/npu,example.com/x\""},
      {{"--prometheus", "https://p", "--prometheus-token-file=t",
        "--prometheus-certificate-authority=c"},
       "--prometheus=\"https://p\" --prometheus-token-file=\"t\" "
       "--prometheus-certificate-authority=\"c\""},
  };
  for (const Case& c : cases) {
    const ParsedFlags parsed = ParseOperatorFlags(c.words);
    ASSERT_TRUE(parsed.flags) << c.want << ": " << parsed.text;
    EXPECT_NE(ShowFlags(*parsed.flags).find(c.want), std::string::npos) << c.want;
  }
}

TEST(OperatorFlags, RefuseWithTheWord) {
  struct Case {
    std::vector<std::string> words;
    const char* want;
  };
  const Case cases[] = {
      {{"--workerz=3"}, "unknown option \"--workerz=3\"; did you mean --workers?"},
      {{"--log-level", "loud"}, "--log-level: \"loud\" is not one of debug, info, warning, error"},
      {{"--accelerator-resources", "example.com/npu,cpu"},
       "--accelerator-resources: \"cpu\" is not an extended resource such as example.com/gpu"},
      {{"here"}, "unexpected argument \"here\""},
  };
  for (const Case& c : cases) {
    const ParsedFlags parsed = ParseOperatorFlags(c.words);
    EXPECT_FALSE(parsed.flags) << c.want;
    EXPECT_EQ(parsed.exit_code, 2) << c.want;
    EXPECT_EQ(parsed.text,
              std::string("weft-operator: ") + c.want + "\nSee \"weft-operator --help\".\n");
  }
  for (const char* wrong : {"--workers=0", "--workers=many", "--node-loss=-1"}) {
    EXPECT_EQ(ParseOperatorFlags({wrong}).exit_code, 2) << wrong;
  }
}

TEST(OperatorFlags, HelpAndVersionAreNoErrors) {
  for (const char* word : {"--help", "--version"}) {
    const ParsedFlags parsed = ParseOperatorFlags({word});
    EXPECT_FALSE(parsed.flags) << word;
    EXPECT_EQ(parsed.exit_code, 0) << word;
    EXPECT_NE(parsed.text, "") << word;
  }
}

class OperatorConfig : public ::testing::Test {
 protected:
  ~OperatorConfig() override { std::filesystem::remove(path_); }
  ParsedFlags Parse(const std::string& text, std::vector<std::string> words = {}) {
    std::ofstream(path_) << text;
    words.push_back("--config=" + path_);
    return ParseOperatorFlags(words);
  }
  const std::string path_ =
      ::testing::TempDir() + "weft-operator-config-" + std::to_string(getpid()) + ".yaml";
  const std::string head_ = "apiVersion: config.weft.dev/v1alpha1\nkind: OperatorConfiguration\n";
};

TEST_F(OperatorConfig, GivesSettingsThatFlagsOverrule) {
  const ParsedFlags parsed =
      Parse(head_ + "workers: 5\nleader-elect: false\nidentity: me\n", {"--workers=6"});
  ASSERT_TRUE(parsed.flags) << parsed.text;
  EXPECT_EQ(parsed.flags->workers, 6U);
  EXPECT_FALSE(parsed.flags->leader_elect);
  EXPECT_EQ(parsed.flags->identity, "me");
}

TEST_F(OperatorConfig, IsRefusedWithItsName) {
  const std::string texts[] = {
      "kind: Other\n",           head_ + "workers: [1]\n", head_ + "no-such: 1\n",
      head_ + "config: again\n", head_ + "workers: 0\n",   "a: [\n",
  };
  for (const std::string& text : texts) {
    const ParsedFlags parsed = Parse(text);
    EXPECT_FALSE(parsed.flags) << text;
    EXPECT_EQ(parsed.exit_code, 2) << text;
    EXPECT_TRUE(parsed.text.starts_with(path_ + ":")) << text << parsed.text;
  }
}

}  // namespace
}  // namespace weft::manager
