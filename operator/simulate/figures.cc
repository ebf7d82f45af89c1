#include "operator/simulate/figures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "operator/simulate/virtual_time.h"

namespace weft::simulate {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

void Recorder::Accumulate(Micros until, const Moment& now) {
  const double seconds = ToSeconds(until - at_);
  at_ = until;
  sum_.used_gpus += now.used_gpus * seconds;
  sum_.waiting_jobs += now.waiting_jobs * seconds;
  sum_.waiting_gpus += now.waiting_gpus * seconds;
  series_.gpu_seconds += now.used_gpus * seconds;
  series_.queue_seconds += now.waiting_jobs * seconds;
}

Series::Point Recorder::Close() {
  const double seconds = ToSeconds(width_);
  Series::Point point;
  point.seconds = ToSeconds(end_of_interval_);
  point.mean = {sum_.used_gpus / seconds, sum_.waiting_jobs / seconds, sum_.waiting_gpus / seconds};
  sum_ = {};
  return point;
}

void Recorder::JoinPairs() {
  std::vector<Series::Point> joined;
  for (std::size_t i = 0; i + 1 < series_.points.size(); i += 2) {
    const Moment& first = series_.points[i].mean;
    Series::Point& second = series_.points[i + 1];
    second.mean = {(first.used_gpus + second.mean.used_gpus) / 2,
                   (first.waiting_jobs + second.mean.waiting_jobs) / 2,
                   (first.waiting_gpus + second.mean.waiting_gpus) / 2};
    joined.push_back(std::move(second));
  }
  series_.points = std::move(joined);
  width_ *= 2;
}

Tier BlockTier(const fabric::Fabric& fabric) {
  for (Tier tier = fabric.node_tier(); tier-- > Tier{0};) {
    if (fabric.domains(tier).size() < fabric.node_count()) return tier;
  }
  return fabric::kOutside;
}

std::vector<std::uint32_t> FreeBlocks(const fabric::Claims& claims, Tier tier) {
  const fabric::Fabric& fabric = claims.fabric();
  const auto& begin = fabric.domains(tier).begin;
  std::vector<std::uint32_t> blocks;
  for (DomainIndex d{0}; d < fabric.domains(tier).EndIndex(); ++d) {
    std::uint32_t free = 0;
    for (NodeIndex n = begin[d]; n < begin[d + 1]; ++n) {
      free += fabric.accelerators(n) > 0 && claims.wholly_free(n) && fabric.usable(n) ? 1 : 0;
    }
    std::uint32_t size = 1;
    for (std::size_t i = 0; size <= begin[d + 1] - begin[d]; ++i, size *= 2) {
      if (blocks.size() <= i) blocks.push_back(0);
      blocks[i] += free / size;
    }
  }
  return blocks;
}

double StrandedShare(const fabric::Claims& claims) {
  std::int64_t free = 0, stranded = 0;
  for (const NodeIndex n : Range<NodeIndex>(claims.fabric().node_count())) {
    const std::int64_t here = std::max<std::int64_t>(0, claims.free_accelerators(n));
    free += here;
    if (!claims.wholly_free(n)) stranded += here;
  }
  return free == 0 ? 0 : static_cast<double>(stranded) / static_cast<double>(free);
}

Spread SpreadOf(std::vector<double> values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  const auto percentile = [&](double percent) {
    const auto rank = static_cast<std::size_t>(std::ceil(percent / 100 * count));
    const std::size_t index = std::max<std::size_t>(rank, 1) - 1;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(index);
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  return {mean, percentile(50), percentile(99)};
}

}  // namespace weft::simulate
