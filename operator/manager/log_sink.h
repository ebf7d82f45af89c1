#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "operator/controllers/log.h"
#include "operator/manager/operator_flags.h"

namespace weft::manager {

// Writes lines of a log to a file descriptor and never waits: a pipe that nobody reads must not
// stop the operator. A line that would have to wait is dropped; the next line says how many were.
// A line longer than a pipe takes in one write (PIPE_BUF) is cut.
// Thread-safety  Write from any thread.
class LogSink {
 public:
  explicit LogSink(int descriptor) : descriptor_(descriptor) {}
  void Write(std::string line);

 private:
  const int descriptor_;
  std::mutex mutex_;
  std::uint64_t dropped_ = 0;
};

// The log that the flags ask for, on standard error.
controllers::Log MakeLog(const OperatorFlags& flags);

}  // namespace weft::manager
