#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "operator/base/timestamp.h"

namespace weft::parent {

// The time of the last change of a file that the trainer writes with each checkpoint, read every
// five seconds by a thread of its own: a file system that hangs must not stop the heartbeats.
class CheckpointFile {
 public:
  explicit CheckpointFile(std::string path);  // empty: no file and no thread

  // Nothing while the file has not been seen.
  std::optional<UnixSeconds> Time() const;

 private:
  std::shared_ptr<std::atomic<UnixSeconds>> time_;  // 0: not seen
};

}  // namespace weft::parent
