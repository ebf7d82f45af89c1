#include "operator/kube/backoff.h"

#include <algorithm>

namespace weft::kube {

namespace {
constexpr Millis kLongestAsked{60'000};
// After this long without a failure, the count restarts: twice the usual longest wait, so that a
// success between two failures does not.
constexpr Millis kHealthy{60'000};
constexpr int kMostFailures = 30;  // 2^30 x first does not overflow
}  // namespace

void Backoff::Succeeded(Instant now) {
  if (!well_since_) well_since_ = now;
}

Millis Backoff::Failed(Instant now) {
  if (well_since_ && now - *well_since_ >= kHealthy) failures_ = 0;
  well_since_.reset();
  failures_ = std::min(failures_ + 1, kMostFailures);
  const Millis whole =
      std::min(Millis(options_.first.count() << (failures_ - 1)), options_.longest);
  const auto half = static_cast<std::uint64_t>(whole.count() / 2);
  return whole - Millis(random_.Below(half + 1));
}

Millis Backoff::Failed(Instant now, std::optional<Millis> retry_after) {
  const Millis wait = Failed(now);
  if (!retry_after || *retry_after <= Millis(0)) return wait;
  const auto tenth = static_cast<std::uint64_t>(wait.count() / 10);
  return std::max(wait, std::min(*retry_after, kLongestAsked) + Millis(random_.Below(tenth + 1)));
}

}  // namespace weft::kube
