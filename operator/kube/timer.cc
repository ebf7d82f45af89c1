#include "operator/kube/timer.h"

#include <ctime>

#include "operator/base/timestamp.h"

namespace weft::kube {

namespace {

constexpr WallMicros kMicrosPerSecond = 1'000'000;

}  // namespace

BootClock::time_point BootClock::now() {
  timespec time{};
  clock_gettime(CLOCK_BOOTTIME, &time);
  return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}

std::string FormatMicroTime(WallMicros time) {
  const WallMicros micros = ((time % kMicrosPerSecond) + kMicrosPerSecond) % kMicrosPerSecond;
  std::string text = FormatTime((time - micros) / kMicrosPerSecond);
  const std::string fraction = std::to_string(kMicrosPerSecond + micros);  // 1 and six digits
  text.pop_back();
  return text + "." + fraction.substr(1) + "Z";
}

WallMicros SystemTimer::Wall() const {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
}

bool SystemTimer::Wait(Millis time) {
  std::unique_lock lock(mutex_);
  ended_changed_.wait_for(lock, time, [this] { return ended_; });
  return !ended_;
}

void SystemTimer::End() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_changed_.notify_all();
}

}  // namespace weft::kube
