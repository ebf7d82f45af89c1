#pragma once

#include <cstddef>
#include <string_view>

namespace weft {

// The number of edits that turn one word into the other: insert, delete or replace a letter, or
// swap two neighbours.
// Cost  O(|a| x |b|).
// Source  Damerau, A Technique for Computer Detection and Correction of Spelling Errors, 1964.
std::size_t EditDistance(std::string_view a, std::string_view b);

// The word in `known` that `typed` probably means: at most a third of the letters differ, or one
// word is the start of the other. The first of equally near words; "" if no word is near. Case is
// ignored.
template <typename Words>
std::string_view NearWord(std::string_view typed, const Words& known);

namespace near_word_internal {
constexpr std::size_t kFar = static_cast<std::size_t>(-1);
// The distance, or kFar if `typed` probably does not mean `known`.
std::size_t Distance(std::string_view typed, std::string_view known);
}  // namespace near_word_internal

template <typename Words>
std::string_view NearWord(std::string_view typed, const Words& known) {
  std::string_view best;
  std::size_t least = near_word_internal::kFar;
  for (const std::string_view word : known) {
    const std::size_t distance = near_word_internal::Distance(typed, word);
    if (distance < least) {
      least = distance;
      best = word;
    }
  }
  return best;
}

}  // namespace weft
