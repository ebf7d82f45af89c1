#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "operator/base/random.h"
#include "operator/kube/transport.h"
#include "tests/world/api_server.h"
#include "tests/world/fibers.h"

namespace weft::world {

// What happens to requests and watches now. Faults change it for a while. Chances are in a
// thousand.
struct Weather {
  Millis most_delay{8};                // of a request, each way
  Millis most_lag{20};                 // of an event of a watch
  std::map<std::string, Millis> late;  // more lag of a resource's watches
  unsigned lost = 0;                   // requests that never arrive
  unsigned unanswered = 0;             // requests whose answer is lost
  unsigned busy = 0;                   // requests that get 429, 500, 503 or 504
  unsigned cut_watches = 0;            // events after which the watch breaks
  // A webhook of creates of this resource in this namespace hangs for so long, and then fails.
  struct Hang {
    std::string resource, space;  // "": none
    Millis time{0};
  } hang;
  bool down = false;        // no API server
  bool no_watches = false;  // it answers requests, but all watches break

  // Whether a request may fail.
  bool IsStormy() const {
    return down || lost > 0 || unanswered > 0 || busy > 0 || most_delay > Millis(1'000);
  }
};

// The watches that are open: each change becomes visible in them after a lag of their own.
class OpenWatches {
 public:
  struct One {
    std::string resource;
    Fiber* fiber = nullptr;  // parked in it; null: not now
    std::uint64_t visible = 0;
    Instant last{};  // when the last change became visible
  };
  OpenWatches(Fibers& fibers, const Weather& weather, std::uint64_t seed)
      : fibers_(fibers), weather_(weather), chance_(seed) {}
  std::shared_ptr<One> Add(const std::string& resource, std::uint64_t version);
  void OnChange(const Change& change);
  // Of which anybody has had a watch.
  std::vector<std::string> Resources() const;

 private:
  Fibers& fibers_;
  const Weather& weather_;
  SplitMix64 chance_;
  std::map<std::string, std::vector<std::weak_ptr<One>>> open_;
};

// A request as the laws see it.
struct Sent {
  const kube::Request& request;
  const kube::Response& answer;
  std::string machine;
};

// The network between one process and the API server.
class Wire final : public kube::Transport {
 public:
  struct World {
    Fibers& fibers;
    ApiServer& server;
    const Weather& weather;
    OpenWatches& watches;
    std::function<void(const Sent& sent)> on_sent;  // when the API server has answered
    std::function<std::int64_t()> date;  // that its answers have; null: a proxy takes it off
  };
  // `user`: whose rights its requests have; `name`: of the process.
  // `on_date`: as of kube::MakeHttpTransport.
  Wire(World world, std::string name, std::string user, std::uint64_t seed,
       std::function<void(std::int64_t)> on_date = nullptr)
      : world_(std::move(world)),
        name_(std::move(name)),
        user_(std::move(user)),
        on_date_(std::move(on_date)),
        chance_(seed) {}

  Result<kube::Response> Send(const kube::Request& request) override;
  Result<kube::Response> Stream(const kube::Request& request, const kube::ChunkSink& sink,
                                const kube::Cancel& cancel) override;

  // Nothing gets through any more: for the others its process is dead.
  void Kill();
  void SetCut(bool cut) { cut_ = cut; }  // neither requests nor answers get through
  // Streams look at their `cancel` every fifth of a second from now on.
  void SetImpatient();
  // Streams look at the weather.
  void WakeStreams();

 private:
  // Waits; false if the request must break off.
  bool Wait(const kube::Request& request, Instant::duration time, Instant deadline);
  struct Flight;
  std::shared_ptr<Flight> Launch(const kube::Request& request, Instant::duration delay);
  Result<kube::Response> NoAnswer(const kube::Request& request, Instant deadline);
  Result<kube::Response> Follow(const kube::Request& request, const kube::ChunkSink& sink,
                                const kube::Cancel& cancel, WatchStream& stream);
  bool Chance(unsigned thousandths) { return chance_.Below(1'000) < thousandths; }
  Instant::duration Delay();

  const World world_;
  const std::string name_, user_;
  const std::function<void(std::int64_t)> on_date_;
  SplitMix64 chance_;
  bool cut_ = false, dead_ = false, impatient_ = false;
  std::vector<Fiber*> streams_;
};

// "/apis/weft.dev/v1alpha1/namespaces/a/trainingjobs" -> "trainingjobs.weft.dev".
std::string ResourceOf(const std::string& path);

}  // namespace weft::world
