#include "operator/controllers/kube_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace weft::controllers {
namespace {

using Json = nlohmann::json;

// Stores whatever it is sent.
class Server final : public kube::Transport {
 public:
  Result<kube::Response> Send(const kube::Request& request) override {
    requests.push_back(request);
    return kube::Response{200, {}, "{}"};
  }
  Result<kube::Response> Stream(const kube::Request&, const kube::ChunkSink&,
                                const kube::Cancel&) override {
    return Error{ErrorKind::kInvalid, "not here"};
  }
  std::vector<kube::Request> requests;
};

class NoWait final : public kube::Timer {
 public:
  kube::Instant Now() const override { return kube::Instant{}; }
  kube::WallMicros Wall() const override { return 0; }
  bool Wait(kube::Millis) override { return true; }
  void End() override {}
};

class KubeWriterTest : public ::testing::Test {
 protected:
  bool leads_ = true;
  Server server_;
  NoWait timer_;
  kube::Client client_{server_, timer_, {}};
  KubeWriter writer_{client_, [this] { return leads_; }};
  const Target target_{Kind::kPlacement, {"ns", "x"}, "u1", "7"};
};

TEST_F(KubeWriterTest, WhoDoesNotLeadWritesNothingButMayRead) {
  leads_ = false;
  EXPECT_EQ(writer_.Create(Kind::kPod, Json::object(), false).error().kind, ErrorKind::kTransient);
  EXPECT_FALSE(writer_.Patch(target_, Json::object()));
  EXPECT_FALSE(writer_.PatchStatus(target_, Json::object()));
  EXPECT_FALSE(writer_.Delete(target_));
  EXPECT_FALSE(writer_.Evict(target_));
  EXPECT_TRUE(server_.requests.empty());
  EXPECT_TRUE(writer_.Get(target_));
  EXPECT_EQ(server_.requests.size(), 1U);
}

TEST_F(KubeWriterTest, AsksForWarningsAboutPodsThatMayTellOfAStart) {
  ASSERT_TRUE(writer_.WarningsIn("ns"));
  const kube::Request& sent = server_.requests.at(0);
  EXPECT_EQ(sent.path, "/api/v1/namespaces/ns/events");
  EXPECT_TRUE(sent.query.at("fieldSelector")
                  .starts_with("involvedObject.kind=Pod,type=Warning,reason!=FailedScheduling,"));
  EXPECT_EQ(sent.query.at("limit"), "500");
  EXPECT_GT(sent.most_bytes, 0U);
}

TEST_F(KubeWriterTest, AsksForPullsOfImages) {
  ASSERT_TRUE(writer_.PullsIn("ns"));
  const kube::Request& sent = server_.requests.at(0);
  EXPECT_EQ(sent.path, "/api/v1/namespaces/ns/events");
  const std::string& selector = sent.query.at("fieldSelector");
  EXPECT_TRUE(selector.starts_with("involvedObject.kind=Pod,type=Normal,reason!=Scheduled,"));
  EXPECT_EQ(selector.find("Pull"), std::string::npos);
  EXPECT_EQ(sent.query.at("limit"), "500");
}

TEST_F(KubeWriterTest, APatchIsOfOneObjectInOneState) {
  ASSERT_TRUE(writer_.PatchStatus(target_, {{"status", {{"nodes", {"n0"}}}}}));
  const kube::Request& sent = server_.requests.at(0);
  EXPECT_EQ(sent.path, "/apis/weft.dev/v1alpha1/namespaces/ns/placements/x/status");
  EXPECT_EQ(Json::parse(sent.body),
            Json::parse(R"({"metadata": {"uid": "u1", "resourceVersion": "7"},
                            "status": {"nodes": ["n0"]}})"));
}

TEST_F(KubeWriterTest, ADeletionIsOfOneObject) {
  ASSERT_TRUE(writer_.Delete({Kind::kPod, {"ns", "p"}, "u1", ""}));
  const Json body = Json::parse(server_.requests.at(0).body);
  EXPECT_EQ(body["preconditions"], Json::parse(R"({"uid": "u1"})"));
}

}  // namespace
}  // namespace weft::controllers
