#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace weft {

// "No" as an answer. It is a value and not an Error (result.h): the same question is asked again
// when the cluster changes. The solver's own is placement::Unplaceable, which has the numbers.
struct Refusal {
  std::string reason;   // a condition's reason: "RequiredLevel", "FabricAmbiguous", ...
  std::string message;  // sentences: what is short, by how much, what would help
  bool ever = true;     // false: waiting cannot help
  // When it ends by time alone; absent: only a change ends it.
  std::optional<std::int64_t> ends_in_seconds = {};
};

}  // namespace weft
