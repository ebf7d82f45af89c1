#include "operator/kube/reflector.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "operator/api/decode.h"
#include "operator/kube/reflector_decode.h"

namespace weft::kube {
namespace {

using Log = std::vector<std::string>;

// Time that passes only where somebody waits.
class FakeTimer : public Timer {
 public:
  explicit FakeTimer(Log& log) : log_(log) {}
  Instant Now() const override { return now_; }
  WallMicros Wall() const override { return 0; }
  bool Wait(Millis time) override {
    log_.push_back("wait");
    now_ += time;
    return !ended_;
  }
  void End() override { ended_ = true; }
  void Pass(Millis time) { now_ += time; }

 private:
  Log& log_;
  Instant now_{};
  bool ended_ = false;
};

// One answer of the server. Chunks go to the sink one by one; of an error, the first is the body.
struct Answer {
  int status = 200;  // 0: no answer
  std::vector<std::string> chunks;
};

// Answers from a script; when it is over, cancels whoever asks.
class ScriptedServer : public Transport {
 public:
  ScriptedServer(Log& log, std::vector<Answer> script)
      : log_(log), script_(script.begin(), script.end()) {}

  Result<Response> Send(const Request&) override { return NoAnswer(); }
  Result<Response> Stream(const Request& request, const ChunkSink& sink,
                          const Cancel& cancel) override {
    const Answer answer = Take(request);
    if (answer.status >= 300) return Response{answer.status, std::nullopt, answer.chunks[0]};
    for (const std::string& chunk : answer.chunks) {
      if (cancel || !sink(chunk)) return Response{200, std::nullopt, ""};
    }
    if (answer.status == 0) return NoAnswer();
    return Response{answer.status, std::nullopt, ""};
  }
  std::function<void()> on_end;
  std::function<void()> on_request = [] {};

 private:
  static Error NoAnswer() { return {ErrorKind::kTransient, "connection refused"}; }
  Answer Take(const Request& request) {
    const auto version = request.query.find("resourceVersion");
    log_.push_back(request.query.contains("sendInitialEvents") ? "GET list"
                   : version == request.query.end()            ? "GET page"
                                                               : "GET watch " + version->second);
    on_request();
    if (script_.empty()) {
      on_end();
      return {0, {}};
    }
    const Answer answer = script_.front();
    script_.pop_front();
    return answer;
  }

  Log& log_;
  std::deque<Answer> script_;
};

class LoggingSink : public TypedSink<api::Node> {
 public:
  explicit LoggingSink(Log& log) : log_(log) {}
  void OnReplaceBegin() override { log_.push_back("replace"); }
  void OnUpsert(const api::ObjectKey& key, api::Node node) override {
    log_.push_back("upsert " + api::Show(key) + " " + node.meta.uid);
  }
  void OnUndecodable(const api::ObjectKey& key, const nlohmann::json& object,
                     const std::string& why) override {
    log_.push_back("undecodable " + api::Show(key) + " " + object.at("metadata").dump() + " " +
                   why);
  }
  void OnDelete(const api::Deletion& gone) override {
    log_.push_back("delete " + api::Show(gone.key) + " " + gone.uid + "@" + gone.version);
  }
  void OnSynced(const std::string& version) override { log_.push_back("synced " + version); }
  std::vector<api::ObjectKey> HeldUpTo(const std::string& version) override {
    return version == held_at ? held : std::vector<api::ObjectKey>();
  }
  std::string held_at;
  std::vector<api::ObjectKey> held;

 private:
  Log& log_;
};

std::string Line(const std::string& type, const std::string& name, const std::string& version) {
  return R"({"type":")" + type + R"(","object":{"kind":"Node","metadata":{"name":")" + name +
         R"(","uid":"u)" + version + R"(","resourceVersion":")" + version + "\"}}}\n";
}
std::string Bookmark(const std::string& version) {
  return R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" + version + "\"}}}\n";
}
std::string ListEnd(const std::string& version) {
  return R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" + version +
         R"(","annotations":{"k8s.io/initial-events-end":"true"}}}})" + "\n";
}
std::string GoneLine() {
  return R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}})"
         "\n";
}

struct Case {
  const char* name;
  std::vector<Answer> script;
  Log want;  // up to the request that nobody answers
};

// The log of a run until the script is over.
Log RunScript(const std::vector<Answer>& script) {
  Log log;
  ScriptedServer server(log, script);
  LoggingSink typed(log);
  DecodingSink<api::Node> sink("nodes", api::DecodeNode, typed);
  Reflector::Options options;
  options.watch.path = "/api/v1/nodes";
  options.subject = manifest::Subject::kNode;
  options.hooks.on_failure = [&](const std::string& what) { log.push_back("! " + what); };
  options.hooks.on_restart = [&] { log.push_back("restart"); };
  options.timer = std::make_shared<FakeTimer>(log);
  Reflector reflector(server, sink, options);
  server.on_end = [&] { reflector.Cancel(); };
  reflector.Run();
  return log;
}

void Check(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(RunScript(c.script), c.want) << c.name;
}

TEST(Reflector, TellsOfAListAndOfWhatChangesAfterIt) {
  Check({
      {"a streamed list, then changes",
       {{200, {Line("ADDED", "a", "1") + Line("ADDED", "b", "2"), ListEnd("5")}},
        {200, {Line("MODIFIED", "a", "6"), Line("DELETED", "b", "7") + Line("ADDED", "c", "8")}}},
       {"GET list", "replace", "upsert a u1", "upsert b u2", "synced 5", "GET watch 5",
        "upsert a u6", "delete b u7@7", "upsert c u8", "GET watch 8"}},
      {"lines may be cut anywhere",
       {{200, {ListEnd("5")}},
        {200, {Line("ADDED", "a", "6").substr(0, 20), Line("ADDED", "a", "6").substr(20)}}},
       {"GET list", "replace", "synced 5", "GET watch 5", "upsert a u6", "GET watch 6"}},
      {"half a line at the end is dropped and comes again",
       {{200, {ListEnd("5")}},
        {200, {Line("ADDED", "a", "6"), Line("ADDED", "b", "7").substr(0, 30)}},
        {200, {Line("ADDED", "b", "7")}}},
       {"GET list", "replace", "synced 5", "GET watch 5", "upsert a u6", "GET watch 6",
        "upsert b u7", "GET watch 7"}},
      {"a bookmark moves on without a word",
       {{200, {ListEnd("5")}}, {200, {Bookmark("60")}}},
       {"GET list", "replace", "synced 5", "GET watch 5", "GET watch 60"}},
      {"what was never known may be known from elsewhere",
       {{200, {ListEnd("5")}}, {200, {Line("DELETED", "a", "6")}}},
       {"GET list", "replace", "synced 5", "GET watch 5", "delete a u6@6", "GET watch 6"}},
  });
}

TEST(Reflector, DeletesWhatANewListDoesNotShow) {
  Check({
      {"deletions in the gap before a streamed list",
       {{200, {Line("ADDED", "a", "1") + Line("ADDED", "b", "2") + ListEnd("5")}},
        {410, {R"({"message":"too old resource version"})"}},
        {200, {Line("ADDED", "b", "2") + Line("ADDED", "c", "8") + ListEnd("9")}}},
       {"GET list", "replace", "upsert a u1", "upsert b u2", "synced 5", "GET watch 5",
        "! watch of /api/v1/nodes: too old resource version", "wait", "restart", "GET list",
        "replace", "upsert b u2", "upsert c u8", "delete a @9", "synced 9", "GET watch 9"}},
      {"a list that breaks off deletes nothing",
       {{200, {Line("ADDED", "a", "1") + Line("ADDED", "b", "2") + ListEnd("5")}},
        {200, {GoneLine()}},
        {0, {Line("ADDED", "b", "2")}},
        {200, {Line("ADDED", "a", "1") + Line("ADDED", "b", "2") + ListEnd("9")}}},
       {"GET list",
        "replace",
        "upsert a u1",
        "upsert b u2",
        "synced 5",
        "GET watch 5",
        "! watch of /api/v1/nodes: too old",
        "wait",
        "restart",
        "GET list",
        "replace",
        "upsert b u2",
        "! watch of /api/v1/nodes: connection refused",
        "wait",
        "restart",
        "GET list",
        "replace",
        "upsert a u1",
        "upsert b u2",
        "synced 9",
        "GET watch 9"}},
      {"an empty answer deletes nothing",
       {{200, {Line("ADDED", "a", "1") + ListEnd("5")}},
        {200, {GoneLine()}},
        {200, {}},
        {200, {ListEnd("9")}}},
       {"GET list", "replace", "upsert a u1", "synced 5", "GET watch 5",
        "! watch of /api/v1/nodes: too old", "wait", "restart", "GET list",
        "! watch of /api/v1/nodes: the answer ended too early", "wait", "restart", "GET list",
        "replace", "delete a @9", "synced 9", "GET watch 9"}},
  });
}

TEST(Reflector, ListsByPages) {
  Check({
      {"a page that fails is read again; the next list deletes",
       {{422, {R"({"message":"sendInitialEvents is forbidden"})"}},
        {200,
         {R"({"metadata":{"resourceVersion":"5","continue":"t"},"items":[)"
          R"({"metadata":{"name":"a","uid":"u1"}}]})"}},
        {503, {""}},
        {200,
         {R"({"metadata":{"resourceVersion":"5"},"items":[)"
          R"({"metadata":{"name":"b","uid":"u2"}}]})"}},
        {200, {GoneLine()}},
        {200,
         {R"({"metadata":{"resourceVersion":"9"},"items":[)"
          R"({"metadata":{"name":"b","uid":"u2"}}]})"}}},
       {"GET list",
        "GET page",
        "replace",
        "upsert a u1",
        "GET page",
        "! watch of /api/v1/nodes: the API server answered 503",
        "wait",
        "restart",
        "GET page",
        "upsert b u2",
        "synced 5",
        "GET watch 5",
        "! watch of /api/v1/nodes: too old",
        "wait",
        "restart",
        "GET page",
        "replace",
        "upsert b u2",
        "delete a @9",
        "synced 9",
        "GET watch 9"}},
  });
}

// Created by us, and deleted by somebody else while the watch was down.
TEST(Reflector, DeletesWhatOnlyTheSinkKnewOf) {
  Log log;
  ScriptedServer server(log, {{200, {Line("ADDED", "a", "1") + ListEnd("5")}}});
  LoggingSink typed(log);
  typed.held_at = "5";
  typed.held = {{"", "a"}, {"", "ours"}};
  DecodingSink<api::Node> sink("nodes", api::DecodeNode, typed);
  Reflector::Options options;
  options.watch.path = "/api/v1/nodes";
  options.timer = std::make_shared<FakeTimer>(log);
  Reflector reflector(server, sink, options);
  server.on_end = [&] { reflector.Cancel(); };
  reflector.Run();
  EXPECT_EQ(log, (Log{"GET list", "replace", "upsert a u1", "delete ours @5", "synced 5",
                      "GET watch 5"}));
}

TEST(Reflector, LosesNoObjectSilently) {
  Check({
      {"one that cannot be decoded, now or later, until it is deleted",
       {{200,
         {R"({"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"},)"
          R"("spec":{"taints":7}}})"
          "\n" +
          ListEnd("5")}},
        {200, {Line("MODIFIED", "a", "6"), Line("DELETED", "a", "7")}}},
       {"GET list", "replace",
        R"(undecodable a {"name":"a","resourceVersion":"1"} nodes: a: spec.taints: 7 must be a list)",
        "synced 5", "GET watch 5", "upsert a u6", "delete a u7@7", "GET watch 7"}},
      {"one that our guards refuse",
       {{200,
         {R"({"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"},)"
          R"("spec":{"taints":[{"key":"\u0000"}]}}})"
          "\n" +
          Line("ADDED", "b", "2") + ListEnd("5")}}},
       {"GET list", "replace",
        R"(undecodable a {"name":"a","resourceVersion":"1"} watch event: line 1: a \u escape of )"
        R"(NUL or of half a character)",
        "upsert b u2", "synced 5", "GET watch 5"}},
      {"a stream that is no JSON is read anew",
       {{200, {ListEnd("5")}}, {200, {"<html>\n"}}},
       {"GET list", "replace", "synced 5", "GET watch 5",
        "! watch of /api/v1/nodes: watch event: line 1: not JSON: Invalid value.", "wait",
        "restart", "GET list"}},
  });
}

TEST(Reflector, KnowsHowOldItsCopyIs) {
  Log log;
  auto timer = std::make_shared<FakeTimer>(log);
  ScriptedServer server(log, {{200, {ListEnd("5")}}});
  LoggingSink typed(log);
  DecodingSink<api::Node> sink("nodes", api::DecodeNode, typed);
  Reflector::Options options;
  options.watch.path = "/api/v1/nodes";
  options.timer = timer;
  timer->Pass(Millis(1'000));
  Reflector reflector(server, sink, options);
  EXPECT_FALSE(reflector.synced());
  timer->Pass(Millis(3'000));
  EXPECT_EQ(reflector.Staleness(), Millis(3'000));
  server.on_end = [&] { reflector.Cancel(); };
  reflector.Run();
  EXPECT_TRUE(reflector.synced());
  EXPECT_EQ(reflector.Staleness(), Millis(0));
  timer->Pass(Millis(31'000));
  EXPECT_EQ(reflector.Staleness(), Millis(31'000));
}

// A watch of a quiet resource carries nothing for as long as it lasts.
TEST(Reflector, TakesTheProperEndOfASilentWatchForAnAnswer) {
  Log log;
  auto timer = std::make_shared<FakeTimer>(log);
  ScriptedServer server(log, {{200, {ListEnd("5")}}, {200, {}}, {0, {}}});
  LoggingSink typed(log);
  DecodingSink<api::Node> sink("nodes", api::DecodeNode, typed);
  Reflector::Options options;
  options.watch.path = "/api/v1/nodes";
  options.timer = timer;
  Reflector reflector(server, sink, options);
  std::vector<Millis> staleness;
  server.on_request = [&] {
    staleness.push_back(reflector.Staleness());
    timer->Pass(Millis(20'000));
  };
  server.on_end = [&] { reflector.Cancel(); };
  reflector.Run();
  ASSERT_EQ(staleness.size(), 4U);
  EXPECT_EQ(staleness[1], Millis(0)) << "behind the list";
  EXPECT_EQ(staleness[2], Millis(0)) << "behind the silent watch";
  EXPECT_GE(staleness[3], Millis(20'000)) << "behind the one that broke";
}

// A server that never says anything.
class SilentServer : public Transport {
 public:
  Result<Response> Send(const Request&) override { return Error{ErrorKind::kTransient, "no"}; }
  Result<Response> Stream(const Request&, const ChunkSink&, const Cancel& cancel) override {
    asked_ = true;
    asked_.notify_all();
    while (!cancel) std::this_thread::yield();
    return Error{ErrorKind::kTransient, "cancelled"};
  }
  void AwaitRequest() { asked_.wait(false); }

 private:
  std::atomic<bool> asked_{false};
};

TEST(Reflector, StopsInTheMiddleOfAStream) {
  Log log;
  SilentServer server;
  LoggingSink typed(log);
  DecodingSink<api::Node> sink("nodes", api::DecodeNode, typed);
  Reflector::Options options;
  options.watch.path = "/api/v1/nodes";
  options.hooks.on_failure = [&](const std::string& what) { log.push_back(what); };
  Reflector reflector(server, sink, options);
  reflector.Start();
  server.AwaitRequest();
  reflector.Stop();
  EXPECT_EQ(log, Log());
}

TEST(Reflector, StopsInTheMiddleOfAWait) {
  Log log;
  ScriptedServer server(log, {{0, {}}, {0, {}}, {0, {}}});
  LoggingSink typed(log);
  DecodingSink<api::Node> sink("nodes", api::DecodeNode, typed);
  Reflector::Options options;
  options.watch.path = "/api/v1/nodes";
  options.watch.backoff.first = std::chrono::hours(1);
  options.watch.backoff.longest = std::chrono::hours(1);
  std::atomic<bool> failed{false};
  options.hooks.on_failure = [&](const std::string&) {
    failed = true;
    failed.notify_all();
  };
  Reflector reflector(server, sink, options);
  reflector.Start();
  failed.wait(false);
  reflector.Stop();
  EXPECT_EQ(log, (Log{"GET list"}));
}

}  // namespace
}  // namespace weft::kube
