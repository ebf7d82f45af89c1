#include "operator/inplace/message.h"

#include <array>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "operator/base/check.h"

namespace weft::inplace {
namespace {

constexpr std::string_view kProtocol = "weft-run/1";

template <typename Value>
using Names = std::pair<std::string_view, Value>;

constexpr std::array<Names<Phase>, 6> kPhases = {{{"down", Phase::kDown},
                                                  {"running", Phase::kRunning},
                                                  {"stopping", Phase::kStopping},
                                                  {"failed", Phase::kFailed},
                                                  {"done", Phase::kDone},
                                                  {"left", Phase::kLeft}}};
constexpr std::array<Names<OrderKind>, 4> kOrders = {{{"hold", OrderKind::kHold},
                                                      {"start", OrderKind::kStart},
                                                      {"free", OrderKind::kFree},
                                                      {"leave", OrderKind::kLeave}}};
constexpr std::array<Names<Refusal>, 3> kRefusals = {
    {{"taken", Refusal::kTaken}, {"older", Refusal::kOlder}, {"workers", Refusal::kWorkers}}};

template <typename Table, typename Value>
std::string_view WordOf(const Table& table, Value value) {
  for (const auto& [word, one] : table) {
    if (one == value) return word;
  }
  WEFT_CHECK(false);  // a value of an enum that has no word
  return {};
}

template <typename Value, typename Table>
std::optional<Value> ValueOf(const Table& table, std::string_view word) {
  for (const auto& [one, value] : table) {
    if (one == word) return value;
  }
  return std::nullopt;
}

template <typename Number>
std::optional<Number> NumberOf(std::string_view text, Number least, Number most, int base = 10) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (number < least || number > most) return std::nullopt;
  return number;
}

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t space = line.find(' ');
    words.push_back(line.substr(0, space));
    if (space == std::string_view::npos) return words;
    line.remove_prefix(space + 1);
  }
}

// Each phase has revisions that it can have, whatever the sender says.
bool IsPossible(const Report& report) {
  if (report.rank >= report.workers || report.birth > report.want || report.at > report.want) {
    return false;
  }
  switch (report.phase) {
    case Phase::kDown:
      return report.at < report.want || report.at == kNoRevision;
    case Phase::kRunning:
    case Phase::kFailed:
    case Phase::kDone:
      return report.at == report.want;
    case Phase::kStopping:
      return report.at != kNoRevision;
    case Phase::kLeft:
      return true;
  }
  return false;
}

std::optional<Message> ReportOf(const std::vector<std::string_view>& words) {
  if (words.size() != 10) return std::nullopt;
  const auto rank = NumberOf<int>(words[3], 0, kMaxWorkers - 1);
  const auto workers = NumberOf<int>(words[4], 1, kMaxWorkers);
  const auto birth = NumberOf<Revision>(words[5], 0, kMaxRevision);
  const auto instance = NumberOf<std::uint64_t>(words[6], 0, UINT64_MAX, 16);
  const auto want = NumberOf<Revision>(words[7], 0, kMaxRevision);
  const auto phase = ValueOf<Phase>(kPhases, words[8]);
  const auto at = NumberOf<Revision>(words[9], kNoRevision, kMaxRevision);
  if (!rank || !workers || !birth || !instance || !want || !phase || !at) return std::nullopt;
  const Report report{*rank, *workers, *birth, *instance, *want, *phase, *at};
  if (!IsPossible(report)) return std::nullopt;
  return report;
}

std::optional<Message> OrderOf(const std::vector<std::string_view>& words) {
  if (words.size() != 7) return std::nullopt;
  const auto revision = NumberOf<Revision>(words[3], 0, kMaxRevision);
  const auto kind = ValueOf<OrderKind>(kOrders, words[4]);
  const auto missing = NumberOf<int>(words[5], 0, kMaxWorkers);
  const auto left = NumberOf<int>(words[6], 0, kMaxWorkers);
  if (!revision || !kind || !missing || !left) return std::nullopt;
  return Order{*revision, *kind, *missing, *left};
}

std::string TextOf(const Report& report) {
  std::array<char, 160> text{};
  const std::string phase(WordOf(kPhases, report.phase));
  std::snprintf(text.data(), text.size(), "report %d %d %d %" PRIx64 " %d %s %d", report.rank,
                report.workers, report.birth, report.instance, report.want, phase.c_str(),
                report.at);
  return text.data();
}

std::string TextOf(const Order& order) {
  return "order " + std::to_string(order.revision) + " " +
         std::string(WordOf(kOrders, order.kind)) + " " + std::to_string(order.missing) + " " +
         std::to_string(order.left);
}

std::string TextOf(Refusal refusal) { return "refused " + std::string(WordOf(kRefusals, refusal)); }

}  // namespace

std::string_view NameOf(Phase phase) { return WordOf(kPhases, phase); }
std::string_view NameOf(Refusal refusal) { return WordOf(kRefusals, refusal); }

bool IsToken(std::string_view token) {
  if (token.size() > kMaxTokenBytes) return false;
  for (const char c : token) {
    if (c <= ' ' || c > '~') return false;
  }
  return true;
}

bool SameToken(std::string_view a, std::string_view b) {
  unsigned different = a.size() == b.size() ? 0U : 1U;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    different |= static_cast<unsigned char>(a[i] ^ other);
  }
  return different == 0;
}

std::string Encode(const Message& message, std::string_view token) {
  WEFT_CHECK(IsToken(token));  // a space or newline in it would be read as part of the message
  std::string line(kProtocol);
  line += ' ';
  line += token;
  line += ' ';
  line += std::visit([](const auto& one) { return TextOf(one); }, message);
  WEFT_CHECK(line.size() <= kMaxLineBytes);  // else no peer would read it
  return line + '\n';
}

Result<Message> Decode(std::string_view line, std::string_view token) {
  const Error not_ours = Invalid("not a message of weft-run");
  if (line.size() > kMaxLineBytes) return not_ours;
  const std::vector<std::string_view> words = WordsOf(line);
  if (words.size() < 4 || words[0] != kProtocol) return not_ours;
  if (!SameToken(words[1], token)) return Invalid("wrong token");
  std::optional<Message> message;
  if (words[2] == "report") message = ReportOf(words);
  if (words[2] == "order") message = OrderOf(words);
  if (words[2] == "refused" && words.size() == 4) {
    if (const auto refusal = ValueOf<Refusal>(kRefusals, words[3])) message = *refusal;
  }
  if (!message) return not_ours;
  return *message;
}

}  // namespace weft::inplace
