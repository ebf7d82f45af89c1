#include "operator/simulate/faults.h"

#include <algorithm>
#include <cmath>

#include "operator/simulate/chance.h"
#include "operator/simulate/virtual_time.h"

namespace weft::simulate {
namespace {

constexpr double kNodeDays = 1000 * 86'400.0;  // of a rate, in seconds

std::vector<fabric::NodeIndex> NodesOf(const fabric::Fabric& fabric, bool only_spot) {
  std::vector<fabric::NodeIndex> nodes;
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(fabric.node_count())) {
    const bool spot = fabric.pools()[fabric.pool(n)].capacity == fabric::CapacityType::kSpot;
    if (fabric.accelerators(n) > 0 && fabric.usable(n) && (spot || !only_spot)) nodes.push_back(n);
  }
  return nodes;
}

}  // namespace

Faults::Faults(const fabric::Fabric& fabric, const FaultOptions& options, std::uint64_t seed) {
  SplitMix64 seeds(seed);
  const auto add = [&](FaultKind kind, double per_1000_node_days, double away, bool only_spot) {
    Process process{kind, 0, away, NodesOf(fabric, only_spot), SplitMix64(seeds.Next()), 0};
    process.rate = per_1000_node_days * static_cast<double>(process.nodes.size()) /
                   (kNodeDays * static_cast<double>(kSecond));
    if (process.rate <= 0) return;
    Draw(process);
    processes_.push_back(std::move(process));
  };
  add(FaultKind::kFailure, options.failures, options.repair_seconds, false);
  add(FaultKind::kInterruption, options.interruptions, options.return_seconds, true);
  add(FaultKind::kCordon, options.cordons, options.cordon_seconds, false);
}

void Faults::Draw(Process& process) const {
  process.next += 1 + static_cast<Micros>(Exponential(process.random) / process.rate);
}

std::optional<Micros> Faults::next_fault() const {
  std::optional<Micros> next;
  for (const Process& process : processes_)
    next = std::min(next.value_or(process.next), process.next);
  return next;
}

std::optional<Micros> Faults::next_return() const {
  if (returns_.empty()) return std::nullopt;
  return returns_.begin()->time;
}

std::optional<Fault> Faults::Take(Micros now) {
  if (!returns_.empty() && returns_.begin()->time <= now) {
    const Fault back = *returns_.begin();
    returns_.erase(returns_.begin());
    away_.erase(back.node);
    return back;
  }
  for (Process& process : processes_) {
    while (process.next <= now) {
      const Fault fault{process.next, process.kind,
                        process.nodes[process.random.Below(process.nodes.size())]};
      Draw(process);
      if (!away_.insert(fault.node).second) continue;
      returns_.insert({fault.time + ToMicros(process.away), FaultKind::kReturn, fault.node});
      return fault;
    }
  }
  return std::nullopt;
}

double LostSeconds(double done_seconds, double nodes, const FaultOptions& options) {
  outlook::FailureRates rates = options.restarts;
  rates.per_1000_node_days = options.failures + options.interruptions;
  if (rates.per_1000_node_days <= 0) return 0;
  const double interval = outlook::ReliabilityOf(nodes, rates).checkpoint_interval_seconds;
  return interval > 0 ? std::fmod(done_seconds, interval) : 0;
}

}  // namespace weft::simulate
