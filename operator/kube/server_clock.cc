#include "operator/kube/server_clock.h"

#include <cstdlib>

namespace weft::kube {
namespace {

constexpr std::int64_t kSecond = 1'000;
// A Date has whole seconds: the time is half of one later in the mean, and another Date that is
// this near says nothing new.
constexpr std::int64_t kHalfSecond = 500, kSame = 1'500;

}  // namespace

std::int64_t ServerClock::BootMillis() const {
  return std::chrono::duration_cast<run::Millis>(machine_.Now().time_since_epoch()).count();
}

void ServerClock::Hear(UnixSeconds date) {
  if (kept_) return;
  const std::int64_t since_boot = date * kSecond + kHalfSecond - BootMillis();
  if (heard_ && std::abs(since_boot - since_boot_) < kSame) return;
  since_boot_ = since_boot;
  heard_ = true;
}

void ServerClock::Keep() {
  if (kept_) return;
  if (!heard_) since_boot_ = machine_.Wall() / kSecond - BootMillis();
  kept_ = true;
}

UnixSeconds ServerClock::Seconds() const {
  if (!heard_ && !kept_) return machine_.Seconds();
  return (BootMillis() + since_boot_) / kSecond;
}

}  // namespace weft::kube
