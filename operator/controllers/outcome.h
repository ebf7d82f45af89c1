#pragma once

#include <cstdint>
#include <optional>

namespace weft::controllers {

// What remains to do after a reconcile.
struct Outcome {
  bool again = false;                   // the next step may follow at once
  std::optional<std::int64_t> seconds;  // look again at the latest then
};

}  // namespace weft::controllers
