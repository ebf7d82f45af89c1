#include "operator/kube/client.h"

#include <gtest/gtest.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <vector>

namespace weft::kube {
namespace {

using Json = nlohmann::json;

// Answers as told, and keeps what was asked.
class Scripted final : public Transport {
 public:
  Result<Response> Send(const Request& request) override {
    asked.push_back(request);
    if (answers.empty()) return Error{ErrorKind::kTransient, "no answer"};
    Response response = answers.front();
    answers.pop_front();
    return response;
  }
  Result<Response> Stream(const Request&, const ChunkSink&, const Cancel&) override {
    return Error{ErrorKind::kTransient, "not here"};
  }
  std::vector<Request> asked;
  std::deque<Response> answers;
};

// A clock that moves by waiting alone.
class FakeTimer final : public Timer {
 public:
  Instant Now() const override { return now_; }
  WallMicros Wall() const override { return 0; }
  bool Wait(Millis time) override {
    waits.push_back(time);
    now_ += time;
    return true;
  }
  void End() override {}
  std::vector<Millis> waits;

 private:
  Instant now_{std::chrono::seconds(1)};
};

struct Fixture {
  Scripted transport;
  FakeTimer timer;
  Client client{transport,
                timer,
                {.field_manager = "weft", .requests_per_second = 10, .burst = 2, .tries = 3}};
  void Answer(int status, const std::string& body,
              std::optional<Millis> retry_after = std::nullopt) {
    transport.answers.push_back({status, retry_after, body});
  }
};

TEST(ClientTest, ACreateGoesToTheCollectionOfTheNamespace) {
  Fixture f;
  f.Answer(201, R"({"metadata": {"uid": "u"}})");
  const auto stored =
      f.client.Create(kPods, Json::parse(R"({"metadata": {"name": "p", "namespace": "n"}})"), true);
  ASSERT_TRUE(stored);
  EXPECT_EQ((*stored)["metadata"]["uid"], "u");
  const Request& request = f.transport.asked.at(0);
  EXPECT_EQ(request.method, Method::kPost);
  EXPECT_EQ(request.path, "/api/v1/namespaces/n/pods");
  EXPECT_EQ(request.query,
            (std::map<std::string, std::string>{{"fieldManager", "weft"}, {"dryRun", "All"}}));
}

TEST(ClientTest, ADeleteIsAboutOneObject) {
  Fixture f;
  f.Answer(200, "{}");
  ASSERT_TRUE(f.client.Delete(kPods, {"n", "p"}, {.uid = "u", .resource_version = ""}));
  const Json body = Json::parse(f.transport.asked.at(0).body);
  EXPECT_EQ(body["preconditions"], (Json{{"uid", "u"}}));
}

TEST(ClientTest, WhatIsGoneOrAnotherCountsAsDeleted) {
  for (int status : {404, 409}) {
    Fixture f;
    f.Answer(status, "{}");
    EXPECT_TRUE(f.client.Delete(kPods, {"n", "p"}, {.uid = "u", .resource_version = ""}));
  }
}

TEST(ClientTest, ABusyServerIsAskedAgainWhenItSays) {
  Fixture f;
  f.Answer(429, "{}", Millis{2000});
  f.Answer(503, "{}");
  f.Answer(200, "{}");
  EXPECT_TRUE(f.client.Get(kNodes, {"", "a"}));
  ASSERT_GE(f.timer.waits.size(), 2U);
  EXPECT_EQ(f.timer.waits[0], Millis{2000});
}

TEST(ClientTest, AndNotForEver) {
  Fixture f;
  for (int i = 0; i < 9; ++i) f.Answer(429, R"({"message": "slow down"})", Millis{1000});
  const auto answer = f.client.Get(kNodes, {"", "a"});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kTransient);
  EXPECT_EQ(f.transport.asked.size(), 3U);
}

TEST(ClientTest, RequestsPastTheBurstWaitTheirTurn) {
  Fixture f;
  for (int i = 0; i < 4; ++i) f.Answer(200, "{}");
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(f.client.Get(kNodes, {"", "a"}));
  EXPECT_EQ(f.timer.waits, (std::vector<Millis>{Millis{100}, Millis{100}}));
}

struct Meaning {
  int status;
  ErrorKind kind;
};

TEST(ClientTest, AnAnswerMeansWhatTheCallerCanDo) {
  for (const auto& [status, kind] : {Meaning{400, ErrorKind::kInvalid},
                                     {401, ErrorKind::kTransient},
                                     {403, ErrorKind::kInvalid},
                                     {404, ErrorKind::kNotFound},
                                     {409, ErrorKind::kConflict},
                                     {422, ErrorKind::kInvalid},
                                     {429, ErrorKind::kTransient},
                                     {500, ErrorKind::kTransient}}) {
    Request request;
    request.path = "/x";
    const Error error = ErrorOf(request, {status, std::nullopt, R"({"message": "why"})"});
    EXPECT_EQ(error.kind, kind) << status;
    EXPECT_EQ(error.message, "GET /x: " + std::to_string(status) + " why");
  }
}

TEST(PathOfTest, NamesWhatIsAsked) {
  EXPECT_EQ(PathOf(kNodes, {"", ""}), "/api/v1/nodes");
  EXPECT_EQ(PathOf(kPods, {"", ""}), "/api/v1/pods");
  EXPECT_EQ(PathOf(kTrainingJobs, {"a", "x"}, "status"),
            "/apis/weft.dev/v1alpha1/namespaces/a/trainingjobs/x/status");
  EXPECT_EQ(PathOf(kPods, {"a", "../b?c"}), "/api/v1/namespaces/a/pods/..%2Fb%3Fc");
}

}  // namespace
}  // namespace weft::kube
