#include "operator/kube/timer.h"

#include "operator/base/timestamp.h"

namespace weft::kube {

namespace {

constexpr WallMicros kMicrosPerSecond = 1'000'000;

}  // namespace

std::string FormatMicroTime(WallMicros time) {
  const WallMicros micros = ((time % kMicrosPerSecond) + kMicrosPerSecond) % kMicrosPerSecond;
  std::string text = FormatTime((time - micros) / kMicrosPerSecond);
  const std::string fraction = std::to_string(kMicrosPerSecond + micros);  // 1 and six digits
  text.pop_back();
  return text + "." + fraction.substr(1) + "Z";
}

bool SystemTimer::Wait(Millis time) {
  std::unique_lock lock(mutex_);
  return !ended_changed_->WaitFor(lock, time, [this] { return ended_; });
}

void SystemTimer::End() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ended_changed_->NotifyAll();
}

}  // namespace weft::kube
