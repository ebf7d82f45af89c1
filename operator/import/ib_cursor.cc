#include "operator/import/ib_cursor.h"

#include <algorithm>
#include <charconv>

namespace weft::import {

void IbCursor::SkipBlank() {
  text_.remove_prefix(std::min(text_.find_first_not_of(" \t"), text_.size()));
}

bool IbCursor::Take(std::string_view word) {
  if (!text_.starts_with(word)) return false;
  text_.remove_prefix(word.size());
  return true;
}

bool IbCursor::TakeNumber(int* value) {
  constexpr int kMost = 65'535;
  const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), *value);
  if (error != std::errc() || *value < 0 || *value > kMost) return false;
  text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
  return true;
}

bool IbCursor::TakeWord(std::string_view* word) {
  const std::string_view taken = text_.substr(0, text_.find_first_of(" \t"));
  if (taken.empty()) return false;
  *word = taken;
  text_.remove_prefix(taken.size());
  return true;
}

bool IbCursor::TakeBetween(char open, char close, std::string_view* inside) {
  if (text_.empty() || text_.front() != open) return false;
  const std::size_t end = text_.find(close, 1);
  if (end == std::string_view::npos) return false;
  *inside = text_.substr(1, end - 1);
  text_.remove_prefix(end + 1);
  return true;
}

bool IbCursor::TakeBracketedNumber(int* value) {
  std::string_view inside;
  const std::string_view before = text_;
  if (!TakeBetween('[', ']', &inside)) return false;
  IbCursor number(inside);
  if (number.TakeNumber(value) && number.rest().empty()) return true;
  text_ = before;
  return false;
}

void IbCursor::SkipExternalPort() {
  IbCursor ahead = *this;
  std::string_view inside;
  ahead.SkipBlank();
  if (ahead.rest().starts_with("[ext") && ahead.TakeBetween('[', ']', &inside)) *this = ahead;
}

bool IsGuid(std::string_view text) {
  return !text.empty() && text.size() <= 16 &&
         text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

bool IsIbSpeed(std::string_view text) {
  const std::size_t x = text.find('x');
  return x != text.npos && x > 0 && x <= 2 && text.size() <= 10 &&
         text.substr(0, x).find_first_not_of("0123456789") == text.npos;
}

}  // namespace weft::import
