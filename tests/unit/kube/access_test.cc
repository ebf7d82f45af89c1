#include "operator/kube/access.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace weft::kube {
namespace {

using Json = nlohmann::json;

// An API server that knows one token, and lets its owner get /metrics.
class Reviews : public Transport {
 public:
  Result<Response> Send(const Request& request) override {
    if (down) return Error{ErrorKind::kTransient, "no connection"};
    const Json review = Json::parse(request.body);
    asked.push_back(review["kind"]);
    last = review["spec"];
    Json status;
    if (review["kind"] == "TokenReview") {
      status = {{"authenticated", false}};
      if (review["spec"]["token"] == "good" || review["spec"]["token"] == "other") {
        status = {{"authenticated", true},
                  {"user",
                   {{"username", review["spec"]["token"]},
                    {"uid", "7"},
                    {"groups", {"system:authenticated"}},
                    {"extra", {{"key", {"value"}}}}}}};
      }
    } else {
      status = {{"allowed", review["spec"]["user"] == "good"}};
    }
    return Response{201, {}, Json({{"status", status}}).dump()};
  }
  Result<Response> Stream(const Request&, const ChunkSink&, const Cancel&) override {
    return Error{ErrorKind::kInvalid, "not here"};
  }

  bool down = false;
  std::vector<std::string> asked;
  Json last;
};

class PlayedTimer : public Timer {
 public:
  Instant Now() const override { return now; }
  WallMicros Wall() const override { return 0; }
  bool Wait(Millis) override { return true; }
  void End() override {}
  Instant now{Millis{1'000'000}};
};

struct Gate {
  Reviews reviews;
  PlayedTimer timer;
  Client client;
  AccessCheck check;

  explicit Gate(AccessCheck::Options options = {})
      : client(reviews, timer, {.tries = 1}), check(client, timer, std::move(options)) {}
  Access Get(const std::string& token) { return check.Check(token, {.path = "/metrics"}); }
  std::size_t asked() const { return reviews.asked.size(); }
};

TEST(AccessTest, NobodyIsToldApartFromSomebodyWhoMayNot) {
  Gate gate;
  EXPECT_EQ(gate.Get("good"), Access::kAllowed);
  EXPECT_EQ(gate.Get("other"), Access::kForbidden);
  EXPECT_EQ(gate.Get("made-up"), Access::kUnauthenticated);
}

TEST(AccessTest, NoTokenCostsNoRequest) {
  Gate gate;
  EXPECT_EQ(gate.Get(""), Access::kUnauthenticated);
  EXPECT_EQ(gate.asked(), 0U);
}

TEST(AccessTest, TheWholeUserIsAskedFor) {
  Gate gate;
  gate.Get("good");
  EXPECT_EQ(gate.reviews.last,
            Json({{"user", "good"},
                  {"uid", "7"},
                  {"groups", {"system:authenticated"}},
                  {"extra", {{"key", {"value"}}}},
                  {"nonResourceAttributes", {{"path", "/metrics"}, {"verb", "get"}}}}));
}

TEST(AccessTest, AnObjectIsAskedForByItsName) {
  Gate gate;
  gate.check.Check("good", {.verb = "watch",
                            .group = "weft.dev",
                            .resource = "trainingjobs",
                            .space = "team-a",
                            .name = "x"});
  EXPECT_EQ(gate.reviews.last["resourceAttributes"], Json({{"verb", "watch"},
                                                           {"group", "weft.dev"},
                                                           {"resource", "trainingjobs"},
                                                           {"namespace", "team-a"},
                                                           {"name", "x"}}));
}

TEST(AccessTest, AUserKnownByACertificateIsAskedForByNameAlone) {
  Gate gate;
  const AccessQuestion question{.path = "/metrics"};
  EXPECT_EQ(gate.check.CheckUser("", question), Access::kUnauthenticated);
  EXPECT_EQ(gate.check.CheckUser("good", question), Access::kAllowed);
  EXPECT_EQ(gate.check.CheckUser("good", question), Access::kAllowed);
  EXPECT_EQ(gate.check.CheckUser("other", question), Access::kForbidden);
  EXPECT_EQ(gate.reviews.last,
            Json({{"user", "other"},
                  {"nonResourceAttributes", {{"path", "/metrics"}, {"verb", "get"}}}}));
  EXPECT_EQ(gate.asked(), 2U) << "the answer about good is kept, and no token is asked about";
}

TEST(AccessTest, AnswersAreKeptForTheirTime) {
  Gate gate;
  gate.Get("good");
  gate.Get("good");
  EXPECT_EQ(gate.asked(), 2U);
  gate.timer.now += Millis{61'000};  // whose it is is asked again, what they may is kept
  gate.Get("good");
  EXPECT_EQ(gate.reviews.asked,
            (std::vector<std::string>{"TokenReview", "SubjectAccessReview", "TokenReview"}));
  gate.timer.now += Millis{300'000};
  gate.Get("good");
  EXPECT_EQ(gate.asked(), 5U);
}

TEST(AccessTest, ARefusalIsKeptForHalfAMinute) {
  Gate gate;
  gate.Get("made-up");
  gate.Get("made-up");
  EXPECT_EQ(gate.asked(), 1U);
  gate.timer.now += Millis{31'000};
  gate.Get("made-up");
  EXPECT_EQ(gate.asked(), 2U);
}

TEST(AccessTest, AFloodOfMadeUpTokensIsTurnedAway) {
  Gate gate({.reviews_per_second = 10, .burst = 5});
  gate.Get("good");
  int busy = 0;
  for (int i = 0; i < 100; ++i) {
    busy += gate.Get("made-up-" + std::to_string(i)) == Access::kBusy ? 1 : 0;
  }
  EXPECT_EQ(gate.asked(), 5U);
  EXPECT_EQ(busy, 97);
  EXPECT_EQ(gate.Get("good"), Access::kAllowed);  // known, so not in its way
  gate.timer.now += Millis{1'000};
  EXPECT_EQ(gate.Get("made-up-99"), Access::kUnauthenticated);
}

TEST(AccessTest, WithoutAnAnswerNothingIsAllowedAndNothingKept) {
  Gate gate;
  gate.reviews.down = true;
  EXPECT_EQ(gate.Get("good"), Access::kUnknown);
  gate.reviews.down = false;
  EXPECT_EQ(gate.Get("good"), Access::kAllowed);
}

TEST(AccessTest, AServerThatDoesNotKnowTheAudienceSaysNothing) {
  Gate gate({.audiences = {"weft"}});
  EXPECT_EQ(gate.Get("good"), Access::kUnauthenticated);
  EXPECT_EQ(gate.reviews.last["audiences"], Json({"weft"}));
}

}  // namespace
}  // namespace weft::kube
