#include "tests/support/cpp_scan.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace weft::testing {
namespace {

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Blanks comments, literals and preprocessor lines; one pass, one character class at a time.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_(text), out_(text) {}

  std::string Run() {
    bool line_start = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (line_start && c == '#') {
        BlankDirective();
      } else if (text_.substr(at_, 2) == "//") {
        BlankTo(std::min(text_.find('\n', at_), text_.size()));
      } else if (text_.substr(at_, 2) == "/*") {
        BlankTo(EndAfter("*/", at_ + 2));
      } else if (c == '"') {
        BlankTo(at_ > 0 && text_[at_ - 1] == 'R' ? EndOfRaw() : EndOfQuoted('"'));
      } else if (c == '\'' && (at_ == 0 || !IsWord(text_[at_ - 1]))) {  // else 1'000
        BlankTo(EndOfQuoted('\''));
      } else {
        ++at_;
      }
      if (c == '\n') {
        line_start = true;
      } else if (c != ' ' && c != '\t') {
        line_start = false;
      }
    }
    return std::move(out_);
  }

 private:
  void BlankTo(std::size_t end) {
    for (; at_ < end; ++at_) {
      if (out_[at_] != '\n') out_[at_] = ' ';
    }
  }

  void BlankDirective() {
    std::size_t end = std::min(text_.find('\n', at_), text_.size());
    while (end < text_.size() && text_[end - 1] == '\\') {
      end = std::min(text_.find('\n', end + 1), text_.size());
    }
    BlankTo(end);
  }

  std::size_t EndAfter(std::string_view mark, std::size_t from) const {
    const std::size_t found = text_.find(mark, from);
    return found == std::string_view::npos ? text_.size() : found + mark.size();
  }

  std::size_t EndOfQuoted(char quote) const {
    for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
      if (text_[i] == '\\') {
        ++i;
      } else if (text_[i] == quote || text_[i] == '\n') {
        return i + 1;
      }
    }
    return text_.size();
  }

  std::size_t EndOfRaw() const {
    const std::size_t open = std::min(text_.find('(', at_), text_.size());
    const std::string mark = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
    return EndAfter(mark, open);
  }

  std::string_view text_;
  std::string out_;
  std::size_t at_ = 0;
};

// Finds function bodies by their braces: a brace outside of parentheses and of any function, after
// a head that has a parameter list. Namespaces and classes are looked into, tables are passed over.
class FunctionScanner {
 public:
  explicit FunctionScanner(std::string_view text) : code_(CodeOnly(text)) {}

  std::vector<FunctionSpan> Run() {
    for (const char c : code_) {
      if (c == '\n') ++line_;
      if (c == '(') ++parentheses_;
      if (c == ')') --parentheses_;
      if (c == '{') {
        Open();
      } else if (c == '}') {
        Close();
      } else if (c == ';' && parentheses_ == 0) {
        head_.clear();
      } else if (c == ':' && (head_ == "public" || head_ == "protected" || head_ == "private")) {
        head_.clear();
      } else if (!head_.empty() || std::isspace(static_cast<unsigned char>(c)) == 0) {
        if (head_.empty()) head_line_ = line_;
        head_ += c;
      }
    }
    return std::move(found_);
  }

 private:
  struct Brace {
    bool scope;     // a namespace or a class: what is inside may be a function
    bool function;  // the outermost brace of a body
    std::size_t first_line;
  };

  bool InScope() const { return braces_.empty() || braces_.back().scope; }

  bool HeadOpensFunction() const {
    if (!InScope() || parentheses_ > 0) return false;
    if (head_.empty() || head_.front() == ',') return true;  // after a braced member initializer
    const std::size_t close = head_.rfind(')');
    return close != std::string::npos && head_.find('=', close) == std::string::npos;
  }

  bool HeadOpensScope() const {
    if (!InScope() || parentheses_ > 0) return false;
    if (HasWord(head_, "namespace") || head_.starts_with("extern")) return true;
    if (HasWord(head_, "enum") || head_.rfind(')') != std::string::npos) return false;
    return HasWord(head_, "class") || HasWord(head_, "struct") || HasWord(head_, "union");
  }

  void Open() {
    const bool scope = HeadOpensScope();
    const bool function = !scope && HeadOpensFunction();
    braces_.push_back({scope, function, head_.empty() ? line_ : head_line_});
    if (scope || function) head_.clear();
  }

  void Close() {
    if (braces_.empty()) return;
    const Brace brace = braces_.back();
    braces_.pop_back();
    if (brace.scope || brace.function) head_.clear();
    if (brace.function) found_.push_back({brace.first_line, line_ - brace.first_line + 1});
  }

  std::string code_;
  std::vector<FunctionSpan> found_;
  std::vector<Brace> braces_;
  std::string head_;  // code since the last statement or body ended
  std::size_t head_line_ = 1, line_ = 1;
  int parentheses_ = 0;
};

}  // namespace

bool HasWord(std::string_view line, std::string_view name) {
  for (std::size_t at = line.find(name); at != std::string_view::npos;
       at = line.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !IsWord(line[at - 1])) && (end == line.size() || !IsWord(line[end]))) {
      return true;
    }
  }
  return false;
}

std::string CodeOnly(std::string_view text) { return Blanker(text).Run(); }

std::vector<FunctionSpan> FunctionsOf(std::string_view text) { return FunctionScanner(text).Run(); }

}  // namespace weft::testing
