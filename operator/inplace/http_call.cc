#include "operator/inplace/http_call.h"

#include <algorithm>
#include <charconv>

namespace weft::inplace {
namespace {

constexpr std::string_view kStopPath = "/stop?revision=";

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool SameWord(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool HasToken(std::string_view head, std::string_view token) {
  constexpr std::string_view kScheme = "Bearer ";
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end == std::string_view::npos ? head.size() : end + 2);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !SameWord(line.substr(0, colon), "authorization")) {
      continue;
    }
    const std::string_view value = Trimmed(line.substr(colon + 1));
    return SameWord(value.substr(0, kScheme.size()), kScheme) &&
           SameToken(value.substr(kScheme.size()), token);
  }
  return false;
}

HttpCall CallOf(std::string_view method, std::string_view target) {
  if (target == "/state") return {.refused = method == "GET" ? 0 : 405};
  if (!target.starts_with("/stop")) return {.refused = 404};
  if (method != "POST") return {.refused = 405};
  if (!target.starts_with(kStopPath)) return {.refused = 400};
  const std::string_view number = target.substr(kStopPath.size());
  Revision revision = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), revision);
  const bool whole = error == std::errc() && end == number.data() + number.size();
  if (!whole || revision < 0 || revision > kMaxRevision) return {.refused = 400};
  return {.stop = true, .revision = revision};
}

std::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return "Bad Request";
  }
}

}  // namespace

std::optional<bool> IsHttp(std::string_view begin) {
  constexpr std::string_view kOurs = "weft-run/";
  if (begin.empty()) return std::nullopt;
  const std::size_t length = std::min(begin.size(), kOurs.size());
  if (begin.substr(0, length) != kOurs.substr(0, length)) return true;
  if (begin.size() < kOurs.size()) return std::nullopt;
  return false;
}

std::optional<HttpCall> ParseHttpCall(std::string_view request, std::string_view token) {
  const std::size_t end = request.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    if (request.size() > kMaxHttpBytes) return HttpCall{.refused = 431};
    return std::nullopt;
  }
  if (end > kMaxHttpBytes) return HttpCall{.refused = 431};
  const std::string_view head = request.substr(0, end);
  const std::string_view line = head.substr(0, head.find("\r\n"));
  const std::size_t space = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (space == std::string_view::npos || last == space ||
      !line.substr(last + 1).starts_with("HTTP/1.")) {
    return HttpCall{.refused = 400};
  }
  if (!token.empty() && !HasToken(head, token)) return HttpCall{.refused = 401};
  return CallOf(line.substr(0, space), line.substr(space + 1, last - space - 1));
}

std::string HttpAnswer(int status, std::string_view json) {
  std::string answer = "HTTP/1.1 " + std::to_string(status) + " ";
  answer += ReasonOf(status);
  answer += "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ";
  answer += std::to_string(json.size() + 1) + "\r\n\r\n";
  answer += json;
  return answer + '\n';
}

}  // namespace weft::inplace
