#pragma once

#include <optional>

#include "operator/base/random.h"
#include "operator/kube/timer.h"

namespace weft::kube {

// The wait after the n-th failure in a row: a random part, from one half to all, of min(first x
// 2^(n-1), longest), so that clients that failed together do not retry together. After a minute
// without a failure the count starts again.
// Thread-safety  none.
class Backoff {
 public:
  struct Options {
    Millis first{1'000};
    Millis longest{30'000};
  };
  Backoff(Options options, std::uint64_t seed) : options_(options), random_(seed) {}

  void Succeeded(Instant now);
  Millis Failed(Instant now);
  // The wait after a failure. If the server asked for a wait (`retry_after`), at least that, but at
  // most a minute.
  Millis Failed(Instant now, std::optional<Millis> retry_after);
  // Failures in a row.
  int failures() const { return failures_; }

 private:
  Options options_;
  SplitMix64 random_;
  int failures_ = 0;
  std::optional<Instant> well_since_;
};

}  // namespace weft::kube
