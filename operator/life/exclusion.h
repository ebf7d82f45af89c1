#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/kinds.h"
#include "operator/base/timestamp.h"

namespace weft::life {

struct ExclusionTimes {
  std::int64_t first_seconds = 300;   // a node that refused is left out so long, doubling...
  std::int64_t most_seconds = 3'600;  // ...up to this
};

// Bytes of the entries' JSON at the most. A Placement may hold 1.2 MiB beside it (decide/plan.cc),
// an object of etcd 1.5 MiB.
inline constexpr std::size_t kExcludedBytesAtMost = std::size_t{128} << 10;

// Leaves the nodes out of the next attempts; each once, however often it is named. Entries that
// ended more than `most_seconds` ago are forgotten. Of more than api::kExcludedNodesAtMost, or
// kExcludedBytesAtMost, those stay that are left out now and refused most often, then the latest.
// How many were dropped: a status with all of them would be refused as a whole.
// Cost  O(n log n) of nodes and entries.
std::size_t Exclude(const std::vector<std::string>& nodes, const ExclusionTimes& times,
                    UnixSeconds now, std::vector<api::ExcludedNode>& excluded,
                    api::ExclusionEffect effect = api::ExclusionEffect::kNoSchedule);

// "; the list of excluded nodes is full: 976 nodes are not in it", or "" where none was dropped.
std::string DroppedText(std::size_t dropped);

// An entry counts from now until its time; not where that is later than the longest exclusion can
// end: a clock that was ahead has written it (retry.h, kClockSkewSeconds).

// When the first of those that are left out at that time may be used again; nothing where none is.
std::optional<UnixSeconds> FirstReturn(const std::vector<api::ExcludedNode>& excluded,
                                       UnixSeconds now);

// Nodes that are left out at that time, with that effect, by name.
std::vector<std::string> ExcludedAt(
    const std::vector<api::ExcludedNode>& excluded, UnixSeconds now,
    api::ExclusionEffect effect = api::ExclusionEffect::kNoSchedule);

}  // namespace weft::life
