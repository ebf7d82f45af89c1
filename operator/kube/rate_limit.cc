#include "operator/kube/rate_limit.h"

#include <algorithm>
#include <cmath>

namespace weft::kube {

Millis RateLimit::Take(Instant now) {
  const std::lock_guard lock(mutex_);
  if (filled_ != Instant{} && now > filled_) {
    const double seconds = std::chrono::duration<double>(now - filled_).count();
    tokens_ = std::min(burst_, tokens_ + seconds * per_second_);
  }
  filled_ = std::max(filled_, now);
  tokens_ -= 1;
  if (tokens_ >= 0) return Millis{0};
  constexpr double kMillis = 1000;
  return Millis{static_cast<Millis::rep>(std::ceil(-tokens_ / per_second_ * kMillis))};
}

}  // namespace weft::kube
