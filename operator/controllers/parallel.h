#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>

#include "operator/base/result.h"
#include "operator/run/executor.h"

namespace weft::controllers {

// Calls `work` once for every index below `count`, up to `most` calls at a time, in the caller's
// thread and in threads of its own; returns when all calls have ended. After a call that returns
// false, no further call starts. An exception is thrown to the caller after all calls have ended.
void ForEach(run::Executor& executor, std::size_t count, std::size_t most,
             const std::function<bool(std::size_t)>& work);

// What became of a batch of writes of one reconcile.
struct Batch {
  std::size_t done = 0;        // writes that succeeded
  std::optional<Error> error;  // the first
  bool cut = false;            // its time was over before all were tried
};

enum class OnError : bool { kStop, kGoOn };

// Writes that a batch goes on after an error: an object that the API server refuses does not hold
// the others up. As many without an answer end it: the API server is down, or this process may no
// longer write.
inline constexpr std::size_t kUnansweredAtMost = 16;
// So long one reconcile writes for one gang. Then the others have their turn: there are more gangs
// than threads that reconcile, and the pods of a large one take minutes.
inline constexpr std::chrono::milliseconds kSlice{1'000};

// Calls `write` for the indices below `count` as ForEach does, until kSlice has passed. One write
// at least is tried.
Batch RunBatch(run::Executor& executor, std::size_t count, std::size_t most, OnError on_error,
               const std::function<Status(std::size_t)>& write);

}  // namespace weft::controllers
