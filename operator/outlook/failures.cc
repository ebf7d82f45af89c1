#include "operator/outlook/failures.h"

#include <cmath>

namespace weft::outlook {

Reliability ReliabilityOf(double nodes, const FailureRates& rates, double spot_nodes) {
  constexpr double kDay = 86'400, kHour = 3'600, kThousand = 1'000;
  const double between =
      kThousand * kDay /
      (nodes * rates.per_1000_node_days + spot_nodes * rates.interruptions_per_1000_node_days);
  const double stop = rates.checkpoint_seconds;
  const double ratio = stop / (2 * between);
  const double interval =
      ratio < 1 ? std::sqrt(2 * stop * between) * (1 + std::sqrt(ratio) / 3 + ratio / 9) - stop
                : between;
  Reliability out;
  out.hours_between_failures = between / kHour;
  out.checkpoint_interval_seconds = interval;
  const double lost = rates.restart_seconds + (interval + stop) / 2;
  out.effective_share = 1 / ((1 + stop / interval) * (1 + lost / between));
  return out;
}

}  // namespace weft::outlook
