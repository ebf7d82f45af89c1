#include "operator/manifest/text_form.h"

namespace weft::manifest {

std::string_view WithoutByteOrderMark(std::string_view text) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

bool LooksLikeJson(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos || text.find("\n---") != text.npos) return false;
  if (text[first] != '{') return text[first] == '[';
  const std::size_t next = text.find_first_not_of(kSpace, first + 1);
  return next == text.npos || text[next] == '"' || text[next] == '}';
}

}  // namespace weft::manifest
