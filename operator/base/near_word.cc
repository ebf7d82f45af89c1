#include "operator/base/near_word.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace weft {
namespace {

constexpr std::size_t kLongestWord = 64;  // hostile input has keys of megabytes

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

}  // namespace

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> two_before, before(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) before[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = before[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      now[j] = std::min({before[j] + 1, now[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], two_before[j - 2] + 1);
    }
    two_before = before;
    std::swap(before, now);
  }
  return before[b.size()];
}

namespace near_word_internal {

std::size_t Distance(std::string_view typed, std::string_view known) {
  constexpr std::size_t kLettersAnEdit = 3, kLeastStart = 3;
  if (typed.empty() || typed.size() > kLongestWord || known.size() > kLongestWord) return kFar;
  const std::string a = Lower(typed), b = Lower(known);
  const std::size_t distance = EditDistance(a, b);
  if (distance <= std::max(a.size(), b.size()) / kLettersAnEdit) return distance;
  const bool start =
      std::min(a.size(), b.size()) >= kLeastStart && (a.starts_with(b) || b.starts_with(a));
  return start ? distance : kFar;
}

}  // namespace near_word_internal
}  // namespace weft
