#include "operator/kube/client.h"

#include <gtest/gtest.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace weft::kube {
namespace {

using Json = nlohmann::json;

// Answers in turn; where none is left there is no connection.
class PlayedTransport : public Transport {
 public:
  explicit PlayedTransport(std::deque<Response> answers) : answers_(std::move(answers)) {}

  Result<Response> Send(const Request& request) override {
    ++sent_;
    last_ = request;
    if (answers_.empty()) return Error{ErrorKind::kTransient, "no connection"};
    Response answer = answers_.front();
    answers_.pop_front();
    return answer;
  }
  Result<Response> Stream(const Request&, const ChunkSink&, const Cancel&) override {
    return Error{ErrorKind::kInvalid, "not here"};
  }
  int sent() const { return sent_; }
  const Request& last() const { return last_; }

 private:
  std::deque<Response> answers_;
  Request last_;
  int sent_ = 0;
};

// A clock that a wait moves on; ends at the first wait where it is asked to.
class PlayedTimer : public Timer {
 public:
  explicit PlayedTimer(bool ended = false) : ended_(ended) {}
  Instant Now() const override { return now_; }
  WallMicros Wall() const override { return 0; }
  bool Wait(Millis time) override {
    waits_.push_back(time);
    now_ += time;
    return !ended_;
  }
  void End() override { ended_ = true; }
  const std::vector<Millis>& waits() const { return waits_; }

 private:
  Instant now_{Millis{1'000}};
  std::vector<Millis> waits_;
  bool ended_;
};

std::string Show(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalid:
      return "invalid";
    case ErrorKind::kNotFound:
      return "not found";
    case ErrorKind::kConflict:
      return "conflict";
    case ErrorKind::kTransient:
      return "transient";
  }
  return "";
}

std::string Show(const Result<Json>& answer) {
  return answer ? answer->dump() : Show(answer.error().kind) + ": " + answer.error().message;
}

std::string StatusJson(const std::string& message) {
  return Json{{"kind", "Status"}, {"message", message}}.dump();
}

Response Busy(int status, int seconds) {
  Response response{status, std::nullopt, StatusJson("busy")};
  if (seconds > 0) response.retry_after = std::chrono::seconds(seconds);
  return response;
}

// The API server's answer to a create that it has not done, and to one of a name that is taken.
const Response kBusyQuota{
    409,
    {},
    R"({"reason":"Conflict","message":"Operation cannot be fulfilled on resourcequotas"})"};
const Response kExists{409, {}, R"({"reason":"AlreadyExists","message":"pods already exists"})"};

struct AnswerCase {
  std::string name;
  Response response;
  std::string want;
};
void PrintTo(const AnswerCase& c, std::ostream* out) { *out << c.name; }

class Answers : public ::testing::TestWithParam<AnswerCase> {};

TEST_P(Answers, Mean) {
  PlayedTransport transport({GetParam().response});
  PlayedTimer timer;
  Client client(transport, timer, {.tries = 1});
  EXPECT_EQ(Show(client.Get(kNodes, {"", "n"})), GetParam().want);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, Answers, ::testing::ValuesIn(std::vector<AnswerCase>{
  {"AnObject", {200, {}, R"({"kind":"Node"})"}, R"({"kind":"Node"})"},
  {"ACreatedOne", {201, {}, "{}"}, "{}"},
  {"NothingThatCanBeRead", {200, {}, "<html>"}, "transient: /api/v1/nodes/n: the answer is not JSON"},
  {"ThatThereIsNone", {404, {}, StatusJson("no such node")},
   "not found: GET /api/v1/nodes/n: 404 no such node"},
  {"ThatItChanged", {409, {}, StatusJson("changed")},
   "conflict: GET /api/v1/nodes/n: 409 changed"},
  {"ThatItIsWrong", {422, {}, StatusJson("spec.x: Invalid")},
   "invalid: GET /api/v1/nodes/n: 422 spec.x: Invalid"},
  {"ThatItIsForbidden", {403, {}, StatusJson("may not")},
   "invalid: GET /api/v1/nodes/n: 403 may not"},
  {"ThatWeAreNobody", {401, {}, StatusJson("Unauthorized")},
   "transient: GET /api/v1/nodes/n: 401 Unauthorized"},
  {"ThatTheServerIsBroken", {500, {}, StatusJson("etcd")},
   "transient: GET /api/v1/nodes/n: 500 etcd"},
  {"ThatItIsBusy", Busy(503, 0), "transient: GET /api/v1/nodes/n: 503 busy"},
  {"AProxysPage", {502, {}, "<html>bad gateway"},
   "transient: GET /api/v1/nodes/n: 502 <html>bad gateway"},
  {"AStatusWhoseMessageIsNoText", {404, {}, R"({"message":7})"},
   "not found: GET /api/v1/nodes/n: 404 "},
  {"TheBeginningOfALongMessage", {400, {}, std::string(5'000, 'x')},
   "invalid: GET /api/v1/nodes/n: 400 " + std::string(2'000, 'x')},
}), [](const auto& row) { return row.param.name; });
// clang-format on

struct RetryCase {
  std::string name;
  Request request;
  std::deque<Response> answers;
  int sent;
  std::string want;              // how it ends
  std::vector<int> least_waits;  // milliseconds
};
void PrintTo(const RetryCase& c, std::ostream* out) { *out << c.name; }

class Retries : public ::testing::TestWithParam<RetryCase> {};

// Back-off is between half of 500 ms, doubled each time, and the whole; a tenth more than what a
// server asks for.
TEST_P(Retries, Are) {
  const RetryCase& c = GetParam();
  PlayedTransport transport(c.answers);
  PlayedTimer timer;
  Client client(transport, timer, {});
  const Result<Json> answer = client.Do(c.request);
  EXPECT_EQ(answer ? "ok" : Show(answer.error().kind), c.want);
  EXPECT_EQ(transport.sent(), c.sent);
  ASSERT_EQ(timer.waits().size(), c.least_waits.size());
  for (std::size_t i = 0; i < c.least_waits.size(); ++i) {
    EXPECT_GE(timer.waits()[i].count(), c.least_waits[i]) << i;
    EXPECT_LE(timer.waits()[i].count(), 2 * c.least_waits[i]) << i;
  }
}

const Json kPod = {{"metadata", {{"name", "p"}, {"namespace", "a"}}}};
const Json kNothing = Json::object();
const Request kGet = GetRequest(kPods, {"a", "p"});
const Request kPost = CreateRequest(kPods, kPod, {});
const Request kPut = ReplaceRequest(kPods, kPod, {});
const Request kDelete = DeleteRequest(kPods, {"a", "p"}, {});
const Request kMerge = PatchRequest(kPods, {"a", "p"}, {PatchType::kMerge, kNothing}, {});
const Request kJson = PatchRequest(kPods, {"a", "p"}, {PatchType::kJson, kNothing}, {});
const Request kApply = PatchRequest(kPods, {"a", "p"}, {PatchType::kApply, kNothing}, {});
const Response kDone{200, {}, "{}"};

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, Retries, ::testing::ValuesIn(std::vector<RetryCase>{
  {"AsLateAsTheServerAsks", kGet, {Busy(429, 3), kDone}, 2, "ok", {3'000}},
  {"LaterEachTimeWhereItAsksForNothing",
   kGet, {Busy(503, 0), Busy(503, 0), Busy(503, 0), kDone}, 4, "ok", {250, 500, 1'000}},
  {"AFewOnly", kGet, {Busy(429, 1), Busy(429, 1), Busy(429, 1), Busy(429, 1), kDone}, 4,
   "transient", {1'000, 1'000, 1'000}},
  {"LeftToTheCallerWhereTheServerAsksForLong", kGet, {Busy(429, 11), kDone}, 1, "transient", {}},
  {"OfACreateThatWasNotDone", kPost, {Busy(429, 1), kDone}, 2, "ok", {1'000}},
  {"NotOfACreateThatMayBeDone", kPost, {Busy(504, 1), kDone}, 1, "transient", {}},
  {"NotOfACreateAtABusyServer", kPost, {Busy(503, 1), kDone}, 1, "transient", {}},
  {"OfAReplace", kPut, {Busy(504, 1), kDone}, 2, "ok", {1'000}},
  {"OfADelete", kDelete, {Busy(504, 1), kDone}, 2, "ok", {1'000}},
  {"OfAMergePatch", kMerge, {Busy(504, 1), kDone}, 2, "ok", {1'000}},
  {"OfAnApply", kApply, {Busy(504, 1), kDone}, 2, "ok", {1'000}},
  {"NotOfAJsonPatchThatMayBeDone", kJson, {Busy(504, 1), kDone}, 1, "transient", {}},
  {"OfABrokenServerThatAsksForIt", kGet, {Busy(500, 1), kDone}, 2, "ok", {1'000}},
  {"NotOfOneThatDoesNot", kGet, {Busy(500, 0), kDone}, 1, "transient", {}},
  {"NotOfWhatIsWrong", kGet, {{400, {}, ""}, kDone}, 1, "invalid", {}},
  {"OfACreateThatMetABusyQuota", kPost, {kBusyQuota, kBusyQuota, kDone}, 3, "ok", {10, 20}},
  {"AFewOnlyOfAQuotaThatStaysBusy",
   kPost, {kBusyQuota, kBusyQuota, kBusyQuota, kBusyQuota, kDone}, 4, "transient", {10, 20, 40}},
  {"NotOfACreateOfWhatExists", kPost, {kExists, kDone}, 1, "conflict", {}},
  {"NotOfAChangeInBetween", kPut, {kBusyQuota, kDone}, 1, "conflict", {}},
  {"NotOfAConflict", kPut, {{409, {}, ""}, kDone}, 1, "conflict", {}},
  {"NotWithoutAConnection", kPost, {}, 1, "transient", {}},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(Client, WaitsItsTurn) {
  PlayedTransport transport({kDone, kDone, kDone});
  PlayedTimer timer;
  Client client(transport, timer, {.requests_per_second = 10, .burst = 2});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.Do(kGet));
  EXPECT_EQ(timer.waits(), std::vector<Millis>{Millis{100}});
}

TEST(Client, SendsNothingMoreOnceStopped) {
  PlayedTransport transport({Busy(429, 1), kDone});
  PlayedTimer timer(true);
  Client client(transport, timer, {});
  EXPECT_EQ(Show(client.Do(kGet)), "transient: the program is stopping");
  EXPECT_EQ(transport.sent(), 1);
}

struct DeleteCase {
  std::string name;
  int status;
  Precondition only;
  std::string want;
};
void PrintTo(const DeleteCase& c, std::ostream* out) { *out << c.name; }

class Delete : public ::testing::TestWithParam<DeleteCase> {};

TEST_P(Delete, Is) {
  PlayedTransport transport({{GetParam().status, {}, "{}"}});
  PlayedTimer timer;
  Client client(transport, timer, {});
  const Status done = client.Delete(kPods, {"a", "p"}, GetParam().only);
  EXPECT_EQ(done ? "done" : Show(done.error().kind), GetParam().want);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, Delete, ::testing::ValuesIn(std::vector<DeleteCase>{
  {"DoneWhereTheServerTookIt",           200, {"u", ""},  "done"},
  {"DoneWhereItIsGone",                  404, {"u", ""},  "done"},
  {"DoneWhereAnotherHasTheName",         409, {"u", ""},  "done"},
  {"NotDoneWhereItMayHaveChangedOnly",   409, {"u", "7"}, "conflict"},
  {"NotDoneWhereAnyOfTheNameWasMeant",   409, {"", ""},   "conflict"},
  {"NotDoneWhereItIsForbidden",          403, {"u", ""},  "invalid"},
}), [](const auto& row) { return row.param.name; });
// clang-format on

struct PatchCase {
  std::string name;
  Request request;
  std::string body;
  std::string want;
};
void PrintTo(const PatchCase& c, std::ostream* out) { *out << c.name; }

class RefusedPatch : public ::testing::TestWithParam<PatchCase> {};

TEST_P(RefusedPatch, Is) {
  EXPECT_EQ(Show(ErrorOf(GetParam().request, {422, {}, GetParam().body}).kind), GetParam().want);
}

// As Kubernetes 1.36 answers.
const char* const kDoesNotFit =
    R"({"kind":"Status","status":"Failure","reason":"Invalid","details":{},"code":422,)"
    R"("message":"the server rejected our request due to an error in our request"})";
const char* const kOtherUid =
    R"({"kind":"Status","reason":"Invalid","details":{"name":"p","kind":"Pod","causes":[)"
    R"({"reason":"FieldValueInvalid","message":"field is immutable","field":"metadata.uid"}]}})";
const char* const kWrongField =
    R"({"kind":"Status","reason":"Invalid","details":{"name":"p","kind":"Pod","causes":[)"
    R"({"field":"metadata.uid"},{"field":"spec.containers"}]}})";

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, RefusedPatch, ::testing::ValuesIn(std::vector<PatchCase>{
  {"OutdatedWhereATestFails",                  kJson,  kDoesNotFit, "conflict"},
  {"OutdatedWhereAnotherObjectHasTheName",     kMerge, kOtherUid,   "conflict"},
  {"WrongWhereTheObjectWouldBe",               kJson,  kWrongField, "invalid"},
  {"WrongWhereMoreThanTheUidIs",               kMerge, kWrongField, "invalid"},
  {"WrongWhereAMergePatchCannotBeRead",        kMerge, kDoesNotFit, "invalid"},
  {"WrongWhereItIsNoPatchAtAll",               kPut,   kOtherUid,   "invalid"},
  {"WrongWhereDetailsAreOfAnotherShape",       kMerge, R"({"details":["causes"]})", "invalid"},
}), [](const auto& row) { return row.param.name; });
// clang-format on

// A lead may end while a request waits for its turn.
TEST(Client, SendsNothingWhenItsTimeIsOver) {
  PlayedTimer timer;
  const Instant end = timer.Now() + Millis{900};
  Client::Options options{.requests_per_second = 1, .burst = 1, .until = [&] { return end; }};
  PlayedTransport transport({kDone, kDone});
  Client limited(transport, timer, options);
  EXPECT_TRUE(limited.Get(kNodes, {"", "n"}));
  EXPECT_EQ(Show(limited.Get(kNodes, {"", "n"})),
            "transient: not sent: this process may not write now");
  EXPECT_EQ(transport.sent(), 1);
}

TEST(Client, DoesNotRepeatWhenItsTimeIsOver) {
  PlayedTransport transport({Busy(503, 1), kDone});
  PlayedTimer timer;
  const Instant end = timer.Now() + Millis{900};
  Client client(transport, timer, {.until = [&] { return end; }});
  EXPECT_EQ(Show(client.Get(kNodes, {"", "n"})),
            "transient: not sent: this process may not write now");
  EXPECT_EQ(transport.sent(), 1);
}

TEST(Client, AsksOnceForAnEviction) {
  PlayedTransport transport({Busy(429, 1), kDone});
  PlayedTimer timer;
  Client client(transport, timer, {});
  const Status evicted = client.Evict({"a", "p"}, {"u", ""});
  ASSERT_FALSE(evicted);
  EXPECT_EQ(Show(evicted.error().kind), "transient");
  EXPECT_EQ(transport.sent(), 1);
}

TEST(Client, AppliesByForceUnderItsOwnName) {
  PlayedTransport transport({kDone});
  PlayedTimer timer;
  Client client(transport, timer, {.field_manager = "weft-operator"});
  EXPECT_TRUE(client.Patch(kTrainingJobs, {"a", "j"}, PatchType::kApply, kNothing, "status"));
  EXPECT_EQ(transport.last().path, "/apis/weft.dev/v1alpha1/namespaces/a/trainingjobs/j/status");
  EXPECT_EQ(transport.last().query, (std::map<std::string, std::string>{
                                        {"fieldManager", "weft-operator"}, {"force", "true"}}));
}

}  // namespace
}  // namespace weft::kube
