#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/cluster/workload.h"
#include "operator/placement/place.h"
#include "operator/placement/relax.h"
#include "operator/plan/best_costs.h"
#include "operator/plan/crashed_kinds.h"
#include "operator/plan/plan_report.h"
#include "operator/plan/solver_crash.h"

namespace weft::plan {

struct PlanOptions {
  cluster::Order order = cluster::Order::kFile;
  objective::Options place;
  bool best = true;  // compute Placed::best (one more search per workload)
  // Remembers Placed::best from one plan to the next; it does not change an answer. null: no
  // memory.
  BestCosts* best_costs = nullptr;
  const outlook::Prices* prices = nullptr;  // for Predicted::cost_per_hour; null: no costs
  // What to do about a user's mistake in a workload. true: the workload is refused ("Invalid"), and
  // the others are placed. false: Plan returns an Error.
  bool refuse_invalid = false;
  // true: a TrainingJob of which the status says that it waits in a queue of Kueue is refused with
  // that reason. false, for the planner: whoever asks for nodes has its quota.
  bool heed_queues = false;
  // A workload that has waited this long and can ever fit gets a reservation (reservation.h)
  // against later workloads, at most one per fabric; absent: no reservations.
  std::optional<std::int64_t> reserve_after_seconds;
  // How many refusals get relaxations and a fit time (several searches each); the others only
  // name what is short.
  std::uint32_t explained_refusals = 64;
  // A steady clock in microseconds, for solve_microseconds; null: no times.
  std::function<std::int64_t()> microseconds;
  // Called after each decision, for progress; may be null.
  std::function<void(std::size_t done, std::size_t total)> progress;
  Deciding deciding;  // may be null
  // A workload on which the solver has crashed is refused (solver_crash.h) or has no figures.
  CrashQuestion crashes;
  // Remembers refusals for crashes from one plan to the next, for equal workloads; null: only those
  // of this plan count.
  CrashedKinds* crashed_kinds = nullptr;
};

// Places every pending workload on the capacity that earlier ones leave, for `weft plan` and
// the planner.
//
// Errors  kInvalid for a user's mistake in a workload, starting with its place; there is no partial
//         answer then.
// Cost    one search per workload, one more for a `best` that is not remembered, O(edges) for
// scores and for `predicted`.
Result<PlanReport> Plan(const cluster::Cluster& cluster, const PlanOptions& options = {});

}  // namespace weft::plan
