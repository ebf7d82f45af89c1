#pragma once

#include <cstdint>
#include <vector>

namespace weft::outlook {

// How often one node, or one whole domain of a level, fails, and how long it is then away.
struct AwayRate {
  double per_1000_days = 0;
  double repair_seconds = 0;

  // The share of the time that it is away; above 1 it would fail while it is away.
  double Share() const;
};

// The share of the time in which p99 spares are too few.
inline constexpr double kRarely = 0.01;

// How many of a number of nodes (or of domains) are away at the same time: Poisson, whatever the
// distribution of the times of repair, because failures do not wait for each other (M/G/infinity).
//
//   rho   nodes x failures of one in a day x days that it is away
//   P(k)  rho^k / k! x e^-rho
//
// How     From the most frequent number outwards, each P(k) follows from its neighbour; dividing by
//         their sum makes them shares. There is no power or factorial that could overflow.
// Errors  rho must be from 0 to kMostAway.
// Cost    O(sqrt(rho)) time and memory.
// Source  Mirasol, "The output of an M/G/infinity queuing system is Poisson", 1963.

class AwayNodes {
 public:
  static constexpr double kMostAway = 1e9;

  explicit AwayNodes(double rho);
  AwayNodes(double nodes, const AwayRate& rate) : AwayNodes(nodes * rate.Share()) {}

  double rho() const { return rho_; }
  double AtMost(std::int64_t count) const;    // P(that many or fewer are away)
  double MoreThan(std::int64_t count) const;  // 1 - AtMost, exact where it is tiny, too
  // The least number of spares that are too few for at most this share of the time.
  std::int64_t SparesFor(double share) const;
  // Below `least` AtMost is 0, from `most` on MoreThan is 0.
  std::int64_t least() const { return first_; }
  std::int64_t most() const { return first_ + static_cast<std::int64_t>(at_most_.size()) - 1; }

 private:
  double rho_;
  std::int64_t first_ = 0;
  std::vector<double> at_most_;    // by count - first_
  std::vector<double> more_than_;  // the same
};

// Useful work of nodes and spares, as a share of what all of them could do, if a job on all the
// nodes stands still while more of them are away than there are spares:
//   nodes / (nodes + spares) x P(at most `spares` are away)
// With `domains`, the job is on all nodes of so many equal domains, each has these spares, and a
// spare of one domain is of no use to another.
double Goodput(double nodes, const AwayNodes& away, std::int64_t spares, double domains = 1);

// The number of spares with the most useful work; of several the least.
// Cost  O(sqrt(rho)).
std::int64_t BestSpares(double nodes, const AwayNodes& away, double domains = 1);

}  // namespace weft::outlook
