#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "operator/base/random.h"
#include "operator/fabric/fabric.h"
#include "operator/outlook/failures.h"
#include "operator/simulate/virtual_time.h"

namespace weft::simulate {

// What happens to nodes. All rates are per 1,000 node-days; 0: never.
struct FaultOptions {
  double failures = 0;  // a node fails: its jobs end and start again elsewhere
  double repair_seconds = outlook::kRepairSeconds;
  double interruptions = 0;  // the cloud takes a spot node away; only nodes of that capacity type
  double return_seconds = 3600;
  double cordons = 0;  // maintenance: jobs that run there go on, no other starts
  double cordon_seconds = 2 * 3600;
  // What a restart costs: the work since the last checkpoint, at the interval that loses least, and
  // restart_seconds before the job trains again.
  outlook::FailureRates restarts = {};

  bool any() const { return failures > 0 || interruptions > 0 || cordons > 0; }
};

enum class FaultKind : std::uint8_t { kFailure, kInterruption, kCordon, kReturn };

struct Fault {
  Micros time = 0;
  FaultKind kind = FaultKind::kFailure;
  fabric::NodeIndex node{0};

  friend auto operator<=>(const Fault&, const Fault&) = default;
};

// The faults of a fabric's nodes in order of time: a Poisson process for each kind. A node that is
// away has no further fault before it returns, after a fixed time.
class Faults {
 public:
  Faults(const fabric::Fabric& fabric, const FaultOptions& options, std::uint64_t seed);

  // When the next fault happens, and when the next node returns; absent: never.
  std::optional<Micros> next_fault() const;
  std::optional<Micros> next_return() const;
  // The next fault or return at this time, if there is one. A fault that meets a node which is away
  // is left out.
  std::optional<Fault> Take(Micros now);

 private:
  struct Process {
    FaultKind kind;
    double rate;  // per microsecond, of all its nodes
    double away;  // seconds
    std::vector<fabric::NodeIndex> nodes;
    SplitMix64 random;
    Micros next;
  };
  void Draw(Process& process) const;

  std::vector<Process> processes_;
  std::set<Fault> returns_;
  std::set<fabric::NodeIndex> away_;
};

// The seconds of work that a failure undoes for a job on so many nodes that has worked for
// `done_seconds` since it began: those since its last checkpoint.
double LostSeconds(double done_seconds, double nodes, const FaultOptions& options);

}  // namespace weft::simulate
