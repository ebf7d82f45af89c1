#include "tests/world/api_server.h"

#include "gtest/gtest.h"
#include "operator/api/json_text.h"
#include "operator/kube/requests.h"
#include "tests/world/collector.h"
#include "tests/world/definitions.h"

namespace weft::world {
namespace {

using kube::Request;

constexpr const char* kUser = "somebody";

class ApiServerTest : public ::testing::Test {
 protected:
  static ApiServer::Options OptionsOf() {
    ApiServer::Options options;
    options.definitions = WeftDefinitions();
    options.now_seconds = [] { return std::int64_t{1'800'000'000}; };
    options.kept_changes = 50;
    return options;
  }

  Json Send(const Request& request, int status) {
    const kube::Response response = server.Handle(request, kUser);
    EXPECT_EQ(response.status, status) << response.body;
    return api::ParseJson(response.body);
  }
  Json Create(const kube::Resource& resource, const Json& object, int status = 201) {
    return Send(kube::CreateRequest(resource, object, {}), status);
  }
  Json Merge(const kube::Resource& resource, const std::string& name, const Json& patch,
             std::string_view subresource = "", int status = 200) {
    return Send(kube::PatchRequest(resource, {"default", name}, {kube::PatchType::kMerge, patch},
                                   {.subresource = subresource}),
                status);
  }
  Json Delete(const kube::Resource& resource, const std::string& name, int status = 200,
              const kube::Deletion& how = {}) {
    return Send(kube::DeleteRequest(resource, {"default", name}, how), status);
  }

  static Json PodOf(const std::string& name) {
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata", {{"name", name}, {"namespace", "default"}}},
            {"spec",
             {{"schedulingGates", {{{"name", "weft.dev/placement"}}}},
              {"containers", {{{"name", "main"}, {"image", "train:1"}}}}}}};
  }
  static Json ConfigMapOf(const std::string& name) {
    return {{"apiVersion", "v1"},
            {"kind", "ConfigMap"},
            {"metadata", {{"name", name}, {"namespace", "default"}}},
            {"data", {{"a", "1"}}}};
  }

  ApiServer server{OptionsOf()};
};

TEST_F(ApiServerTest, ABoundPodEndsWhenTheKubeletDeletesIt) {
  Create(kube::kPods, PodOf("a"));
  const Json ungated = Json::parse(R"({"spec":{"schedulingGates":null}})");
  Merge(kube::kPods, "a", ungated);
  Request bind;
  bind.method = kube::Method::kPost;
  bind.path = kube::PathOf(kube::kPods, {"default", "a"}, "binding");
  bind.body = R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"a"},)"
              R"("target":{"kind":"Node","name":"n"}})";
  Send(bind, 201);
  const Json deleted = Delete(kube::kPods, "a");
  EXPECT_EQ(deleted["metadata"]["deletionGracePeriodSeconds"], 30);
  EXPECT_EQ(server.All("pods").size(), 1U);
  Delete(kube::kPods, "a", 200, {.grace_seconds = 0});
  EXPECT_TRUE(server.All("pods").empty());
}

TEST_F(ApiServerTest, AWatchGetsChangesUpToAVersionAndAnErrorWhenTheyAreGone) {
  Request watch;
  watch.path = "/api/v1/configmaps";
  watch.query = {{"watch", "true"}, {"resourceVersion", std::to_string(server.version())}};
  const auto opened = server.Open(watch, kUser);
  ASSERT_TRUE(opened.stream);
  Create(kube::kConfigMaps, ConfigMapOf("a"));
  const std::uint64_t first = server.version();
  Create(kube::kConfigMaps, ConfigMapOf("b"));
  const std::string frames = opened.stream->Take(first);
  EXPECT_NE(frames.find(R"("name":"a")"), std::string::npos);
  EXPECT_EQ(frames.find(R"("name":"b")"), std::string::npos);
  for (int i = 0; i < 60; ++i)
    Merge(kube::kConfigMaps, "a", {{"data", {{"a", std::to_string(i)}}}});
  EXPECT_NE(opened.stream->Take(server.version()).find(R"("code":410)"), std::string::npos);
  EXPECT_TRUE(opened.stream->ended());
}

TEST_F(ApiServerTest, ARestoreTakesObjectsBackAndEndsWatches) {
  Create(kube::kConfigMaps, ConfigMapOf("a"));
  const std::uint64_t saved = server.Checkpoint();
  Merge(kube::kConfigMaps, "a", {{"data", {{"a", "2"}}}});
  server.Restore(saved);
  EXPECT_EQ(server.Find("configmaps", {"default", "a"})->at("data").at("a"), "1");
  Request watch;
  watch.path = "/api/v1/configmaps";
  watch.query = {{"watch", "true"}, {"resourceVersion", std::to_string(saved)}};
  EXPECT_NE(server.Open(watch, kUser).stream->Take(server.version()).find(R"("code":410)"),
            std::string::npos);
}

TEST_F(ApiServerTest, RightsRefuseWhatNoRuleNames) {
  server.SetRights(kUser, {Json::parse(R"({"apiGroups":[""],"resources":["configmaps"],
                                           "verbs":["create"],"namespaces":["default"]})")});
  Create(kube::kConfigMaps, ConfigMapOf("a"));
  Delete(kube::kConfigMaps, "a", 403);
  Create(kube::kPods, PodOf("a"), 403);
}

TEST_F(ApiServerTest, AQuotaRefusesWhatIsOverItAndMayConflict) {
  Create(kube::kResourceQuotas, {{"metadata", {{"name", "q"}, {"namespace", "default"}}},
                                 {"spec", {{"hard", {{"pods", "2"}}}}}});
  QuotaController quota(server);
  while (quota.Step()) {
  }
  server.SetQuotaConflicts(1);
  EXPECT_EQ(Create(kube::kPods, PodOf("a"), 409)["reason"], "Conflict");
  Create(kube::kPods, PodOf("a"));
  Create(kube::kPods, PodOf("b"));
  const Json refused = Create(kube::kPods, PodOf("c"), 403);
  EXPECT_NE(refused["message"].get<std::string>().find("exceeded quota: q"), std::string::npos);
  Delete(kube::kPods, "a");
  while (quota.Step()) {
  }
  Create(kube::kPods, PodOf("c"));
}

TEST_F(ApiServerTest, ADeletedQuotaIsAnsweredWithTheVersionOfItsDeletion) {
  Create(kube::kResourceQuotas, {{"metadata", {{"name", "q"}, {"namespace", "default"}}}});
  const Json deleted = Delete(kube::kResourceQuotas, "q");
  EXPECT_EQ(deleted["metadata"]["resourceVersion"], std::to_string(server.version()));
}

TEST_F(ApiServerTest, ADeletionThatTakesTheLastFinalizerRefusesAnyVersion) {
  Create(kube::kConfigMaps, ConfigMapOf("a"));
  Delete(kube::kConfigMaps, "a", 200, {.propagation = "Foreground"});
  const std::string version = std::to_string(server.version());
  const Json refused =
      Delete(kube::kConfigMaps, "a", 409, {.only = {"", version}, .propagation = "Background"});
  EXPECT_EQ(refused["reason"], "Conflict");
  Delete(kube::kConfigMaps, "a", 200, {.propagation = "Background"});
  EXPECT_TRUE(server.All("configmaps").empty());
}

TEST_F(ApiServerTest, AnUpdateInANamespaceThatIsGoneIsRefused) {
  Create(kube::kNamespaces, {{"metadata", {{"name", "team"}}}});
  Json map = ConfigMapOf("a");
  map["metadata"]["namespace"] = "team";
  Create(kube::kConfigMaps, map);
  Send(kube::DeleteRequest(kube::kNamespaces, {"", "team"}, {}), 200);
  const Json empty = {{"metadata", {{"name", "team"}}}, {"spec", Json::object()}};
  Send(kube::ReplaceRequest(kube::kNamespaces, empty, {.subresource = "finalize"}), 200);
  const Json refused =
      Send(kube::PatchRequest(kube::kConfigMaps, {"team", "a"},
                              {kube::PatchType::kMerge, {{"data", {{"a", "2"}}}}}, {}),
           404);
  EXPECT_EQ(refused["details"]["kind"], "namespaces");
  Send(kube::DeleteRequest(kube::kConfigMaps, {"team", "a"}, {}), 200);
}

TEST_F(ApiServerTest, APageWithASelectorEndsWhereNoObjectFollows) {
  for (const char* name : {"a", "b"}) Create(kube::kConfigMaps, ConfigMapOf(name));
  Merge(kube::kConfigMaps, "a", {{"metadata", {{"labels", {{"app", "x"}}}}}});
  Request list = kube::GetRequest(kube::kConfigMaps, {"default", ""});
  list.query = {{"labelSelector", "app=x"}, {"limit", "1"}};
  EXPECT_TRUE(Send(list, 200)["metadata"].contains("continue"));
  Delete(kube::kConfigMaps, "b");
  EXPECT_FALSE(Send(list, 200)["metadata"].contains("continue"));
}

class ApplyTest : public ApiServerTest {
 protected:
  Json Apply(const std::string& manager, const Json& data, int status = 200, bool force = false) {
    return Send(kube::PatchRequest(kube::kConfigMaps, {"default", "a"},
                                   {kube::PatchType::kApply,
                                    {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"data", data}}},
                                   {.field_manager = manager, .force = force}),
                status);
  }
};

TEST_F(ApplyTest, RemovesWhatItsManagerNoLongerSets) {
  Apply("one", {{"a", "1"}, {"b", "1"}}, 201);
  EXPECT_EQ(Apply("one", {{"a", "1"}})["data"], Json({{"a", "1"}}));
}

TEST_F(ApplyTest, KeepsWhatAnotherManagerSetsToo) {
  Apply("one", {{"a", "1"}, {"b", "1"}}, 201);
  Apply("two", {{"b", "1"}});
  EXPECT_EQ(Apply("one", {{"a", "1"}})["data"], Json({{"a", "1"}, {"b", "1"}}));
  EXPECT_EQ(Apply("two", {{"c", "1"}})["data"], Json({{"a", "1"}, {"c", "1"}}));
}

TEST_F(ApplyTest, ConflictsWithAnotherOwnerUnlessForced) {
  Apply("one", {{"a", "1"}}, 201);
  Merge(kube::kConfigMaps, "a", {{"data", {{"a", "2"}}}});
  const Json refused = Apply("one", {{"a", "1"}}, 409);
  EXPECT_EQ(refused["details"]["causes"][0]["field"], ".data.a");
  EXPECT_EQ(Apply("one", {{"a", "1"}}, 200, true)["data"]["a"], "1");
  EXPECT_EQ(Apply("one", {{"a", "3"}})["data"]["a"], "3");
}

TEST_F(ApplyTest, IsAChangeIfOnlyOwnersChange) {
  Apply("one", {{"a", "1"}}, 201);
  const std::uint64_t before = server.version();
  Apply("one", {{"a", "1"}});
  EXPECT_EQ(server.version(), before);
  Apply("two", {{"a", "1"}});
  EXPECT_EQ(server.version(), before + 1);
}

class CollectorTest : public ApiServerTest {
 protected:
  // A ConfigMap "owner" and two that it owns.
  void SetUp() override {
    const Json owner = Create(kube::kConfigMaps, ConfigMapOf("owner"));
    for (const char* name : {"x", "y"}) {
      Json owned = ConfigMapOf(name);
      owned["metadata"]["ownerReferences"] = {{{"apiVersion", "v1"},
                                               {"kind", "ConfigMap"},
                                               {"name", "owner"},
                                               {"uid", owner["metadata"]["uid"]},
                                               {"blockOwnerDeletion", true}}};
      Create(kube::kConfigMaps, owned);
    }
    Settle();
  }
  int Settle() {
    int steps = 0;
    while (collector.Step()) ++steps;
    return steps;
  }
  bool Has(const char* name) { return server.Find("configmaps", {"default", name}) != nullptr; }

  GarbageCollector collector{server};
};

TEST_F(CollectorTest, BackgroundDeletesWhatIsOwned) {
  Delete(kube::kConfigMaps, "owner");
  EXPECT_TRUE(Has("x"));
  EXPECT_EQ(Settle(), 2);
  EXPECT_FALSE(Has("x") || Has("y"));
}

TEST_F(CollectorTest, ForegroundDeletesTheOwnerLast) {
  Delete(kube::kConfigMaps, "owner", 200, {.propagation = "Foreground"});
  EXPECT_TRUE(collector.Step());
  EXPECT_TRUE(Has("owner"));
  EXPECT_TRUE(collector.Step());
  EXPECT_FALSE(Has("x") || Has("y"));
  EXPECT_TRUE(Has("owner"));
  EXPECT_EQ(Settle(), 1);
  EXPECT_FALSE(Has("owner"));
}

TEST_F(CollectorTest, OrphanKeepsWhatWasOwned) {
  Delete(kube::kConfigMaps, "owner", 200, {.propagation = "Orphan"});
  EXPECT_EQ(Settle(), 3);
  EXPECT_FALSE(Has("owner"));
  EXPECT_FALSE(
      server.Find("configmaps", {"default", "x"})->at("metadata").contains("ownerReferences"));
}

TEST_F(CollectorTest, ANamespaceEndsWhenItIsEmpty) {
  Create(kube::kNamespaces, {{"metadata", {{"name", "team"}}}});
  Json map = ConfigMapOf("a");
  map["metadata"]["namespace"] = "team";
  Create(kube::kConfigMaps, map);
  Send(kube::DeleteRequest(kube::kNamespaces, {"", "team"}, {}), 200);
  map["metadata"]["name"] = "b";
  const Json refused = Create(kube::kConfigMaps, map, 403);
  EXPECT_EQ(refused["details"]["causes"][0]["reason"], "NamespaceTerminating");
  NamespaceController controller(server);
  while (controller.Step()) {
  }
  EXPECT_EQ(server.Find("namespaces", {"", "team"}), nullptr);
}

}  // namespace
}  // namespace weft::world
