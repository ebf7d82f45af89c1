#include "operator/manager/log_sink.h"

#include <poll.h>
#include <unistd.h>

#include <climits>
#include <memory>

#include "operator/base/timestamp.h"
#include "operator/run/executor.h"

namespace weft::manager {
namespace {

controllers::LogLevel LevelOf(const std::string& name) {
  if (name == "debug") return controllers::LogLevel::kDebug;
  if (name == "warning") return controllers::LogLevel::kWarning;
  if (name == "error") return controllers::LogLevel::kError;
  return controllers::LogLevel::kInfo;
}

}  // namespace

void LogSink::Write(std::string line) {
  const std::lock_guard lock(mutex_);
  if (dropped_ > 0) line = "(" + std::to_string(dropped_) + " lines dropped) " + line;
  if (line.size() > PIPE_BUF) line = line.substr(0, PIPE_BUF - 1) + "\n";
  // A pipe that poll reports as writable takes PIPE_BUF bytes without blocking.
  pollfd ready{descriptor_, POLLOUT, 0};
  const bool free = poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0;
  if (!free || write(descriptor_, line.data(), line.size()) < 0) {
    ++dropped_;
  } else {
    dropped_ = 0;
  }
}

controllers::Log MakeLog(const OperatorFlags& flags) {
  controllers::Log::Options options;
  options.least = LevelOf(flags.log_level);
  options.json = flags.log_format == "json";
  options.write = [sink = std::make_shared<LogSink>(STDERR_FILENO)](const std::string& line) {
    sink->Write(line);
  };
  options.time = [] { return FormatTime(run::SystemExecutor().Seconds()); };
  return controllers::Log(std::move(options));
}

}  // namespace weft::manager
