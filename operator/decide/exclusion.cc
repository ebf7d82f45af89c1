#include "operator/decide/exclusion.h"

#include <algorithm>
#include <set>

namespace weft::decide {
namespace {

std::int64_t Doubled(const ExclusionTimes& times, std::int64_t before) {
  std::int64_t seconds = times.first_seconds;
  for (std::int64_t i = 0; i < before && seconds < times.most_seconds; ++i) seconds *= 2;
  return std::min(seconds, times.most_seconds);
}

}  // namespace

void Exclude(const std::vector<std::string>& nodes, const ExclusionTimes& times, UnixSeconds now,
             std::vector<api::ExcludedNode>& excluded) {
  std::erase_if(excluded, [&](const api::ExcludedNode& entry) {
    const auto until = ParseTime(entry.until);
    return !until || *until + times.most_seconds < now;
  });
  for (const std::string& node : std::set<std::string>(nodes.begin(), nodes.end())) {
    auto entry = std::find_if(excluded.begin(), excluded.end(),
                              [&](const api::ExcludedNode& e) { return e.node == node; });
    if (entry == excluded.end()) entry = excluded.insert(entry, {node, "", 0});
    entry->until = FormatTime(now + Doubled(times, entry->times));
    ++entry->times;
  }
}

std::optional<UnixSeconds> FirstReturn(const std::vector<api::ExcludedNode>& excluded,
                                       UnixSeconds now) {
  std::optional<UnixSeconds> first;
  for (const api::ExcludedNode& entry : excluded) {
    const UnixSeconds until = ParseTime(entry.until).value_or(0);
    if (until > now) first = std::min(first.value_or(until), until);
  }
  return first;
}

std::vector<std::string> ExcludedAt(const std::vector<api::ExcludedNode>& excluded,
                                    UnixSeconds now) {
  std::vector<std::string> nodes;
  for (const api::ExcludedNode& entry : excluded) {
    if (ParseTime(entry.until).value_or(0) > now) nodes.push_back(entry.node);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

}  // namespace weft::decide
