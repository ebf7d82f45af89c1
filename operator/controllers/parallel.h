#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>

#include "operator/base/result.h"
#include "operator/run/executor.h"

namespace weft::controllers {

// Calls `work` once for every index below `count`, up to `most` calls at a time, in the caller's
// thread and in threads of its own; returns when all calls have ended. After a call that returns
// false, no further call starts. An exception is thrown to the caller after all calls have ended.
void ForEach(run::Executor& executor, std::size_t count, std::size_t most,
             const std::function<bool(std::size_t)>& work);

// The errors of a batch. An object that the API server refuses does not stop the batch. Many
// requests without an answer stop it: the API server is down, or this process may no longer
// write.
// Thread-safety  all calls may run at once.
class Failures {
 public:
  static constexpr std::size_t kMost = 16;  // kTransient errors before the batch stops
  // Records an outcome; returns whether the batch goes on.
  bool GoOnAfter(const Status& outcome);
  // The first error of the batch.
  std::optional<Error> first() const;

 private:
  mutable std::mutex mutex_;
  std::size_t unanswered_ = 0;
  std::optional<Error> first_;
};

}  // namespace weft::controllers
