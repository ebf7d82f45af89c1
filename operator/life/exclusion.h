#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/job_record.h"
#include "operator/api/meta.h"
#include "operator/base/timestamp.h"

namespace weft::life {

// The first exclusion of a node; each later one is twice as long, up to the longest.
inline constexpr std::int64_t kFirstExclusionSeconds = 300, kLongestExclusionSeconds = 3'600;

// Limit of the entries' JSON in bytes. The rest of a Placement may have 1.2 MiB (plan/plan.cc),
// and an object in etcd 1.5 MiB.
inline constexpr std::size_t kExcludedBytesAtMost = std::size_t{128} << 10;

// Excludes the nodes from the next attempts, each once. Entries that ended more than
// kLongestExclusionSeconds ago are removed. If there are more than api::kExcludedNodesAtMost
// entries or kExcludedBytesAtMost bytes, which the API server would refuse, it keeps first the
// nodes that are excluded now; among them those that refused, before those that are only avoided;
// then those with the most refusals; then those excluded longest. Returns how many entries it
// dropped.
// Cost  O(n log n), n: nodes + entries.
std::size_t Exclude(const std::vector<std::string>& nodes, UnixSeconds now,
                    std::vector<api::ExcludedNode>& excluded,
                    api::ExclusionEffect effect = api::ExclusionEffect::kNoSchedule);

// "; the list of excluded nodes is full: 976 nodes are not in it", or "" if none was dropped.
std::string DroppedText(std::size_t dropped);

// An entry excludes its node until the entry's time. It is ignored if that time is later than the
// longest exclusion can end: a clock that was ahead wrote it (retry.h, kClockSkewSeconds).

// Whether the entry excludes its node at that time.
bool IsOut(const api::ExcludedNode& entry, UnixSeconds now);

// The earliest time at which an excluded node may be used again; nothing if none is excluded.
std::optional<UnixSeconds> FirstReturn(const std::vector<api::ExcludedNode>& excluded,
                                       UnixSeconds now);

// When the node of that name was made; nothing if that is unknown.
using NodeBirths = std::function<std::optional<UnixSeconds>(const std::string& node)>;

// The nodes that are excluded at that time with that effect, in order of name. One that was made
// after it had been excluded, by more than clocks may differ, is another one, which has refused
// nothing.
std::vector<std::string> ExcludedAt(const std::vector<api::ExcludedNode>& excluded, UnixSeconds now,
                                    api::ExclusionEffect effect = api::ExclusionEffect::kNoSchedule,
                                    const NodeBirths& births = {});

}  // namespace weft::life
