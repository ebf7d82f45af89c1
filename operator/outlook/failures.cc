#include "operator/outlook/failures.h"

#include <cmath>

namespace weft::outlook {

namespace {

constexpr double kDay = 86'400, kHour = 3'600, kThousand = 1'000;

}  // namespace

Reliability ReliabilityOf(double nodes, const FailureRates& rates, double spot_nodes) {
  return ReliabilityAt(
      nodes * rates.per_1000_node_days + spot_nodes * rates.interruptions_per_1000_node_days,
      rates);
}

Reliability ReliabilityAt(double failures_per_1000_days, const FailureRates& rates) {
  const double between = kThousand * kDay / failures_per_1000_days;
  const double stop = rates.checkpoint_seconds;
  const double ratio = stop / (2 * between);
  Reliability out;
  out.hours_between_failures = between / kHour;
  out.checkpoint_interval_seconds =
      ratio < 1 ? std::sqrt(2 * stop * between) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - stop
                : between;
  out.effective_share =
      EffectiveShare(out.hours_between_failures, out.checkpoint_interval_seconds, rates);
  return out;
}

double EffectiveShare(double hours_between_failures, double checkpoint_interval_seconds,
                      const FailureRates& rates) {
  if (std::isinf(hours_between_failures)) return 1;
  const double stop = rates.checkpoint_seconds;
  const double lost = rates.restart_seconds + (checkpoint_interval_seconds + stop) / 2;
  return 1 /
         ((1 + stop / checkpoint_interval_seconds) * (1 + lost / (hours_between_failures * kHour)));
}

}  // namespace weft::outlook
