#include "operator/life/exclusion.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "operator/api/names.h"
#include "operator/base/seeded_bug.h"
#include "operator/cluster/text.h"
#include "operator/life/retry.h"

namespace weft::life {
namespace {

std::int64_t Doubled(std::int64_t before) {
  std::int64_t seconds = kFirstExclusionSeconds;
  for (std::int64_t i = 0; i < before && seconds < kLongestExclusionSeconds; ++i) seconds *= 2;
  return std::min(seconds, kLongestExclusionSeconds);
}

// Bytes of an entry in JSON, without the node's name: {"node":"","until":"2026-08-22T10:00:00Z",
// "times":12345,"effect":"PreferNoSchedule"},
constexpr std::size_t kEntryBytes = 92;
// Far more than the longest exclusion needs.
constexpr std::int64_t kTimesAtMost = 99'999;

bool WasMadeSince(const api::ExcludedNode& entry, const NodeBirths& births) {
  const auto born = births ? births(entry.node) : std::nullopt;
  const auto until = ParseTime(entry.until);
  return born && until && *born > *until - Doubled(entry.times - 1) + kClockSkewSeconds;
}

// A sort key by how much an entry matters, least first.
auto Rank(const api::ExcludedNode& entry, UnixSeconds now) {
  const UnixSeconds until = ParseTime(entry.until).value_or(0);
  return std::tuple(until <= now, entry.effect, -entry.times, -until, std::string_view(entry.node));
}

// Drops entries that the status has no room for; the others keep their order.
std::size_t Fit(UnixSeconds now, std::vector<api::ExcludedNode>& excluded) {
  std::vector<std::size_t> by_rank(excluded.size());
  std::iota(by_rank.begin(), by_rank.end(), std::size_t{0});
  std::sort(by_rank.begin(), by_rank.end(), [&](std::size_t a, std::size_t b) {
    return Rank(excluded[a], now) < Rank(excluded[b], now);
  });
  std::vector<bool> kept(excluded.size(), false);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < std::min(by_rank.size(), api::kExcludedNodesAtMost); ++i) {
    bytes += excluded[by_rank[i]].node.size() + kEntryBytes;
    if (bytes > kExcludedBytesAtMost) break;
    kept[by_rank[i]] = true;
  }
  return std::erase_if(excluded, [&](const api::ExcludedNode& entry) {
    return !kept[static_cast<std::size_t>(&entry - excluded.data())];
  });
}

}  // namespace

bool IsOut(const api::ExcludedNode& entry, UnixSeconds now) {
  const std::int64_t left = ParseTime(entry.until).value_or(now) - now;
  if (Seeded(Bug::kExcludedForEver)) return true;
  return left > 0 && left <= kLongestExclusionSeconds + kClockSkewSeconds;
}

std::size_t Exclude(const std::vector<std::string>& nodes, UnixSeconds now,
                    std::vector<api::ExcludedNode>& excluded, api::ExclusionEffect effect) {
  std::erase_if(excluded, [&](const api::ExcludedNode& entry) {
    const auto until = ParseTime(entry.until);
    return !until || *until + kLongestExclusionSeconds < now;
  });
  std::map<std::string, bool> open;  // true: still to be counted
  for (const std::string& node : nodes) open[node] = true;
  const auto count = [&](api::ExcludedNode& entry) {
    // A program failure does not weaken an earlier refusal.
    entry.effect = IsOut(entry, now) ? std::min(entry.effect, effect) : effect;
    entry.until = FormatTime(now + Doubled(entry.times));
    entry.times = std::clamp<std::int64_t>(entry.times, 0, kTimesAtMost - 1) + 1;
  };
  for (api::ExcludedNode& entry : excluded) {
    const auto found = open.find(entry.node);
    if (found == open.end() || !found->second) continue;
    found->second = false;
    count(entry);
  }
  for (const auto& [node, is_open] : open) {
    if (!is_open) continue;
    excluded.push_back({node, "", 0, effect});
    count(excluded.back());
  }
  return Fit(now, excluded);
}

std::string DroppedText(std::size_t dropped) {
  if (dropped == 0) return "";
  return "; status.excludedNodes is full and drops " +
         CountText(static_cast<std::int64_t>(dropped), "node");
}

std::optional<UnixSeconds> FirstReturn(const std::vector<api::ExcludedNode>& excluded,
                                       UnixSeconds now) {
  std::optional<UnixSeconds> first;
  for (const api::ExcludedNode& entry : excluded) {
    if (!IsOut(entry, now)) continue;
    const UnixSeconds until = ParseTime(entry.until).value_or(now);
    first = std::min(first.value_or(until), until);
  }
  return first;
}

std::vector<std::string> ExcludedAt(const std::vector<api::ExcludedNode>& excluded, UnixSeconds now,
                                    api::ExclusionEffect effect, const NodeBirths& births) {
  std::vector<std::string> nodes;
  for (const api::ExcludedNode& entry : excluded) {
    if (entry.effect != effect || !IsOut(entry, now) || WasMadeSince(entry, births)) continue;
    nodes.push_back(entry.node);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace weft::life
