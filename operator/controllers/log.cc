#include "operator/controllers/log.h"

#include <nlohmann/json.hpp>

#include "operator/api/json_text.h"

namespace weft::controllers {
namespace {

constexpr const char* kNames[] = {"debug", "info", "warning", "error"};

// Any bytes as a JSON string; bytes that are not UTF-8 are replaced.
std::string Quoted(std::string_view text) { return api::JsonText(nlohmann::json(text)); }

// The text without quotes if it is unambiguous, else quoted.
std::string Plain(std::string_view text) {
  constexpr std::string_view kSafe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:";
  const bool safe = !text.empty() && text.find_first_not_of(kSafe) == std::string_view::npos;
  return safe ? std::string(text) : Quoted(text);
}

}  // namespace

void Log::Write(LogLevel level, std::string_view what, LogFields fields) {
  if (level < options_.least) return;
  const char* name = kNames[static_cast<std::size_t>(level)];
  std::string line;
  if (options_.json) {
    line = R"({"time":)" + Quoted(options_.time()) + R"(,"level":")" + name + R"(","message":)" +
           Quoted(what);
    for (const auto& [key, value] : fields) line += "," + Quoted(key) + ":" + Quoted(value);
    line += "}";
  } else {
    line = options_.time() + " " + name + " " + std::string(what);
    for (const auto& [key, value] : fields) line += " " + std::string(key) + "=" + Plain(value);
  }
  options_.write(line + "\n");
}

}  // namespace weft::controllers
