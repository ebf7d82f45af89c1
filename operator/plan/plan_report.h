#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "operator/base/refusal.h"
#include "operator/cluster/cluster.h"
#include "operator/cluster/workload.h"
#include "operator/fabric/claims.h"
#include "operator/objective/scores.h"
#include "operator/placement/place.h"
#include "operator/placement/relax.h"
#include "operator/plan/best_costs.h"
#include "operator/predict/predict.h"

namespace weft::plan {

// What Plan (plan.h) answers.

// A workload that has nodes now.
struct Placed {
  placement::Plan plan;
  objective::Scores scores;
  // The solver's result on the empty fabric; absent if the job does not fit even then, or if not
  // requested.
  using Best = BestCost;
  std::optional<Best> best;
  // Absent without a transformer, or if it cannot be predicted.
  std::optional<predict::Predicted> predicted;
};

// When a refused workload would fit, from the expected durations of others; unknown if both members
// are empty.
struct FitTime {
  std::optional<std::int64_t> within_seconds;  // from now, at the latest
  std::string after;                           // the last workload that must end before: "ns/name"
};

// A workload that gets no nodes, why, and what to do.
struct Refused : Refusal {
  std::optional<placement::Unplaceable> why;  // absent if the solver was not asked
  std::vector<placement::Relaxation> relaxations;
  FitTime fit_time;
  std::optional<std::int64_t> held_seconds = {};  // HeldBack: the reservation ends then by itself
};

struct PlanEntry {
  cluster::WorkloadView workload;
  std::optional<std::size_t> fabric;  // into Cluster::fabrics; absent if none was chosen
  bool modelled = false;              // true: a model is given, so bytes are known
  std::uint32_t ranks = 0;
  std::variant<Placed, Refused> outcome;
  std::vector<cluster::Note> notes;
  std::int64_t solve_microseconds = 0;  // 0 without a clock

  const Placed* placed() const { return std::get_if<Placed>(&outcome); }
  const Refused* refused() const { return std::get_if<Refused>(&outcome); }
};

struct PlanReport {
  std::vector<PlanEntry> entries;    // input order
  std::vector<std::size_t> decided;  // indices of entries in the order they were decided
  std::vector<cluster::Note> notes;  // of the cluster and its fabrics, each once

  bool AllPlaced() const;
};

// The claims on the entry's fabric just before the entry was decided.
fabric::Claims ClaimsBefore(const cluster::Cluster& cluster, const PlanReport& report,
                            std::size_t entry);

// Whether waiting cannot help: the workload is invalid, the solver has crashed twice on it itself,
// or it would not fit even if nothing else ran and every node were usable, not cordoned and not
// excluded, with all accelerators that it has. Without any node this is not known, so false.
bool NeverFits(const Refused& refused);
bool NeverFits(const placement::Unplaceable& why);

// Adds to each refusal that waiting can end how many such workloads are ahead of it on its fabric.
void AddAheadTexts(PlanReport& report);

}  // namespace weft::plan
