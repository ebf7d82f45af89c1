#pragma once

#include <mutex>

#include "operator/kube/timer.h"

namespace weft::kube {

// A bucket of at most `burst` tokens that gets `per_second` tokens each second.
// Thread-safety  all calls may run at once.
class RateLimit {
 public:
  RateLimit(double per_second, int burst)
      : per_second_(per_second), burst_(burst), tokens_(burst) {}

  // Takes one token, if need be on credit; returns how long to wait until the token is there.
  Millis Take(Instant now);

 private:
  const double per_second_;
  const double burst_;
  std::mutex mutex_;
  double tokens_;
  Instant filled_{};
};

}  // namespace weft::kube
