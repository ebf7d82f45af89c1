#include "operator/import/slurm_conf.h"

#include <algorithm>
#include <utility>

#include "operator/manifest/text_form.h"

namespace weft::import {
namespace {

constexpr std::string_view kConfBlank = " \t\r\v\f";

std::string_view WithoutComment(std::string_view line) {
  bool escaped = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && !escaped) return line.substr(0, i);
    escaped = line[i] == '\\' && !escaped;
  }
  return line;
}

// Removes the backslash at the end, after which blanks may follow. An even number of them are
// escaped backslashes.
bool TakeContinuation(std::string_view& line) {
  const std::size_t last = line.find_last_not_of(kConfBlank);
  if (last == line.npos) return false;
  const std::size_t other = line.find_last_not_of('\\', last);
  const std::size_t backslashes = last - (other == line.npos ? 0 : other + 1) + 1;
  const bool some = line[last] == '\\';
  if (!some || backslashes % 2 == 0) return false;
  line = line.substr(0, last);
  return true;
}

std::string WithoutEscapes(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && ++i == line.size()) break;
    plain += line[i];
  }
  return plain;
}

void SkipBlank(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kConfBlank), text.size()));
}

bool IsKeyCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

// Takes "Key =" off the front of `text`; "" if there is none.
std::string_view TakeKey(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), IsKeyCharacter);
  const std::string_view key = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  std::string_view rest = text.substr(key.size());
  SkipBlank(rest);
  if (!rest.empty() && std::string_view("+-*/").find(rest.front()) != rest.npos) {
    rest.remove_prefix(1);
  }
  if (key.empty() || rest.empty() || rest.front() != '=') return {};
  text = rest.substr(1);
  return key;
}

Result<std::string> TakeQuoted(std::string_view& text) {
  const std::size_t close = text.find('"', 1);
  if (close == text.npos) return Invalid("unbalanced quote at " + Quoted(text));
  std::string value(text.substr(1, close - 1));
  const std::string_view rest = text.substr(close + 1);
  if (!rest.empty() && kConfBlank.find(rest.front()) == kConfBlank.npos) {
    return Invalid("text after a closing quote at " + Quoted(text));
  }
  text = rest;
  return value;
}

Result<std::string> TakeValue(std::string_view& text) {
  const std::size_t before = text.size();
  SkipBlank(text);
  if (text.starts_with('"')) return TakeQuoted(text);
  std::string_view ahead = text;
  const bool apart = text.size() < before;
  if (apart && !TakeKey(ahead).empty()) return std::string();
  const std::string_view value = text.substr(0, text.find_first_of(kConfBlank));
  text.remove_prefix(value.size());
  return std::string(value);
}

}  // namespace

ConfLines::ConfLines(std::string_view text) : lines_(manifest::WithoutByteOrderMark(text)) {}

bool ConfLines::Next() {
  while (lines_.Next()) {
    number_ = lines_.number();
    std::string joined;
    bool continued = true;
    while (continued) {
      std::string_view line = WithoutComment(lines_.line());
      continued = TakeContinuation(line);
      joined += line;
      continued = continued && lines_.Next();
    }
    line_ = WithoutEscapes(joined);
    if (!Trim(line_).empty()) return true;
  }
  return false;
}

Result<std::vector<ConfPair>> ParseConfPairs(std::string_view line) {
  std::vector<ConfPair> pairs;
  for (line = Trim(line); !line.empty(); line = Trim(line)) {
    const std::string_view at = line, key = TakeKey(line);
    if (key.empty()) return Invalid("expected Key=Value at " + Quoted(at));
    Result<std::string> value = TakeValue(line);
    if (!value) return value.error();
    pairs.push_back({LowerCase(key), *std::move(value)});
  }
  return pairs;
}

Result<std::string> IncludedPath(std::string_view line) {
  constexpr std::string_view kInclude = "include";
  line = Trim(line);
  const std::string_view rest = Trim(line.substr(std::min(kInclude.size(), line.size())));
  const bool word = line.find_first_of(kConfBlank) == kInclude.size();
  if (!word || LowerCase(line.substr(0, kInclude.size())) != kInclude || rest.front() == '=') {
    return std::string();
  }
  if (rest.find_first_of(kConfBlank) != rest.npos) {
    return Invalid("text after the path of an Include at " + Quoted(rest));
  }
  return std::string(rest);
}

}  // namespace weft::import
