#pragma once

#include <chrono>
#include <cstdint>

#include "operator/base/timestamp.h"

namespace weft::run {

// A clock that never goes back and also counts the time while the machine sleeps.
struct BootClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock>;
  static constexpr bool is_steady = true;
  static time_point now();
};
using Instant = BootClock::time_point;
using Millis = std::chrono::milliseconds;
// Microseconds since 1970, for times that are written into objects and never compared.
using WallMicros = std::int64_t;

// What time it is. A test hands in a clock of its own.
// Thread-safety  all calls may run at once.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant Now() const = 0;
  virtual WallMicros Wall() const = 0;
  // Wall in whole seconds.
  UnixSeconds Seconds() const;
};

}  // namespace weft::run
