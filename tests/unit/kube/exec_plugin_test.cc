#include <gtest/gtest.h>

#include "operator/kube/credentials.h"
#include "operator/kube/exec_plugin.h"

namespace weft::kube {
namespace {

ExecPlugin Shell(const std::string& script) {
  return {"client.authentication.k8s.io/v1", "/bin/sh", {"-c", script}, {{"WORD", "tok en"}}, ""};
}

TEST(ExecPluginTest, GivesATokenAndWhenItExpires) {
  const auto answer = RunExecPlugin(Shell(
      R"(printf '{"status": {"token": "%s", "expirationTimestamp": "2030-01-01T00:00:00Z"}}' "$WORD")"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->identity.token, "tok en");
  EXPECT_EQ(answer->expires, "2030-01-01T00:00:00Z");
}

TEST(ExecPluginTest, IsToldWhatIsAskedOfIt) {
  const auto answer = RunExecPlugin(Shell(
      R"(case $KUBERNETES_EXEC_INFO in *'"interactive":false'*) echo '{"status": {"token": "t"}}';; esac)"));
  EXPECT_TRUE(answer);
}

struct Bad {
  const char* name;
  const char* script;
  const char* message;
};

class BadPluginTest : public testing::TestWithParam<Bad> {};

TEST_P(BadPluginTest, IsNamedWithWhatIsWrong) {
  const auto answer = RunExecPlugin(Shell(GetParam().script));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message,
            std::string("credential plug-in /bin/sh: ") + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadPluginTest,
    testing::Values(Bad{"Fails", "exit 3", "ended with exit code 3"},
                    Bad{"PrintsNothing", "true", "printed no ExecCredential with a status"},
                    Bad{"PrintsWords", "echo hello", "printed no ExecCredential with a status"},
                    Bad{"GivesNothing", "echo '{\"status\": {}}'",
                        "gave neither a token nor a certificate"}),
    [](const auto& tested) { return tested.param.name; });

TEST(ExecPluginTest, OneThatIsNotThereSaysHowToGetIt) {
  ExecPlugin plugin = Shell("");
  plugin.command = "/no/such/program";
  plugin.install_hint = "install it";
  const auto answer = RunExecPlugin(plugin);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message,
            "credential plug-in /no/such/program: cannot be started; install it");
}

TEST(CredentialsTest, APluginRunsAgainWhenTheServerRefusesItsToken) {
  Config config;
  config.exec = Shell(R"(echo "{\"status\": {\"token\": \"$$\"}}")");
  Credentials credentials(config);
  const auto first = credentials.Get();
  ASSERT_TRUE(first);
  EXPECT_EQ(credentials.Get()->token, first->token);
  credentials.Refused();
  EXPECT_NE(credentials.Get()->token, first->token);
}

}  // namespace
}  // namespace weft::kube
