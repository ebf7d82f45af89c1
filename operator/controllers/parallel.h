#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>

#include "operator/base/result.h"

namespace weft::controllers {

// Calls `work` once for every index below `count`, up to `most` at a time, in the caller's and in
// threads of its own; returns when all are done. A call that returns false lets no further one
// start. An exception of one is the caller's, once all have ended.
void ForEach(std::size_t count, std::size_t most, const std::function<bool(std::size_t)>& work);

// The errors of a batch. An object that the API server refuses does not stop the others. Many
// requests without an answer mean that the API server is away, or that this process may no longer
// write; then the rest is not tried.
// Thread-safety  all calls may run at once.
class Failures {
 public:
  static constexpr std::size_t kMost = 16;  // kTransient ones
  // Whether the batch goes on after that outcome.
  bool GoOnAfter(const Status& outcome);
  // The first one.
  std::optional<Error> first() const;

 private:
  mutable std::mutex mutex_;
  std::size_t unanswered_ = 0;
  std::optional<Error> first_;
};

}  // namespace weft::controllers
