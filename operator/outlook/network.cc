#include "operator/outlook/network.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::outlook {
namespace {

double RingRate(const Path& path) {
  double rate = std::numeric_limits<double>::infinity();
  for (const Crossing& one : path.crossings) {
    rate = std::min(rate, one.members / one.exits * one.bytes_per_second);
  }
  return rate;
}

double Latency(const Path& path) {
  double latency = 0;
  for (const Crossing& one : path.crossings) latency = std::max(latency, one.latency_seconds);
  return latency;
}

bool Alone(const Path& path) { return path.ranks <= 1 || path.crossings.empty(); }

}  // namespace

double AllReduceSeconds(const Path& path, double bytes) {
  if (Alone(path)) return 0;
  const double share = (path.ranks - 1) / path.ranks;
  return 2 * share * bytes / RingRate(path) + (1 + std::log2(path.ranks)) * Latency(path);
}

double GatherSeconds(const Path& path, double bytes) { return AllReduceSeconds(path, bytes) / 2; }

double AllToAllSeconds(const Path& path, double bytes) {
  if (Alone(path)) return 0;
  double slowest = 0;
  for (const Crossing& one : path.crossings) {
    const double far = std::max(path.ranks - one.members, 0.0) / path.ranks;
    slowest = std::max(slowest, far * bytes / one.bytes_per_second);
  }
  return slowest + Latency(path);
}

double PairSeconds(const Path& path, double bytes) {
  if (Alone(path)) return 0;
  double rate = std::numeric_limits<double>::infinity();
  for (const Crossing& one : path.crossings) {
    rate =
        std::min({rate, one.line_bytes_per_second, one.members / one.exits * one.bytes_per_second});
  }
  return bytes / rate + Latency(path);
}

}  // namespace weft::outlook
