#include "operator/cluster/completed_indexes.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

#include "operator/base/seeded_bug.h"

namespace weft::cluster {
namespace {

std::optional<std::uint32_t> IndexIn(std::string_view text) {
  std::uint32_t index = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, index);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return index;
}

}  // namespace

ByWorker<bool> ParseIndexes(std::string_view text, std::uint32_t workers) {
  ByWorker<bool> succeeded(workers, false);
  if (Seeded(Bug::kCollectedRestarts)) return succeeded;
  while (!text.empty()) {
    const std::string_view range = text.substr(0, text.find(','));
    text.remove_prefix(std::min(range.size() + 1, text.size()));
    const std::size_t dash = range.find('-');
    const auto first = IndexIn(range.substr(0, dash));
    const auto last = dash == range.npos ? first : IndexIn(range.substr(dash + 1));
    if (!first || !last || *first > *last || *last >= workers) continue;
    std::fill(succeeded.begin() + *first, succeeded.begin() + *last + 1, true);
  }
  return succeeded;
}

std::string IndexesText(const ByWorker<bool>& succeeded) {
  std::string text;
  for (WorkerIndex first; first < succeeded.EndIndex(); ++first) {
    if (!succeeded[first]) continue;
    WorkerIndex last = first;
    while (last + 1 < succeeded.EndIndex() && succeeded[last + 1]) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(first.Raw());
    if (last > first) text += (last == first + 1 ? ',' : '-') + std::to_string(last.Raw());
    first = last;
  }
  return text;
}

}  // namespace weft::cluster
