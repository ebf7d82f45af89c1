#include "operator/outlook/spares.h"

#include <algorithm>
#include <cmath>

#include "operator/base/check.h"

namespace weft::outlook {
namespace {

constexpr double kThousandDays = 1000 * 86'400.0;  // seconds
// Shares below this one, relative to the most frequent number's, change no double of a sum.
constexpr double kNothing = 1e-20;

}  // namespace

double AwayRate::Share() const { return per_1000_days * repair_seconds / kThousandDays; }

AwayNodes::AwayNodes(double rho) : rho_(rho) {
  WEFT_CHECK(rho >= 0 && rho <= kMostAway);
  const auto mode = static_cast<std::int64_t>(rho);
  std::vector<double> shares = {1};  // from the mode downwards, then turned round
  first_ = mode;
  for (double share = 1; first_ > 0; --first_) {
    share *= static_cast<double>(first_) / rho;
    if (share < kNothing) break;
    shares.push_back(share);
  }
  std::reverse(shares.begin(), shares.end());
  double share = 1;
  for (std::int64_t k = mode + 1;; ++k) {
    share *= rho / static_cast<double>(k);
    if (share < kNothing) break;
    shares.push_back(share);
  }
  double sum = 0;
  for (const double one : shares) sum += one;
  at_most_.resize(shares.size());
  more_than_.resize(shares.size());
  double below = 0, above = 0;  // each summed from its small end, where the small shares count
  for (std::size_t k = 0, r = shares.size(); k < shares.size(); ++k) {
    at_most_[k] = (below += shares[k]) / sum;
    more_than_[--r] = above / sum;
    above += shares[r];
  }
}

double AwayNodes::AtMost(std::int64_t count) const {
  if (count < first_) return 0;
  return count >= most() ? 1 : at_most_[static_cast<std::size_t>(count - first_)];
}

double AwayNodes::MoreThan(std::int64_t count) const {
  if (count < first_) return 1;
  return count >= most() ? 0 : more_than_[static_cast<std::size_t>(count - first_)];
}

std::int64_t AwayNodes::SparesFor(double share) const {
  // more_than_ falls.
  const auto enough = std::partition_point(more_than_.begin(), more_than_.end(),
                                           [&](double more) { return more > share; });
  return std::min(first_ + (enough - more_than_.begin()), most());
}

double Goodput(double nodes, const AwayNodes& away, std::int64_t spares, double domains) {
  const double working = nodes / (nodes + static_cast<double>(spares));
  // As a power of 1 - MoreThan, which is exact where nearly no domain ever lacks a spare.
  return working * std::exp(domains * std::log1p(-away.MoreThan(spares)));
}

std::int64_t BestSpares(double nodes, const AwayNodes& away, double domains) {
  std::int64_t best = 0;
  double most = -1;
  for (std::int64_t spares = away.least(); spares <= away.most(); ++spares) {
    const double goodput = Goodput(nodes, away, spares, domains);
    if (goodput <= most) continue;
    most = goodput;
    best = spares;
  }
  return best;
}

}  // namespace weft::outlook
