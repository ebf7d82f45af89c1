#pragma once

#include <cstdint>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/simulate/virtual_time.h"

namespace weft::simulate {

// The state of the fleet at one time, or on average over one interval.
struct Moment {
  double used_gpus = 0;
  double waiting_jobs = 0, waiting_gpus = 0;
};

// The fleet over time, in equal intervals.
struct Series {
  struct Point {
    double seconds = 0;  // end of the interval
    Moment mean;         // over the interval
    // At its end: blocks of 1, 2, 4, ... wholly free nodes of one block domain.
    std::vector<std::uint32_t> free_blocks;
    double stranded_share = 0;         // of the free GPUs: on nodes that are partly used
    fabric::ByTier<double> link_load;  // by tier: what crosses its busiest uplink, over its rate
  };
  std::vector<Point> points;
  double gpu_seconds = 0;    // used
  double queue_seconds = 0;  // jobs waiting, over time
};

// Collects the series while the run goes on. The number of intervals stays between kFewest and
// twice as many: pairs are joined when there are more.
class Recorder {
 public:
  static constexpr std::size_t kFewest = 256;

  // The state has been `now` since the last call; it ends at `until`. `sample` fills in what holds
  // at the end of an interval.
  template <typename Sample>
  void Advance(Micros until, const Moment& now, Sample sample) {
    while (until >= end_of_interval_) {
      Accumulate(end_of_interval_, now);
      Series::Point point = Close();
      sample(point);
      series_.points.push_back(std::move(point));
      if (series_.points.size() >= 2 * kFewest) JoinPairs();
      end_of_interval_ += width_;
    }
    Accumulate(until, now);
  }
  double gpu_seconds() const { return series_.gpu_seconds; }
  Series Take() { return std::move(series_); }

 private:
  void Accumulate(Micros until, const Moment& now);
  Series::Point Close();
  void JoinPairs();

  Series series_;
  Moment sum_;  // x seconds, of the interval
  Micros at_ = 0, width_ = 60 * kSecond, end_of_interval_ = 60 * kSecond;
};

// Wholly free nodes in blocks of 1, 2, 4, ... by domain of the tier; nodes that are closed count as
// used.
std::vector<std::uint32_t> FreeBlocks(const fabric::Claims& claims, fabric::Tier tier);
// The narrowest tier whose domains have several nodes.
fabric::Tier BlockTier(const fabric::Fabric& fabric);
// The share of the free accelerators that is on partly used nodes.
double StrandedShare(const fabric::Claims& claims);

// Mean and percentiles of some values; all 0 if there are none. A percentile is the smallest value
// that at least so many percent of the values do not exceed.
struct Spread {
  double mean = 0, p50 = 0, p99 = 0;
};
Spread SpreadOf(std::vector<double> values);

}  // namespace weft::simulate
