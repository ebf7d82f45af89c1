#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace weft::http {

// A queue of slow work items, run one after the other in a thread of low priority.
// Thread-safety  Take from any thread.
class SlowLane {
 public:
  explicit SlowLane(std::size_t most_waiting);
  // Drops items that have not begun.
  ~SlowLane();
  SlowLane(const SlowLane&) = delete;
  SlowLane& operator=(const SlowLane&) = delete;

  // Adds an item; false if the queue is full.
  bool Take(std::function<void()> work);

 private:
  void Run();

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::deque<std::function<void()>> waiting_;
  std::thread thread_;
};

}  // namespace weft::http
