#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/decide/cluster.h"
#include "operator/decide/gangs.h"
#include "operator/objective/scores.h"
#include "operator/placement/place.h"
#include "operator/report/compare.h"

namespace weft::report {

// One placement of a gang, judged.
struct Judged {
  std::vector<fabric::NodeIndex> nodes;  // index = worker
  placement::Scores scores;
  std::vector<LevelBytes> levels;
  Int128 cost = 0;
};

struct AuditGang {
  api::ObjectKey key;
  std::string kind;
  std::size_t fabric = 0;
  std::uint32_t workers = 0;
  std::uint32_t ranks = 0;
  bool modelled = false;  // a Placement beside it gives the model; else one ring, one byte a rank
  std::string placement;  // that Placement's name, "" none
  Judged now;
  // What `plan` would do if the gang's own claims were free, or its present nodes if they are as
  // good by every level of the objective.
  std::optional<Judged> best;
  // Why the present nodes are worse, as the predicate of a sentence (placement::WhyWorse); "" if
  // not worse.
  std::string worse;
  std::optional<std::int64_t> excess_percent;  // (cost - best) / best; absent where best is 0
  std::vector<decide::Note> notes;
};

struct AuditReport {
  std::vector<AuditGang> gangs;  // worst first: cost over the best in femtoseconds, then key
  // Sums over gangs; those without a model at one byte a rank around one ring.
  struct Total {
    std::size_t gangs = 0;
    std::uint64_t workers = 0;
    Int128 cross_node_bytes = 0, best_cross_node_bytes = 0;
    Int128 cost = 0, best_cost = 0;
    std::vector<LevelBytes> levels, best_levels;
    std::optional<std::int64_t> excess_percent;
  };
  Total total;                           // of all
  Total modelled, rings;                 // with a model; rings: comparable only among themselves
  std::vector<std::string> assumptions;  // assumptions behind the figures, in sentences
  std::vector<decide::Note> notes;       // pods on nodes outside every fabric, ...
};

// Judges what other schedulers placed (DESIGN section 5, `weft audit`). Gangs of fewer than two
// workers and pods without accelerators are left out.
// Errors  kInvalid where a Placement beside a gang does not divide.
struct AuditOptions {
  placement::Options place{};
  std::string space;  // only gangs of this namespace; "" all
};
Result<AuditReport> Audit(const decide::Cluster& cluster, const AuditOptions& options = {});

nlohmann::ordered_json AuditJson(const decide::Cluster& cluster, const AuditReport& report);

}  // namespace weft::report
