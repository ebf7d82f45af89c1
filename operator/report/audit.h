#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/cluster/cluster.h"
#include "operator/cluster/gangs.h"
#include "operator/objective/scores.h"
#include "operator/placement/place.h"
#include "operator/report/half_gangs.h"
#include "operator/report/levels.h"

namespace weft::report {

// A placement of a gang with its cost and scores.
struct Judged {
  ByWorker<fabric::NodeIndex> nodes;
  objective::Scores scores;
  std::vector<LevelBytes> levels;
  Int128 cost = 0;
};

struct AuditGang {
  api::ObjectKey key;
  std::string kind;
  std::string group;   // the kind's API group
  bool alike = false;  // another gang has the same kind and key, and another group
  std::size_t fabric = 0;
  std::uint32_t workers = 0;
  std::uint32_t ranks = 0;
  // A Placement or the pods' annotations give the model; else one ring, one byte a rank.
  bool modelled = false;
  std::string placement;  // that Placement's name; "" if none
  Judged now;
  // The placement that `plan` would choose if the gang's own claims were free; the present nodes if
  // no level of the objective makes others better.
  std::optional<Judged> best;
  // Why the present nodes are worse, as the predicate of a sentence (objective::WhyWorse); "" if
  // they are not.
  std::string worse;
  std::optional<std::int64_t> excess_percent;  // (cost - best) / best; absent if best is 0
  std::vector<cluster::Note> notes;
};

struct AuditReport {
  std::vector<AuditGang> gangs;  // by cost above the best, largest first; then key
  // Sums over gangs. A gang without a model counts as one ring with one byte per rank.
  struct Total {
    std::size_t gangs = 0;
    std::uint64_t workers = 0;
    Int128 cross_node_bytes = 0, best_cross_node_bytes = 0;
    Int128 cost = 0, best_cost = 0;
    std::vector<LevelBytes> levels, best_levels;
    std::optional<std::int64_t> excess_percent;
  };
  Total total;                           // over all gangs
  Total modelled, rings;                 // gangs with a model, and gangs without
  std::vector<std::string> assumptions;  // assumptions behind the figures, in sentences
  std::vector<HalfGang> partly_started;  // of which `notes` speaks too
  std::vector<cluster::Note> notes;      // pods on nodes outside every fabric, ...
};

// Compares what other schedulers placed with the best placements, for `weft audit`.
// Gangs of fewer than two workers and pods without accelerators are left out.
// Errors  kInvalid if the degrees in a gang's Placement do not divide its world.
struct AuditOptions {
  std::string space;  // only gangs of this namespace; "": all
};
Result<AuditReport> Audit(const cluster::Cluster& cluster, const AuditOptions& options = {});

nlohmann::ordered_json AuditJson(const cluster::Cluster& cluster, const AuditReport& report);

}  // namespace weft::report
