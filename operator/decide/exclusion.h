#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/api/kinds.h"
#include "operator/base/timestamp.h"

namespace weft::decide {

struct ExclusionTimes {
  std::int64_t first_seconds = 300;   // a node that refused is left out so long, doubling...
  std::int64_t most_seconds = 3'600;  // ...up to this
};

// Leaves the nodes out of the next attempts; each once, however often it is named. Entries that
// ended more than `most_seconds` ago are forgotten.
void Exclude(const std::vector<std::string>& nodes, const ExclusionTimes& times, UnixSeconds now,
             std::vector<api::ExcludedNode>& excluded);

// When the first of those that are left out at that time may be used again; nothing where none is.
std::optional<UnixSeconds> FirstReturn(const std::vector<api::ExcludedNode>& excluded,
                                       UnixSeconds now);

// Nodes that are left out at that time, by name.
std::vector<std::string> ExcludedAt(const std::vector<api::ExcludedNode>& excluded,
                                    UnixSeconds now);

}  // namespace weft::decide
