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

// Most bytes of the entries' JSON. A Placement may hold 1.2 MiB beside it (decide/plan.cc), an
// object of etcd 1.5 MiB.
inline constexpr std::size_t kExcludedBytesAtMost = std::size_t{128} << 10;

// Excludes the nodes from the next attempts, each once. Entries that ended more than `most_seconds`
// ago are removed. Beyond api::kExcludedNodesAtMost entries or kExcludedBytesAtMost bytes, the
// nodes that are excluded now and refused most often stay, then the latest. Returns how many were
// dropped, since the API server would refuse a status with all of them.
// Cost  O(n log n) of nodes and entries.
std::size_t Exclude(const std::vector<std::string>& nodes, const ExclusionTimes& times,
                    UnixSeconds now, std::vector<api::ExcludedNode>& excluded,
                    api::ExclusionEffect effect = api::ExclusionEffect::kNoSchedule);

// "; the list of excluded nodes is full: 976 nodes are not in it", or "" where none was dropped.
std::string DroppedText(std::size_t dropped);

// An entry counts from now until its time; not where that is later than the longest exclusion can
// end: a clock that was ahead has written it (retry.h, kClockSkewSeconds).

// The earliest time at which an excluded node may be used again; nothing if none is excluded.
std::optional<UnixSeconds> FirstReturn(const std::vector<api::ExcludedNode>& excluded,
                                       UnixSeconds now);

// Nodes that are excluded at that time with that effect, by name.
std::vector<std::string> ExcludedAt(
    const std::vector<api::ExcludedNode>& excluded, UnixSeconds now,
    api::ExclusionEffect effect = api::ExclusionEffect::kNoSchedule);

}  // namespace weft::life
