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

bool Failures::GoOnAfter(const Status& outcome) {
  if (outcome) return true;
  const std::lock_guard lock(mutex_);
  if (!first_) first_ = outcome.error();
  if (outcome.error().kind == ErrorKind::kTransient) ++unanswered_;
  return unanswered_ < kMost;
}

std::optional<Error> Failures::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

}  // namespace weft::controllers
