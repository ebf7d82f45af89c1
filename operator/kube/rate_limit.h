#pragma once

#include <mutex>

#include "operator/kube/timer.h"

namespace weft::kube {

// A bucket of `burst` tokens that fills at `per_second`.
// Thread-safety  all calls may run at once.
class RateLimit {
 public:
  RateLimit(double per_second, int burst)
      : per_second_(per_second), burst_(burst), tokens_(burst) {}

  // Takes one token, on credit where there is none; how long to wait until it is there.
  Millis Take(Instant now);

 private:
  const double per_second_;
  const double burst_;
  std::mutex mutex_;
  double tokens_;
  Instant filled_{};
};

}  // namespace weft::kube
