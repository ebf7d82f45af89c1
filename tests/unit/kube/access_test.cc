#include "operator/kube/access.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

namespace weft::kube {
namespace {

using Json = nlohmann::json;
using Verdict = AccessChecker::Verdict;

// Knows tokens "NAME-token", and lets those in `allowed` do anything.
class PlayedReviews : public Transport {
 public:
  std::set<std::string> known = {"alice", "bob"}, allowed = {"alice"};
  bool answers = true;
  std::vector<std::string> asked;
  Json last;

  Result<Response> Send(const Request& request) override {
    if (!answers) return Error{ErrorKind::kTransient, "no connection"};
    last = Json::parse(request.body);
    Json status;
    if (request.path == "/apis/authentication.k8s.io/v1/tokenreviews") {
      const std::string token = last["spec"]["token"];
      const std::string name = token.substr(0, token.find('-'));
      asked.push_back("who is " + token);
      status["authenticated"] = known.contains(name);
      if (known.contains(name)) status["user"] = {{"username", name}, {"groups", {"people"}}};
    } else {
      const std::string name = last["spec"]["user"];
      asked.push_back("may " + name);
      status["allowed"] = allowed.contains(name);
    }
    return Response{201, {}, Json{{"status", status}}.dump()};
  }
  Result<Response> Stream(const Request&, const ChunkSink&, const Cancel&) override {
    return Error{ErrorKind::kInvalid, "not here"};
  }
};

class AccessTest : public ::testing::Test {
 protected:
  AccessChecker Checker() {
    return AccessChecker(client_, [this] { return now_; });
  }

  PlayedReviews server_;
  SystemTimer timer_;
  Client client_{server_, timer_, {.field_manager = "test", .tries = 1}};
  std::chrono::steady_clock::time_point now_{};
};

using Texts = std::vector<std::string>;
const Attempt kScrape{.verb = "get", .group = "", .resource = "", .space = "", .path = "/metrics"};
const Attempt kList{.verb = "list", .group = "weft.dev", .resource = "placements", .space = "",
                    .path = ""};

TEST_F(AccessTest, WhoIsKnownAndMayIsAllowed) {
  auto checker = Checker();
  EXPECT_EQ(*checker.Check("alice-token", kScrape), Verdict::kAllowed);
  EXPECT_EQ(server_.last["spec"]["nonResourceAttributes"],
            (Json{{"verb", "get"}, {"path", "/metrics"}}));
  EXPECT_EQ(server_.last["spec"]["groups"], Json{"people"});
  EXPECT_EQ(*checker.Check("alice-token", kList), Verdict::kAllowed);
  EXPECT_EQ(server_.last["spec"]["resourceAttributes"]["resource"], "placements");
}

TEST_F(AccessTest, WhoIsKnownAndMayNotIsForbidden) {
  EXPECT_EQ(*Checker().Check("bob-token", kList), Verdict::kForbidden);
}

TEST_F(AccessTest, WhoIsUnknownIsNotEvenAskedAbout) {
  EXPECT_EQ(*Checker().Check("mallory-token", kList), Verdict::kUnknownToken);
  EXPECT_EQ(server_.asked, Texts{"who is mallory-token"});
}

TEST_F(AccessTest, AnAnswerIsKeptForHalfAMinuteAndForThatTokenAndDeedAlone) {
  auto checker = Checker();
  (void)checker.Check("alice-token", kList);
  (void)checker.Check("alice-token", kList);
  EXPECT_EQ(server_.asked.size(), 2U);
  (void)checker.Check("alice-token2", kList);
  EXPECT_EQ(server_.asked.size(), 4U);
  now_ += std::chrono::seconds(31);
  server_.allowed.clear();
  EXPECT_EQ(*checker.Check("alice-token", kList), Verdict::kForbidden);
}

TEST_F(AccessTest, NoAnswerIsNoVerdictAndIsNotKept) {
  auto checker = Checker();
  server_.answers = false;
  EXPECT_EQ(checker.Check("alice-token", kList).error().kind, ErrorKind::kTransient);
  server_.answers = true;
  EXPECT_EQ(*checker.Check("alice-token", kList), Verdict::kAllowed);
}

}  // namespace
}  // namespace weft::kube
