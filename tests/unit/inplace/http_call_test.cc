#include "operator/inplace/http_call.h"

#include <gtest/gtest.h>

#include "operator/inplace/state_text.h"

namespace weft::inplace {
namespace {

int StatusOf(const std::string& request, std::string_view token = "") {
  const auto call = ParseHttpCall(request, token);
  return call ? call->refused : -1;
}

TEST(HttpCall, TellsHttpFromTheProtocol) {
  EXPECT_EQ(IsHttp(""), std::nullopt);
  EXPECT_EQ(IsHttp("weft"), std::nullopt);
  EXPECT_EQ(IsHttp("weft-run/1 t"), false);
  EXPECT_EQ(IsHttp("weird"), true);
  EXPECT_EQ(IsHttp("GET /state"), true);
}

TEST(HttpCall, ReadsBothCalls) {
  const auto state = ParseHttpCall("GET /state HTTP/1.1\r\nHost: a\r\n\r\n", "");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->refused, 0);
  EXPECT_FALSE(state->stop);
  const auto stop = ParseHttpCall("POST /stop?revision=12 HTTP/1.0\r\n\r\n", "");
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->refused, 0);
  EXPECT_TRUE(stop->stop);
  EXPECT_EQ(stop->revision, 12);
}

TEST(HttpCall, RefusesAllElse) {
  EXPECT_EQ(StatusOf("GET /state HTTP/1.1\r\n"), -1);  // more may come
  EXPECT_EQ(StatusOf("\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET /state\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n\r\n"), 404);
  EXPECT_EQ(StatusOf("POST /state HTTP/1.1\r\n\r\n"), 405);
  EXPECT_EQ(StatusOf("GET /stop?revision=1 HTTP/1.1\r\n\r\n"), 405);
  for (const char* number : {"", "-1", "x", "1x", "1000000001", "99999999999999999999"}) {
    EXPECT_EQ(StatusOf(std::string("POST /stop?revision=") + number + " HTTP/1.1\r\n\r\n"), 400);
  }
  EXPECT_EQ(StatusOf(std::string(kMaxHttpBytes + 1, 'a')), 431);
}

TEST(HttpCall, WantsTheToken) {
  const std::string line = "POST /stop?revision=1 HTTP/1.1\r\n";
  EXPECT_EQ(StatusOf(line + "\r\n", "secret"), 401);
  EXPECT_EQ(StatusOf(line + "Authorization: Bearer wrong\r\n\r\n", "secret"), 401);
  EXPECT_EQ(StatusOf(line + "Authorization: Basic secret\r\n\r\n", "secret"), 401);
  EXPECT_EQ(StatusOf(line + "X: Authorization: Bearer secret\r\n\r\n", "secret"), 401);
  EXPECT_EQ(StatusOf(line + "authorization:bearer secret\r\n\r\n", "secret"), 0);
}

TEST(HttpCall, AnswersWithTheState) {
  MemberOptions options;
  options.rank = 1;
  options.workers = 3;
  options.birth = 4;
  const Member member(options, Time{0});
  EXPECT_EQ(HttpAnswer(200, StateText(member, {17, 0})).substr(0, 17), "HTTP/1.1 200 OK\r\n");
  EXPECT_EQ(StateText(member, {17, UnixSeconds{0}}),
            R"({"rank": 1, "workers": 3, "revision": 4, "startedRevision": null, "phase": "down", )"
            R"("pid": 17, "exitCode": null, "inContact": false, "missing": 0, )"
            R"("lastCheckpointTime": "1970-01-01T00:00:00Z"})");
}

}  // namespace
}  // namespace weft::inplace
