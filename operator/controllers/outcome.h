#pragma once

#include <cstdint>
#include <optional>

namespace weft::controllers {

// When to reconcile again.
struct Outcome {
  bool again = false;                   // at once: the next step may follow
  bool waits = false;                   // nothing was written: the object may rest
  std::optional<std::int64_t> seconds;  // after at most this many seconds
};

inline constexpr Outcome kAgain{.again = true, .seconds = std::nullopt};
// A batch was cut (parallel.h): at once, but behind the objects that wait.
inline constexpr Outcome kNextSlice{.seconds = 0};

}  // namespace weft::controllers
