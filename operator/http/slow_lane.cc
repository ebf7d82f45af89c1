#include "operator/http/slow_lane.h"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace weft::http {
namespace {

constexpr int kNice = 10;

}  // namespace

SlowLane::SlowLane(std::size_t most_waiting)
    : most_waiting_(most_waiting), thread_([this] { Run(); }) {}

SlowLane::~SlowLane() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

bool SlowLane::Take(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= most_waiting_) return false;
  waiting_.push_back(std::move(work));
  changed_.notify_one();
  return true;
}

void SlowLane::Run() {
  // Linux has a priority per thread; if it cannot be lowered, the work is done anyway.
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
      if (stopped_) return;
      work = std::move(waiting_.front());
      waiting_.pop_front();
    }
    work();
  }
}

}  // namespace weft::http
