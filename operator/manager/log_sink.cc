#include "operator/manager/log_sink.h"

#include <poll.h>
#include <unistd.h>

#include <climits>

namespace weft::manager {

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

}  // namespace weft::manager
