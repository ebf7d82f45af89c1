#pragma once

#include <cstdint>
#include <optional>

namespace weft::controllers {

// When to reconcile again.
struct Outcome {
  bool again = false;                   // at once: the next step may follow
  std::optional<std::int64_t> seconds;  // after at most this many seconds
};

}  // namespace weft::controllers
