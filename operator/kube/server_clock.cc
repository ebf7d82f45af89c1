#include "operator/kube/server_clock.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace weft::kube {
namespace {

constexpr std::int64_t kSecond = 1'000;
// A Date has whole seconds: the time is half of one later in the mean, and another Date that is
// this near says nothing new.
constexpr std::int64_t kHalfSecond = 500, kSame = 1'500;
// Of the time that passes, what a leader's clock may gain or lose.
constexpr std::int64_t kSlewParts = 10;

}  // namespace

std::int64_t ServerClock::BootMillis() const {
  return std::chrono::duration_cast<run::Millis>(machine_.Now().time_since_epoch()).count();
}

void ServerClock::Hear(UnixSeconds date) {
  const std::lock_guard lock(mutex_);
  const std::int64_t now = BootMillis(), said = date * kSecond + kHalfSecond - now;
  const std::int64_t passed = now - std::exchange(heard_, now);
  const bool agrees = std::abs(said - std::exchange(last_, said)) < kSame;
  if (!since_boot_) {
    since_boot_ = said;
    return;
  }
  const std::int64_t differs = said - *since_boot_, most = passed / kSlewParts;
  if (!agrees || std::abs(differs) < kSame) return;
  *since_boot_ += kept_ ? std::clamp(differs, -most, most) : differs;
}

void ServerClock::Keep() {
  const std::lock_guard lock(mutex_);
  if (!since_boot_) since_boot_ = machine_.Wall() / kSecond - BootMillis();
  kept_ = true;
}

UnixSeconds ServerClock::Seconds() const {
  const std::lock_guard lock(mutex_);
  return since_boot_ ? (BootMillis() + *since_boot_) / kSecond : machine_.Seconds();
}

}  // namespace weft::kube
