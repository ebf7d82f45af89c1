#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace weft::controllers {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

using LogFields = std::initializer_list<std::pair<std::string_view, std::string>>;

// A log with one line per event: a short sentence and fields. Text from users is escaped.
// Thread-safety  all calls may run at once.
class Log {
 public:
  struct Options {
    LogLevel least = LogLevel::kInfo;
    bool json = false;
    std::function<void(const std::string& line)> write;  // receives one line with its line end
    std::function<std::string()> time;                   // RFC 3339
  };
  explicit Log(Options options) : options_(std::move(options)) {}

  void Debug(std::string_view what, LogFields fields = {}) {
    Write(LogLevel::kDebug, what, fields);
  }
  void Info(std::string_view what, LogFields fields = {}) { Write(LogLevel::kInfo, what, fields); }
  void Warning(std::string_view what, LogFields fields = {}) {
    Write(LogLevel::kWarning, what, fields);
  }
  void Error(std::string_view what, LogFields fields = {}) {
    Write(LogLevel::kError, what, fields);
  }

 private:
  void Write(LogLevel level, std::string_view what, LogFields fields);

  const Options options_;
};

}  // namespace weft::controllers
