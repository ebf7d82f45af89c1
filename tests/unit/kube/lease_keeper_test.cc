#include "operator/kube/lease_keeper.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

namespace weft::kube {
namespace {

using Log = std::vector<std::string>;
using Json = nlohmann::json;

// Time that passes only where somebody waits, or where a server is slow.
class FakeTimer : public Timer {
 public:
  Instant Now() const override { return now_; }
  WallMicros Wall() const override {
    return std::chrono::duration_cast<std::chrono::microseconds>(now_.time_since_epoch()).count();
  }
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

// One Lease behind an API server. `script` says what happens to the next requests; behind its end
// whoever asks is cancelled:
//   ok      as it should be            lost    served, but the answer is lost; takes as long as
//   down    not served, at once                 the request allows
//   hung    not served; as long as the request allows      conflict   somebody else wrote before
class LeaseServer : public Transport {
 public:
  LeaseServer(Log& log, FakeTimer& timer, const std::vector<std::string>& script)
      : log_(log), timer_(timer), script_(script.begin(), script.end()) {}

  Result<Response> Send(const Request& request) override {
    std::string what = "ok";
    if (script_.empty()) {
      on_end();
    } else {
      what = script_.front();
      script_.pop_front();
    }
    log_.push_back(Show(request) + (what == "ok" ? "" : " " + what));
    if (what == "conflict") Count();
    const Response response = what == "down" || what == "hung" ? Response{} : Serve(request);
    if (what == "ok" || what == "conflict") return response;
    if (what != "down") timer_.Pass(request.timeout);
    return Error{ErrorKind::kTransient, "no answer"};
  }
  Result<Response> Stream(const Request&, const ChunkSink&, const Cancel&) override {
    return Error{ErrorKind::kInvalid, "not here"};
  }

  void HoldFor(const std::string& holder) {
    lease_ = Json{{"metadata", {{"name", "weft-operator"}}},
                  {"spec", {{"holderIdentity", holder}, {"leaseDurationSeconds", 15}}}};
    Count();
  }
  const Json& lease() const { return lease_; }
  std::function<void()> on_end;

 private:
  static std::string Show(const Request& request) {
    EXPECT_TRUE(request.path.starts_with("/apis/coordination.k8s.io/v1/namespaces/weft/leases"));
    if (request.method == Method::kGet) return "GET";
    const Json body = Json::parse(request.body);
    return (request.method == Method::kPost ? "POST " : "PUT ") +
           body["spec"]["holderIdentity"].get<std::string>();
  }
  void Count() { lease_["metadata"]["resourceVersion"] = std::to_string(++version_); }

  Response Serve(const Request& request) {
    if (request.method == Method::kGet) {
      return lease_.empty() ? Response{404, {}, "{}"} : Response{200, {}, lease_.dump()};
    }
    const Json body = Json::parse(request.body);
    const bool creates = request.method == Method::kPost;
    const bool fits =
        creates ? lease_.empty()
                : body["metadata"]["resourceVersion"] == lease_["metadata"]["resourceVersion"];
    if (!fits) return {409, {}, R"({"message":"the object has been modified"})"};
    lease_ = body;
    Count();
    return {creates ? 201 : 200, {}, lease_.dump()};
  }

  Log& log_;
  FakeTimer& timer_;
  std::deque<std::string> script_;
  Json lease_;
  int version_ = 0;
};

struct Case {
  const char* name;
  std::string holder;  // at the start; "-": there is no lease
  std::vector<std::string> script;
  Log want;
  std::string holder_after;
};

// Runs a keeper called "me" until the script is over.
std::pair<Log, std::string> RunScript(const Case& c) {
  Log log;
  auto timer = std::make_shared<FakeTimer>();
  LeaseServer server(log, *timer, c.script);
  if (c.holder != "-") server.HoldFor(c.holder);
  LeaseKeeper::Options options;
  options.space = "weft";
  options.name = "weft-operator";
  options.identity = "me";
  options.hooks.on_started = [&] { log.push_back("started"); };
  options.hooks.on_stopped = [&] {
    const auto now = std::chrono::duration_cast<std::chrono::seconds>(timer->Now() - Instant());
    log.push_back("stopped at " + std::to_string(now.count()) + " s");
  };
  options.timer = timer;
  LeaseKeeper keeper(server, options);
  server.on_end = [&] { keeper.Cancel(); };
  keeper.Run();
  EXPECT_FALSE(keeper.IsLeader()) << c.name;
  return {log, server.lease()["spec"]["holderIdentity"].get<std::string>()};
}

TEST(LeaseKeeper, LeadsAndStopsInTime) {
  const Case cases[] = {
      {"creates the lease, renews it without reading, gives it back behind its last word",
       "-",
       {"ok", "ok", "ok", "ok"},
       {"GET", "POST me", "started", "PUT me", "PUT me", "PUT me", "stopped at 6 s", "PUT "},
       ""},
      {"takes over what was given back",
       "",
       {"ok", "ok"},
       {"GET", "PUT me", "started", "PUT me", "stopped at 2 s", "PUT "},
       ""},
      {"waits while another holds it, and leaves it alone at the end",
       "other",
       {"ok", "ok"},
       {"GET", "GET", "GET"},
       "other"},
      {"steps down in time when nobody answers",
       "-",
       {"ok", "ok", "down", "down", "down", "down", "down"},
       {"GET", "POST me", "started", "PUT me down", "GET down", "GET down", "GET down",
        "stopped at 10 s", "GET down", "GET", "PUT "},
       ""},
      {"steps down in time when the server hangs",
       "-",
       {"ok", "ok", "hung", "hung", "hung"},
       {"GET", "POST me", "started", "PUT me hung", "GET hung", "stopped at 10 s", "GET hung",
        "GET", "PUT "},
       ""},
      {"a write whose answer is lost is read back and still ours",
       "-",
       {"ok", "ok", "lost", "ok", "ok"},
       {"GET", "POST me", "started", "PUT me lost", "GET", "PUT me", "PUT me", "stopped at 11 s",
        "PUT "},
       ""},
      {"an annotation by somebody else is no loss",
       "-",
       {"ok", "ok", "conflict", "ok", "ok"},
       {"GET", "POST me", "started", "PUT me conflict", "GET", "PUT me", "PUT me", "stopped at 6 s",
        "PUT "},
       ""},
      {"gives back what it can when the first try is refused",
       "-",
       {"ok", "ok", "conflict"},
       {"GET", "POST me", "started", "PUT me conflict", "GET", "stopped at 4 s", "PUT "},
       ""},
  };
  for (const Case& c : cases) {
    const auto [log, holder] = RunScript(c);
    EXPECT_EQ(log, c.want) << c.name;
    EXPECT_EQ(holder, c.holder_after) << c.name;
  }
}

TEST(LeaseKeeper, StopsItsThread) {
  Log log;
  auto timer = std::make_shared<FakeTimer>();
  LeaseServer server(log, *timer, std::vector<std::string>(100, "down"));
  LeaseKeeper::Options options;
  options.space = "weft";
  options.name = "weft-operator";
  options.identity = "me";
  options.times.retry = std::chrono::hours(1);
  std::atomic<bool> failed{false};
  options.hooks.on_failure = [&](const std::string& what) {
    EXPECT_EQ(what, "lease weft/weft-operator: no answer");
    failed = true;
    failed.notify_all();
  };
  LeaseKeeper keeper(server, options);
  keeper.Start();
  failed.wait(false);
  keeper.Stop();
  EXPECT_EQ(log, Log{"GET down"});
}

}  // namespace
}  // namespace weft::kube
