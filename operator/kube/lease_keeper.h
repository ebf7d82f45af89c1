#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "operator/base/random.h"
#include "operator/kube/lease.h"
#include "operator/kube/transport.h"

namespace weft::kube {

// Takes part in a leader election and keeps the Lease renewed. lease.h describes the election.
//
// Requests go directly to the transport, so that the client's rate limit for other writes cannot
// delay a renewal. A leader's request ends when its leadership ends.
// Thread-safety  Start and Stop from one thread; the others from any.
class LeaseKeeper {
 public:
  // Callbacks, called in the keeper's thread; each may be empty.
  struct Hooks {
    std::function<void()> on_started;  // this process leads from now on
    // This process leads no more; called at the latest when its leadership ends. All writes must
    // have ended when it returns: on Stop, the Lease is released after that.
    std::function<void()> on_stopped;
    std::function<void(const std::string& what)> on_failure;  // a sentence for the log
  };
  struct Options {
    std::string space, name;  // of the Lease
    std::string identity;     // unique to this process: a pod's name and a random number
    LeaseTimes times;
    Hooks hooks;
    std::uint64_t seed = 0;
    run::Executor* executor = &run::SystemExecutor();                // of its thread
    std::shared_ptr<Timer> timer = std::make_shared<SystemTimer>();  // not shared: Stop ends it
  };
  // `transport` must outlive the keeper.
  LeaseKeeper(Transport& transport, Options options);
  ~LeaseKeeper();
  LeaseKeeper(const LeaseKeeper&) = delete;
  LeaseKeeper& operator=(const LeaseKeeper&) = delete;

  void Start();
  // Releases the Lease if this process holds it. Returns within a few seconds plus the time of
  // on_stopped.
  void Stop();
  // Runs in the caller's thread until Cancel.
  void Run();
  void Cancel();

  // Whether this process leads; true holds only for this moment.
  bool IsLeader() const;
  // When a leader's writes end, unless the Lease is renewed before (Request::until); a time long
  // ago if this process does not lead.
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
  nlohmann::json object_;  // the Lease as last read or written
  bool leading_ = false;   // last state passed to the hooks
  std::atomic<bool> cancel_{false};
  std::atomic<Instant::rep> leads_until_;
  std::unique_ptr<run::Thread> thread_;
};

}  // namespace weft::kube
