#include "tests/world/wire.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace weft::world {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};  // at Request::until
constexpr kube::Millis kMicro{1};

// When a watch gets bookmarks.
// Source  k8s.io/apiserver 1.37, pkg/storage/cacher/cache_watcher.go, nextBookmarkTime
constexpr std::chrono::seconds kBetweenBookmarks{60}, kBookmarkBeforeEnd{2};

Instant NextBookmark(Instant now, Instant end) {
  const Instant before_end = end - kBookmarkBeforeEnd;
  const Instant next = now + kBetweenBookmarks;
  return now < before_end ? std::min(next, before_end) : next;
}

Error Broken(const char* what) { return {ErrorKind::kTransient, what}; }

// How an overloaded API server, or a proxy before it, answers.
kube::Response Busy(SplitMix64& chance) {
  static constexpr int kCodes[] = {429, 500, 503, 504};
  const int code = kCodes[chance.Below(std::size(kCodes))];
  kube::Response answer = StatusAnswer(code, "Busy", "the server is busy");
  if (chance.Below(2) == 0) answer.retry_after = std::chrono::seconds(1 + chance.Below(3));
  return answer;
}

bool Hangs(const Weather::Hang& hang, const kube::Request& request) {
  return !hang.resource.empty() && request.method == kube::Method::kPost &&
         ResourceOf(request.path) == hang.resource &&
         request.path.find("/namespaces/" + hang.space + "/") != std::string::npos &&
         !request.path.ends_with("/eviction");
}

}  // namespace

std::string ResourceOf(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 1; at <= path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    parts.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  const bool core = !parts.empty() && parts[0] == "api";
  std::size_t next = core ? 2 : 3;
  const std::string group = core || parts.size() < 2 ? "" : "." + parts[1];
  if (parts.size() > next + 2 && parts[next] == "namespaces") next += 2;
  return next < parts.size() ? parts[next] + group : "";
}

std::shared_ptr<OpenWatches::One> OpenWatches::Add(const std::string& resource,
                                                   std::uint64_t version) {
  auto one = std::make_shared<One>();
  one->resource = resource;
  one->visible = version;
  one->last = fibers_.now();
  auto& open = open_[resource];
  std::erase_if(open, [](const auto& other) { return other.expired(); });
  open.push_back(one);
  return one;
}

void OpenWatches::OnChange(const Change& change) {
  const auto found = open_.find(change.resource);
  if (found == open_.end()) return;
  for (const std::weak_ptr<One>& open : found->second) {
    const std::shared_ptr<One> one = open.lock();
    if (!one) continue;
    Instant::duration lag =
        kMicro * (1 + chance_.Below(static_cast<std::uint64_t>(weather_.most_lag.count())));
    if (const auto late = weather_.late.find(change.resource); late != weather_.late.end()) {
      lag += late->second;
    }
    one->last = std::max(one->last, fibers_.now() + lag);
    fibers_.At(one->last, [this, open, version = change.version] {
      const std::shared_ptr<One> seen = open.lock();
      if (!seen) return;
      seen->visible = std::max(seen->visible, version);
      if (seen->fiber != nullptr) fibers_.Wake(seen->fiber);
    });
  }
}

std::vector<std::string> OpenWatches::Resources() const {
  std::vector<std::string> all;
  for (const auto& [resource, watches] : open_) all.push_back(resource);
  return all;
}

Instant::duration Wire::Delay() {
  const auto most = static_cast<std::uint64_t>(world_.weather.most_delay.count());
  return std::chrono::microseconds(100 + chance_.Below(most * 1'000));
}

bool Wire::Wait(const kube::Request& request, Instant::duration time, Instant deadline) {
  const Instant end = std::min(world_.fibers.now() + time, deadline);
  while (world_.fibers.now() < end) {
    const Instant look = request.until ? world_.fibers.now() + kBetweenLooks : end;
    world_.fibers.Park(std::min(end, look));
    if (dead_ || (request.until && request.until() <= world_.fibers.now())) return false;
  }
  return !dead_ && world_.fibers.now() < deadline;
}

// Waits for an answer that does not come.
Result<kube::Response> Wire::NoAnswer(const kube::Request& request, Instant deadline) {
  Wait(request, deadline - world_.fibers.now(), deadline);
  return Broken("no answer");
}

// A request that has left: it arrives whatever becomes of the process that has sent it.
struct Wire::Flight {
  kube::Request request;
  std::optional<kube::Response> answer;  // nothing: connection refused
  Instant until{};                       // a webhook hangs until then
  std::optional<std::int64_t> date;
};

std::shared_ptr<Wire::Flight> Wire::Launch(const kube::Request& request, Instant::duration delay) {
  auto flight = std::make_shared<Flight>();
  flight->request = request;
  flight->request.until = nullptr;
  const std::uint64_t draw = chance_.Below(1'000), seed = chance_.Next();
  world_.fibers.After(delay, [flight, draw, seed, world = world_, user = user_, name = name_] {
    if (world.weather.down) return;
    if (draw < world.weather.busy) {
      SplitMix64 chance(seed);
      flight->answer = Busy(chance);
      return;
    }
    if (Hangs(world.weather.hang, flight->request)) {
      flight->until = world.fibers.now() + world.weather.hang.time;
      flight->answer = StatusAnswer(500, "InternalError",
                                    "failed calling webhook \"policy.example.com\": context "
                                    "deadline exceeded");
    } else {
      flight->answer = world.server.Handle(flight->request, user);
      if (world.date) flight->date = world.date();
    }
    world.on_sent({flight->request, *flight->answer, name});
  });
  return flight;
}

Result<kube::Response> Wire::Send(const kube::Request& request) {
  if (!kube::MaySend(request, world_.fibers.now())) return kube::NotSent();
  const Instant deadline = world_.fibers.now() + request.timeout;
  if (dead_) return Broken("the process is dead");
  if (cut_ || Chance(world_.weather.lost)) return NoAnswer(request, deadline);
  const Instant::duration delay = Delay();
  const auto flight = Launch(request, delay);
  if (!Wait(request, delay, deadline)) return Broken("broken off");
  const Instant::duration hangs = flight->until - world_.fibers.now();
  if (hangs > Instant::duration::zero() && !Wait(request, hangs, deadline)) {
    return Broken("broken off");
  }
  if (!flight->answer) return Broken("connection refused");
  if (cut_ || Chance(world_.weather.unanswered)) return NoAnswer(request, deadline);
  if (!Wait(request, Delay(), deadline)) return Broken("broken off");
  if (on_date_ && flight->date && flight->answer->status / 100 == 2) on_date_(*flight->date);
  return *std::move(flight->answer);
}

Result<kube::Response> Wire::Stream(const kube::Request& request, const kube::ChunkSink& sink,
                                    const kube::Cancel& cancel) {
  if (!request.query.contains("watch")) {
    Result<kube::Response> answer = Send(request);
    if (!answer || answer->status / 100 != 2 || cancel) return answer;
    const std::string body = std::exchange(answer->body, "");
    sink(body);
    return answer;
  }
  const Instant deadline = world_.fibers.now() + request.timeout;
  if (dead_ || cancel) return Broken("the process is dead");
  if (cut_ || Chance(world_.weather.lost)) return NoAnswer(request, deadline);
  if (!Wait(request, Delay(), deadline)) return Broken("broken off");
  if (world_.weather.down || world_.weather.no_watches) return Broken("connection refused");
  if (Chance(world_.weather.busy)) return Busy(chance_);
  ApiServer::Opened opened = world_.server.Open(request, user_);
  world_.on_sent({request, opened.refusal, name_});
  if (!opened.stream) return opened.refusal;
  return Follow(request, sink, cancel, *opened.stream);
}

Result<kube::Response> Wire::Follow(const kube::Request& request, const kube::ChunkSink& sink,
                                    const kube::Cancel& cancel, WatchStream& stream) {
  Fibers& fibers = world_.fibers;
  const auto limit = request.query.find("timeoutSeconds");
  const Instant end =
      fibers.now() +
      std::chrono::seconds(limit == request.query.end() ? 1'800 : std::stoi(limit->second));
  const auto seen = world_.watches.Add(ResourceOf(request.path), world_.server.version());
  Instant heard = fibers.now();
  const auto allow = request.query.find("allowWatchBookmarks");
  const bool bookmarks = allow != request.query.end() && allow->second == "true";
  Instant next_bookmark = bookmarks ? NextBookmark(heard, end) : Instant::max();
  kube::Response ended;
  ended.status = 200;
  while (!cancel) {
    if (dead_) return Broken("the process is dead");
    if (fibers.now() - heard >= request.timeout) return Broken("silence");
    if (world_.weather.down || world_.weather.no_watches) return Broken("connection reset");
    if (!cut_) {
      const std::string news = stream.Take(seen->visible);
      if (!news.empty()) {
        heard = fibers.now();
        if (!sink(news)) return ended;
        if (Chance(world_.weather.cut_watches)) return Broken("connection reset");
        continue;
      }
      if (stream.ended()) return ended;
      if (fibers.now() >= end) return ended;
      if (fibers.now() >= next_bookmark) {
        heard = fibers.now();
        next_bookmark = NextBookmark(heard, end);
        if (!sink(stream.Bookmark(seen->visible))) return ended;
        continue;
      }
    }
    seen->fiber = fibers.current();
    streams_.push_back(fibers.current());
    Instant until = heard + request.timeout;
    if (!cut_) until = std::min({until, end, next_bookmark});
    if (impatient_) until = std::min(until, fibers.now() + kBetweenLooks);
    fibers.Park(until);
    std::erase(streams_, fibers.current());
    seen->fiber = nullptr;
  }
  return ended;
}

void Wire::Kill() {
  dead_ = true;
  WakeStreams();
}

void Wire::SetImpatient() {
  impatient_ = true;
  WakeStreams();
}

void Wire::WakeStreams() {
  for (Fiber* fiber : streams_) world_.fibers.Wake(fiber);
}

}  // namespace weft::world
