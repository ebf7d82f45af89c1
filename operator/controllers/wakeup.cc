#include "operator/controllers/wakeup.h"

namespace weft::controllers {

void Wakeup::Ring() {
  const std::lock_guard lock(mutex_);
  rung_ = true;
  changed_->NotifyAll();
}

void Wakeup::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_->NotifyAll();
}

bool Wakeup::Await(Milliseconds pause, std::optional<Milliseconds> patience) {
  std::unique_lock lock(mutex_);
  changed_->WaitFor(lock, pause, [this] { return stopped_; });
  const auto due = [this] { return stopped_ || rung_; };
  if (patience) {
    changed_->WaitFor(lock, *patience, due);
  } else {
    while (!due()) changed_->Wait(lock);
  }
  rung_ = false;
  return !stopped_;
}

}  // namespace weft::controllers
