#pragma once

#include <cstdint>
#include <mutex>
#include <optional>

#include "operator/run/clock.h"

namespace weft::kube {

// The API server's time, for everything that is compared with times in objects: the machines of
// replicas may be wrong by hours, and a clock that jumps would end every deadline at once.
//
// It follows the Dates of answers until Keep, and counts on with the machine's BootClock, which
// never jumps. One Date that differs is another server behind the same address; two that agree are
// believed. After Keep the clock goes at most a tenth faster or slower towards them, so that no
// deadline of a leader ends early, and a machine that was paused comes back to the time. Where no
// answer has a Date, it begins with the machine's clock.
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
  mutable std::mutex mutex_;
  bool kept_ = false;
  // Its time less BootMillis, in milliseconds; nothing: the machine's clock counts.
  std::optional<std::int64_t> since_boot_;
  // The same of the last Date, and when that was heard.
  std::int64_t last_ = 0, heard_ = 0;
};

}  // namespace weft::kube
