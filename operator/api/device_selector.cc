#include "operator/api/device_selector.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "operator/base/quantity.h"

namespace weft::api {
namespace {

using Kind = DeviceSelector::Kind;
using Term = DeviceSelector::Term;

// API servers take at most 10 KiB. Each level of nesting costs a few stack frames.
constexpr std::size_t kMaxBytes = 10 * 1024;
constexpr int kMaxDepth = 50;

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Reads by recursive descent. After the first part that it does not know it only fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  std::optional<Term> Whole() {
    Term term = Either();
    SkipSpace();
    if (failed_ || !rest_.empty()) return std::nullopt;
    return term;
  }

 private:
  Term Fail() {
    failed_ = true;
    rest_ = "";
    return {};
  }

  void SkipSpace() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) {
      rest_.remove_prefix(1);
    }
  }

  bool Take(std::string_view symbol) {
    SkipSpace();
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(symbol.size());
    return true;
  }

  // A word, which does not go on.
  bool TakeWord(std::string_view word) {
    SkipSpace();
    const std::string_view after = rest_.substr(std::min(rest_.size(), word.size()));
    if (!rest_.starts_with(word) || (!after.empty() && IsWordCharacter(after.front())))
      return false;
    rest_ = after;
    return true;
  }

  void Expect(std::string_view symbol) {
    if (!Take(symbol)) Fail();
  }

  std::string Word() {
    SkipSpace();
    std::size_t size = 0;
    while (size < rest_.size() && IsWordCharacter(rest_[size])) ++size;
    const std::string word(rest_.substr(0, size));
    rest_.remove_prefix(size);
    if (word.empty() || std::isdigit(static_cast<unsigned char>(word.front())) != 0) Fail();
    return word;
  }

  // Without escapes; """ begins a text that may hold quotes, and is not read.
  std::string Text() {
    SkipSpace();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    const std::size_t end = quote == '"' || quote == '\'' ? rest_.find(quote, 1) : rest_.npos;
    if (end == rest_.npos) return Fail(), "";
    const std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    if (text.find_first_of("\\\n") != text.npos || rest_.starts_with(quote)) Fail();
    return text;
  }

  // The amount in quantity("40Gi").
  std::int64_t Amount() {
    if (!TakeWord("quantity")) return Fail(), 0;
    Expect("(");
    const Result<std::int64_t> amount = ParseMilliQuantity(Text());
    Expect(")");
    return amount ? *amount : (Fail(), 0);
  }

  // ["domain"].name as "domain/name".
  std::string Key() {
    Expect("[");
    std::string key = Text();
    Expect("]");
    Expect(".");
    return key + "/" + Word();
  }

  static Term Of(Kind kind, std::vector<Term> parts) {
    Term term{.kind = kind};
    term.parts = std::move(parts);
    return term;
  }

  static Term Pair(Kind kind, Term first, Term second) {
    std::vector<Term> parts;
    parts.push_back(std::move(first));
    parts.push_back(std::move(second));
    return Of(kind, std::move(parts));
  }

  static Term Not(Term term) {
    std::vector<Term> parts;
    parts.push_back(std::move(term));
    return Of(Kind::kNot, std::move(parts));
  }

  Term Either() {
    if (++depth_ > kMaxDepth) return Fail();
    std::vector<Term> parts;
    do {
      parts.push_back(Both());
    } while (Take("||"));
    --depth_;
    return parts.size() == 1 ? std::move(parts.front()) : Of(Kind::kOr, std::move(parts));
  }

  Term Both() {
    std::vector<Term> parts;
    do {
      parts.push_back(Relation());
    } while (Take("&&"));
    return parts.size() == 1 ? std::move(parts.front()) : Of(Kind::kAnd, std::move(parts));
  }

  Term Relation() {
    Term left = Operand();
    if (Take("==")) return Pair(Kind::kEqual, std::move(left), Operand());
    if (Take("!=")) return Not(Pair(Kind::kEqual, std::move(left), Operand()));
    if (Take("<=")) return Not(Swapped(std::move(left)));
    if (Take(">=")) return Not(Pair(Kind::kLess, std::move(left), Operand()));
    if (Take("<")) return Pair(Kind::kLess, std::move(left), Operand());
    if (Take(">")) return Swapped(std::move(left));
    if (TakeWord("in")) return In(std::move(left));
    return left;
  }

  // Right < left.
  Term Swapped(Term left) { return Pair(Kind::kLess, Operand(), std::move(left)); }

  Term In(Term left) {
    std::vector<Term> parts;
    parts.push_back(std::move(left));
    Expect("[");
    if (Take("]")) return Of(Kind::kIn, std::move(parts));
    do {
      parts.push_back(Literal());
    } while (Take(","));
    Expect("]");
    return Of(Kind::kIn, std::move(parts));
  }

  Term Operand() {
    if (Take("(")) {
      Term term = Either();
      Expect(")");
      return term;
    }
    SkipSpace();
    if (rest_.starts_with("!") && !rest_.starts_with("!=")) return Negated();
    if (TakeWord("has")) return Has();
    return TakeWord("device") ? Device() : Literal();
  }

  Term Negated() {
    if (++depth_ > kMaxDepth) return Fail();
    Expect("!");
    Term term = Not(Operand());
    --depth_;
    return term;
  }

  Term Has() {
    Expect("(");
    if (!TakeWord("device")) return Fail();
    Term term = Device();
    if (term.kind != Kind::kAttribute) return Fail();
    term.kind = Kind::kHas;
    Expect(")");
    return term;
  }

  Term Device() {
    Expect(".");
    const std::string member = Word();
    if (member == "driver") return {.kind = Kind::kDriver};
    if (member == "attributes") return {.kind = Kind::kAttribute, .key = Key()};
    if (member != "capacity") return Fail();
    Term term{.kind = Kind::kCapacity, .key = Key()};
    Expect(".");
    const std::string call = Word();
    Expect("(");
    term.amount = Amount();
    Expect(")");
    const Term zero{.value = std::int64_t{0}};
    if (call == "compareTo") return term;
    if (call == "isLessThan") return Pair(Kind::kLess, std::move(term), zero);
    return call == "isGreaterThan" ? Pair(Kind::kLess, zero, std::move(term)) : Fail();
  }

  Term Literal() {
    SkipSpace();
    if (TakeWord("true")) return {.value = true};
    if (TakeWord("false")) return {.value = false};
    if (rest_.empty()) return Fail();
    if (rest_.front() == '"' || rest_.front() == '\'') return {.value = Text()};
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc()) return Fail();
    const auto read = static_cast<std::size_t>(end - rest_.data());
    // 0x10, 5u, 1.5
    if (read < rest_.size() && (IsWordCharacter(rest_[read]) || rest_[read] == '.')) return Fail();
    rest_.remove_prefix(read);
    return {.value = number};
  }

  std::string_view rest_;
  bool failed_ = false;
  int depth_ = 0;
};

// The value of a part, or an error, or nothing known (monostate).
struct Value {
  DeviceValue of;
  bool error = false;

  bool known() const { return !error && of.index() != 0; }
  bool Is(bool wanted) const {
    const bool* const held = error ? nullptr : std::get_if<bool>(&of);
    return held != nullptr && *held == wanted;
  }
};

constexpr bool kError = true;

class Evaluation {
 public:
  explicit Evaluation(const DeviceFacts& device) : device_(device) {}

  Value Of(const Term& term) const {
    switch (term.kind) {
      case Kind::kLiteral:
        return {term.value};
      case Kind::kDriver:
        return {device_.driver};
      case Kind::kAttribute: {
        const auto found = device_.attributes.find(term.key);
        return found == device_.attributes.end() ? Value{{}, kError} : Value{found->second};
      }
      case Kind::kHas:
        return {device_.attributes.contains(term.key)};
      case Kind::kCapacity: {
        const auto found = device_.capacity.find(term.key);
        if (found == device_.capacity.end()) return {{}, kError};
        return {std::int64_t{found->second > term.amount} - (found->second < term.amount)};
      }
      case Kind::kNot:
        return Negated(Of(term.parts.front()));
      case Kind::kAnd:
        return Joined(term, false);
      case Kind::kOr:
        return Joined(term, true);
      case Kind::kEqual:
      case Kind::kLess:
        return Compared(term.kind, Of(term.parts[0]), Of(term.parts[1]));
      case Kind::kIn:
        return Contained(term);
    }
    return {};
  }

 private:
  static Value Negated(Value value) {
    if (value.error || value.of.index() == 0) return value;
    const bool* const held = std::get_if<bool>(&value.of);
    return held != nullptr ? Value{!*held} : Value{{}, kError};
  }

  // && is decided by a part that is false whatever the others are, an error too; || by true.
  Value Joined(const Term& term, bool decides) const {
    bool unknown = false, error = false;
    for (const Term& part : term.parts) {
      const Value value = Of(part);
      if (value.Is(decides)) return {decides};
      if (value.Is(!decides)) continue;
      (!value.error && value.of.index() == 0 ? unknown : error) = true;
    }
    if (unknown) return {};
    return error ? Value{{}, kError} : Value{!decides};
  }

  static Value Compared(Kind kind, const Value& a, const Value& b) {
    if (a.error || b.error) return {{}, kError};
    if (!a.known() || a.of.index() != b.of.index()) return {};
    return {kind == Kind::kEqual ? a.of == b.of : a.of < b.of};
  }

  Value Contained(const Term& term) const {
    const Value value = Of(term.parts.front());
    bool unknown = false;
    for (std::size_t i = 1; i < term.parts.size(); ++i) {
      const Value same = Compared(Kind::kEqual, value, Of(term.parts[i]));
      if (same.error || same.Is(true)) return same;
      unknown = unknown || !same.known();
    }
    if (value.error) return value;
    return unknown ? Value{} : Value{false};
  }

  const DeviceFacts& device_;
};

}  // namespace

DeviceSelector::DeviceSelector(std::string_view expression) {
  if (expression.size() > kMaxBytes) return;
  std::optional<Term> term = Reader(expression).Whole();
  if (!term) return;
  term_ = *std::move(term);
  exact_ = true;
}

Selected DeviceSelector::Matches(const DeviceFacts& device) const {
  if (!exact_) return Selected::kUnknown;
  const Value value = Evaluation(device).Of(term_);
  if (!value.error && value.of.index() == 0) return Selected::kUnknown;
  return value.Is(true) ? Selected::kYes : Selected::kNo;
}

}  // namespace weft::api
