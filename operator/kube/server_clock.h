#pragma once

#include <atomic>
#include <cstdint>

#include "operator/run/clock.h"

namespace weft::kube {

// The API server's time, for everything that is compared with times in objects: the machines of
// replicas may be wrong by hours, and a clock that jumps would end every deadline at once.
//
// It follows the Date of each answer until Keep, and then counts on with the machine's BootClock,
// which never jumps: neither the machine's clock nor the API server's moves the deadlines of a
// leader any more. Where no answer has a Date, it begins with the machine's clock.
// Thread-safety  all calls may run at once.
class ServerClock {
 public:
  explicit ServerClock(const run::Clock& machine) : machine_(machine) {}  // must outlive this

  // The Date of an answer whose head has just arrived.
  void Hear(UnixSeconds date);
  // To be called when this process begins to lead.
  void Keep();
  UnixSeconds Seconds() const;
  // How far the machine's clock is ahead of this one, in seconds.
  std::int64_t MachineIsAhead() const { return machine_.Seconds() - Seconds(); }

 private:
  std::int64_t BootMillis() const;

  const run::Clock& machine_;
  std::atomic<bool> heard_{false}, kept_{false};
  std::atomic<std::int64_t> since_boot_{0};  // its time less BootMillis, in milliseconds
};

}  // namespace weft::kube
