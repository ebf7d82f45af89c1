#include "operator/life/failed_rank.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace weft::life {
namespace {

// Texts with the rank behind them. Of "Process name: [[43212,1],7]" it is the last number. Open MPI
// numbers the rank that called MPI_ABORT in the communicator that it aborts; version 5 also names
// the process ("Proc: ...").
struct Phrase {
  std::string_view before;
  std::string_view last_before;  // then behind the last comma of the word, or behind this text
  std::string_view after = "";   // must follow the number
};
constexpr auto kPhrases = std::to_array<Phrase>(
    {{"MPI_ABORT was invoked on rank ", "", " in communicator MPI_COMM_WORLD"},
     {"noticed that process rank ", ""},
     {"Process name: [", ","},
     {"Proc: [", ","},
     {"called MPI_Abort(MPI_COMM_WORLD, ", " - process "}});

constexpr std::size_t kNameAtMost = 300;  // of a process, with its host's name

std::optional<std::int64_t> NumberIn(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  return number;
}

// The number that such words name at their beginning.
std::optional<std::int64_t> RankAfter(std::string_view text, const Phrase& phrase) {
  if (phrase.last_before.empty()) {
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    return text.substr(digits).starts_with(phrase.after) ? NumberIn(text) : std::nullopt;
  }
  text = text.substr(0, kNameAtMost);
  if (phrase.last_before == ",") {
    const std::size_t space = text.find(' ');
    text = text.substr(0, space);
    const std::size_t comma = text.rfind(',');
    return comma == text.npos ? std::nullopt : NumberIn(text.substr(comma + 1));
  }
  const std::size_t at = text.find(phrase.last_before);
  return at == text.npos ? std::nullopt : NumberIn(text.substr(at + phrase.last_before.size()));
}

}  // namespace

std::optional<std::int64_t> FailedRank(std::string_view words) {
  std::optional<std::int64_t> found;
  for (const Phrase& one : kPhrases) {
    for (std::size_t at = words.find(one.before); at != words.npos;
         at = words.find(one.before, at + 1)) {
      const auto rank = RankAfter(words.substr(at + one.before.size()), one);
      if (!rank) continue;
      if (found && *found != *rank) return std::nullopt;
      found = rank;
    }
  }
  return found;
}

}  // namespace weft::life
