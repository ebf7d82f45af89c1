#include "operator/controllers/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

namespace weft::controllers {

void ForEach(run::Executor& executor, std::size_t count, std::size_t most,
             const std::function<bool(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto run = [&] {
    try {
      while (!stop) {
        const std::size_t i = next++;
        if (i >= count) return;
        if (!work(i)) stop = true;
      }
    } catch (...) {  // leaving a thread, it would end the process
      stop = true;
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
    }
  };
  std::vector<std::unique_ptr<run::Thread>> helpers;
  for (std::size_t i = 1; i < std::min(count, most); ++i) helpers.push_back(executor.Start(run));
  run();
  for (const auto& helper : helpers) helper->Join();
  if (thrown) std::rethrow_exception(thrown);
}

Batch RunBatch(run::Executor& executor, std::size_t count, std::size_t most, OnError on_error,
               const std::function<Status(std::size_t)>& write) {
  const run::Instant end = executor.Now() + kSlice;
  Batch batch;
  std::size_t tried = 0, unanswered = 0;
  std::mutex mutex;
  ForEach(executor, count, most, [&](std::size_t i) {
    const Status written = write(i);
    const std::lock_guard lock(mutex);
    ++tried;
    if (written) {
      ++batch.done;
    } else {
      if (!batch.error) batch.error = written.error();
      if (on_error == OnError::kStop) return false;
      if (written.error().kind == ErrorKind::kTransient) ++unanswered;
    }
    return unanswered < kUnansweredAtMost && executor.Now() < end;
  });
  batch.cut = tried < count && !batch.error;
  return batch;
}

}  // namespace weft::controllers
