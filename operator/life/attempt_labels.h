#pragma once

#include <cstdint>
#include <optional>

#include "operator/api/meta.h"

namespace weft::life {

// The attempt in the label of a pod or Placement; nothing if it has no such label.
std::optional<std::int64_t> AttemptLabel(const api::ObjectMeta& meta);
std::optional<std::uint32_t> WorkerLabel(const api::ObjectMeta& meta);

}  // namespace weft::life
