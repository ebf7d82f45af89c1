#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "operator/base/random.h"
#include "operator/kube/lease.h"
#include "operator/kube/transport.h"

namespace weft::kube {

// Takes part in an election and keeps the lease renewed. lease.h says how the election works.
//
// Requests go to the transport directly: no client-side limit of other writes may cost the lead.
// A leader's request takes no longer than its lead lasts.
// Thread-safety  Start and Stop from one thread; the others from any.
class LeaseKeeper {
 public:
  // Callbacks from the keeper's thread; each may be empty.
  struct Hooks {
    std::function<void()> on_started;  // leads from now on
    // Leads no more, at the latest when the lead ends. On Stop the lease is given back after this
    // has returned: writes end here.
    std::function<void()> on_stopped;
    std::function<void(const std::string& what)> on_failure;  // a sentence for the log
  };
  struct Options {
    std::string space, name;  // of the Lease
    std::string identity;     // unique to this process: a pod's name and a random number
    LeaseTimes times;
    Hooks hooks;
    std::uint64_t seed = 0;
    std::shared_ptr<Timer> timer = std::make_shared<SystemTimer>();  // its own: Stop ends it
  };
  // `transport` outlives the keeper.
  LeaseKeeper(Transport& transport, Options options);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  void Start();
  // Gives the lease back if it is held. Returns within a few seconds, and what on_stopped takes.
  void Stop();
  // Runs in the caller's thread until Cancel.
  void Run();
  void Cancel();

  // True is good for this moment.
  bool IsLeader() const;
  // A leader's writes end then, unless the lease is renewed before (Request::until); long ago
  // where this process does not lead.
  Instant leads_until() const { return Instant(Instant::duration(leads_until_.load())); }

 private:
  void Round();
  void Read();
  void Write(const Election::Action& action);
  void GiveBack();
  void Publish();
  void Step(bool leads);
  void Fail(const std::string& what);
  Request NewRequest(Method method) const;
  Millis Pause();

  Transport& transport_;
  const Options options_;
  Election election_;
  SplitMix64 random_;
  nlohmann::json object_;  // the Lease as it was read or written last
  bool leading_ = false;   // last state passed to the hooks
  std::atomic<bool> cancel_{false};
  std::atomic<Instant::rep> leads_until_;
  std::thread thread_;
};

}  // namespace weft::kube
