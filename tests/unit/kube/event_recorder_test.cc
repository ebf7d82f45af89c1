#include "operator/kube/event_recorder.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace weft::kube {
namespace {

using Log = std::vector<std::string>;

// Time that passes only where somebody waits.
class FakeTimer : public Timer {
 public:
  Instant Now() const override { return now_; }
  WallMicros Wall() const override { return 0; }
  bool Wait(Millis time) override {
    if (!ended_) now_ += time;
    return !ended_;
  }
  void End() override { ended_ = true; }
  void Pass(Millis time) { now_ += time; }

 private:
  Instant now_{};
  bool ended_ = false;
};

// Answers with these statuses, 0 for none, then cancels whoever asks and answers 201.
class EventServer : public Transport {
 public:
  explicit EventServer(std::vector<int> script) : script_(script.begin(), script.end()) {}

  Result<Response> Send(const Request& request) override {
    int status = 201;
    if (script_.empty()) {
      on_end();
    } else {
      status = script_.front();
      script_.pop_front();
    }
    const std::string verb = request.method == Method::kPost ? "POST " : "PATCH ";
    log.push_back(verb + std::to_string(status));
    if (slow != nullptr) slow->Pass(Millis{200});
    until = request.until();
    paths.push_back(request.path);
    types.push_back(request.content_type);
    if (status == 0) return Error{ErrorKind::kTransient, "no answer"};
    return Response{status, std::nullopt, R"({"message":"because"})"};
  }
  Result<Response> Stream(const Request&, const ChunkSink&, const Cancel&) override {
    return Error{ErrorKind::kInvalid, "not here"};
  }

  Log log, paths, types;
  std::function<void()> on_end = [] {};
  FakeTimer* slow = nullptr;  // each answer takes 200 ms of it
  Instant until;              // of the last request

 private:
  std::deque<int> script_;
};

EventNote Note(const std::string& note) {
  return {"weft.dev/v1alpha1", "TrainingJob", {"team-a", "llama"}, "u1", false, "R", "A", note};
}

struct Case {
  const char* name;
  std::vector<std::string> notes;
  std::vector<int> script;
  Log want;
  std::uint64_t dropped = 0;
};

TEST(EventRecorder, WhoMayNotWriteAnyMoreWritesNothing) {
  EventServer server({});
  EventRecorder::Options options;
  options.timer = std::make_shared<FakeTimer>();
  options.until = [] { return Instant::min(); };
  EventRecorder recorder(server, options);
  recorder.Record(Note("a"));
  recorder.Cancel();
  recorder.Run();
  EXPECT_EQ(server.log, Log());
  EXPECT_EQ(recorder.dropped(), 1U);
}

TEST(EventRecorder, WritesWhatItCan) {
  const Case cases[] = {
      {"two notes", {"a", "b"}, {201}, {"POST 201", "POST 201"}},
      {"the same twice", {"a", "a"}, {201}, {"POST 201", "PATCH 201"}},
      {"a create that exists already was ours", {"a", "b"}, {409}, {"POST 409", "POST 201"}},
      {"a server that is away for a while, in order",
       {"a", "a"},
       {0, 503, 429, 201},
       {"POST 0", "POST 503", "POST 429", "POST 201", "PATCH 201"}},
      {"one that nobody takes is dropped after five tries",
       {"a", "b"},
       {0, 0, 0, 0, 0},
       {"POST 0", "POST 0", "POST 0", "POST 0", "POST 0", "POST 201"},
       1},
      {"one that is refused is dropped at once", {"a", "b"}, {403}, {"POST 403", "POST 201"}, 1},
      {"counting an event that is gone is no loss",
       {"a", "a", "b"},
       {201, 404},
       {"POST 201", "PATCH 404", "POST 201"}},
      {"what does not fit into the queue is dropped",
       {"a", "b", "c", "d"},
       {201, 201},
       {"POST 201", "POST 201", "POST 201"},
       1},
  };
  for (const Case& c : cases) {
    EventServer server(c.script);
    EventRecorder::Options options;
    options.queue = 3;
    options.timer = std::make_shared<FakeTimer>();
    EventRecorder recorder(server, options);
    server.on_end = [&] { recorder.Cancel(); };
    for (const std::string& note : c.notes) recorder.Record(Note(note));
    recorder.Run();
    EXPECT_EQ(server.log, c.want) << c.name;
    EXPECT_EQ(recorder.dropped(), c.dropped) << c.name;
  }
}

TEST(EventRecorder, SpeaksTheServersLanguage) {
  EventServer server({201});
  EventRecorder::Options options;
  options.timer = std::make_shared<FakeTimer>();
  EventRecorder recorder(server, options);
  server.on_end = [&] { recorder.Cancel(); };
  recorder.Record(Note("a"));
  recorder.Record(Note("a"));
  recorder.Run();
  ASSERT_EQ(server.paths.size(), 2U);
  EXPECT_EQ(server.paths[0], "/apis/events.k8s.io/v1/namespaces/team-a/events");
  EXPECT_TRUE(server.paths[1].starts_with(server.paths[0] + "/llama."));
  EXPECT_EQ(server.types, (Log{"application/json", "application/merge-patch+json"}));
}

TEST(EventRecorder, WritesWhatIsLeftWhenItStops) {
  EventServer server(std::vector<int>(3, 201));
  EventRecorder recorder(server, {});
  for (const char* note : {"a", "b", "c"}) recorder.Record(Note(note));
  recorder.Start();
  recorder.Stop();
  EXPECT_EQ(server.log, (Log{"POST 201", "POST 201", "POST 201"}));
  EXPECT_EQ(recorder.dropped(), 0U);
}

TEST(EventRecorder, TakesHalfASecondAtTheMostWhenItStops) {
  EventServer server(std::vector<int>(30, 201));
  auto timer = std::make_shared<FakeTimer>();
  server.slow = timer.get();
  EventRecorder::Options options;
  options.timer = timer;
  EventRecorder recorder(server, options);
  for (const char* note : {"a", "b", "c", "d", "e"}) recorder.Record(Note(note));
  recorder.Cancel();
  recorder.Run();
  EXPECT_EQ(server.log, (Log{"POST 201", "POST 201", "POST 201"}));
  EXPECT_EQ(server.until, Instant{} + Millis{500});
  EXPECT_EQ(recorder.dropped(), 2U);
}

TEST(EventRecorder, DoesNotWaitForAServerThatIsGoneWhenItStops) {
  EventServer server(std::vector<int>(30, 0));
  EventRecorder::Options options;
  options.timer = std::make_shared<FakeTimer>();
  EventRecorder recorder(server, options);
  for (const char* note : {"a", "b", "c"}) recorder.Record(Note(note));
  recorder.Cancel();
  recorder.Run();
  EXPECT_EQ(server.log, (Log{"POST 0"}));
  EXPECT_EQ(recorder.dropped(), 3U);
}

}  // namespace
}  // namespace weft::kube
