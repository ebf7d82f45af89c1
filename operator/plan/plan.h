#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/cluster/workload.h"
#include "operator/objective/scores.h"
#include "operator/placement/place.h"
#include "operator/placement/relax.h"
#include "operator/plan/best_costs.h"
#include "operator/plan/crashed_kinds.h"
#include "operator/plan/solver_crash.h"
#include "operator/predict/predict.h"

namespace weft::plan {

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
struct Outlook {
  std::optional<std::int64_t> within_seconds;  // from now, at the latest
  std::string after;                           // the last workload that must end before: "ns/name"
};

// A workload that gets no nodes, why, and what to do.
struct Refused {
  std::string reason;   // a condition's reason: "RequiredLevel", "FabricAmbiguous", ...
  std::string message;  // sentences: what is short, by how much, what would help
  std::optional<placement::Unplaceable> why;  // absent if the solver was not asked
  std::vector<placement::Relaxation> relaxations;
  Outlook outlook;
  std::optional<std::int64_t> wait_ends_in_seconds;  // when the wait of WaitingForPreferred ends
};

struct PlanEntry {
  cluster::Workload workload;
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
  // How many refusals get relaxations and an outlook (several searches each); the others only name
  // what is short.
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

// The claims on the entry's fabric just before the entry was decided.
fabric::Claims ClaimsBefore(const cluster::Cluster& cluster, const PlanReport& report,
                            std::size_t entry);

// Whether admission may add a toleration that the pods lack: some node has a taint with the name of
// an accelerator resource, which ExtendedResourceToleration (and GKE) tolerates for the pods that
// request it, and no API server has admitted the job's pods yet.
bool AdmissionMayTolerate(const cluster::Workload& workload, const placement::Unplaceable& no);

// The refusal in sentences. `relaxations` may be empty.
std::string RefusalText(const cluster::ClusterFabric& on, const cluster::Workload& workload,
                        const placement::Unplaceable& no,
                        const std::vector<placement::Relaxation>& relaxations);

}  // namespace weft::plan
