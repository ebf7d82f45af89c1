#include <gtest/gtest.h>

#include "operator/kube/base64.h"
#include "operator/kube/config.h"
#include "operator/kube/kubeconfig.h"

namespace weft::kube {
namespace {

constexpr const char* kFile = R"(apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: a
  cluster: {server: "https://10.0.0.1:6443", certificate-authority-data: Q0E=, proxy-url: "http://proxy:3128"}
- name: b
  cluster: {server: "https://b:6443", certificate-authority: ca.pem}
- name: sni
  cluster: {server: "https://b:6443", tls-server-name: other}
- name: bare
  cluster: {server: "b:6443"}
contexts:
- {name: dev, context: {cluster: a, user: files, namespace: team-a}}
- {name: token, context: {cluster: b, user: token}}
- {name: plugin, context: {cluster: b, user: plugin}}
- {name: nobody, context: {cluster: b}}
- {name: lost, context: {cluster: gone, user: token}}
- {name: stranger, context: {cluster: a, user: gone}}
- {name: old, context: {cluster: a, user: provider}}
- {name: basic, context: {cluster: a, user: basic}}
- {name: half, context: {cluster: a, user: half}}
- {name: sni, context: {cluster: sni, user: token}}
- {name: bare, context: {cluster: bare, user: token}}
- {name: torn, context: {cluster: a, user: torn}}
- {name: alpha, context: {cluster: a, user: alpha}}
users:
- {name: files, user: {client-certificate: me.crt, client-key: /keys/me.key, as: ann, as-groups: [x]}}
- {name: token, user: {token: secret}}
- name: plugin
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/login, args: [get], env: [{name: A, value: b}], installHint: get it}
- {name: provider, user: {auth-provider: {name: gcp}}}
- {name: basic, user: {username: u, password: p}}
- {name: half, user: {client-certificate-data: Q0E=}}
- {name: torn, user: {client-certificate-data: "Q?", client-key-data: Q0E=}}
- {name: alpha, user: {exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}}
)";

Result<Config> Parse(const std::string& context) {
  return ParseKubeconfig({{"config", "/home/me/.kube", kFile}}, context);
}

TEST(KubeconfigTest, TheCurrentContextIsTheDefaultAndPathsAreBesideTheFile) {
  Config expected;
  expected.server = "https://10.0.0.1:6443";
  expected.proxy = "http://proxy:3128";
  expected.authority.data = "CA";
  expected.space = "team-a";
  expected.certificate.file = "/home/me/.kube/me.crt";
  expected.key.file = "/keys/me.key";
  expected.impersonate = "ann";
  expected.impersonate_groups = {"x"};
  const auto config = Parse("");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(*config, expected);
}

TEST(KubeconfigTest, APluginIsTakenWithArgumentsAndEnvironment) {
  const auto config = Parse("plugin");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->exec, (ExecPlugin{"client.authentication.k8s.io/v1",
                                      "/home/me/.kube/bin/login",
                                      {"get"},
                                      {{"A", "b"}},
                                      "get it"}));
}

TEST(KubeconfigTest, TheFirstOfSeveralFilesSettlesAName) {
  const char* first = "current-context: token\nusers: [{name: token, user: {token: mine}}]\n";
  const auto config = ParseKubeconfig({{"first", "/f", first}, {"second", "/s", kFile}}, "");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_EQ(config->token.data, "mine");
  EXPECT_EQ(config->authority.file, "/s/ca.pem");
}

TEST(KubeconfigTest, AContextWithoutAUserIsAnonymous) {
  const auto config = Parse("nobody");
  ASSERT_TRUE(config) << config.error().message;
  EXPECT_TRUE(config->token.empty());
}

struct Bad {
  const char* name;
  const char* context;
  const char* message;
};

class BadKubeconfigTest : public testing::TestWithParam<Bad> {};

TEST_P(BadKubeconfigTest, NamesTheFileAndTheField) {
  const auto config = Parse(GetParam().context);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().kind, ErrorKind::kInvalid);
  EXPECT_EQ(config.error().message.substr(0, std::string(GetParam().message).size()),
            GetParam().message);
  EXPECT_EQ(config.error().message.find("secret"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadKubeconfigTest,
    testing::Values(
        Bad{"NoSuchContext", "no", "config: there is no context \"no\""},
        Bad{"NoSuchCluster", "lost", "config: context \"lost\": there is no cluster \"gone\""},
        Bad{"NoSuchUser", "stranger", "config: context \"stranger\": there is no user \"gone\""},
        Bad{"AuthProvider", "old", "config: user.auth-provider: is no longer"},
        Bad{"BasicAuthentication", "basic", "config: user.username: is no longer"},
        Bad{"ACertificateWithoutItsKey", "half", "config: user: a client certificate and its key"},
        Bad{"AnotherServerName", "sni", "config: cluster.tls-server-name: is not supported"},
        Bad{"NoAddress", "bare", "config: cluster.server: must be an http or https address"},
        Bad{"BrokenBase64", "torn", "config: client-certificate-data: is not base64"},
        Bad{"OldPlugin", "alpha", "config: user.exec.apiVersion: must be"}),
    [](const auto& tested) { return tested.param.name; });

TEST(Base64Test, PaddingSaysHowManyBytesTheLastGroupHas) {
  EXPECT_EQ(DecodeBase64(""), "");
  EXPECT_EQ(DecodeBase64("YQ=="), "a");
  EXPECT_EQ(DecodeBase64("YWI="), "ab");
  EXPECT_EQ(DecodeBase64("YW\nJj"), "abc");
  EXPECT_EQ(DecodeBase64("YWJ"), std::nullopt);
  EXPECT_EQ(DecodeBase64("Y*Jj"), std::nullopt);
}

}  // namespace
}  // namespace weft::kube
