#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/base/units.h"
#include "operator/cluster/cluster.h"
#include "operator/cluster/workload.h"

namespace weft::report {

// What becomes of one job that loses nodes.
enum class LossOutcome : std::uint8_t {
  kReplaced,   // its lost workers get other nodes, beside the healthy ones
  kRecreated,  // it must be placed anew as a whole, and that is possible
  kRefused,    // it has no place any more
};

struct JobLoss {
  std::string job;  // "namespace/name"
  std::uint32_t workers = 0, lost = 0;
  LossOutcome outcome = LossOutcome::kReplaced;
  // Of kReplaced: the lost workers, and healthy ones that move with their group.
  struct Move {
    std::uint32_t worker = 0;
    std::string from, to;
    bool healthy = false;
  };
  std::vector<Move> moves;                // by worker
  std::uint32_t groups_moved = 0;         // groups that move whole, healthy workers too
  Int128 cost_before = 0;                 // C(p), femtoseconds
  std::optional<Int128> cost_after;       // absent if kRefused
  std::string spans_before, spans_after;  // "1 spine, 3 leaf, 8 node"
  // Of kRecreated and kRefused: why the healthy workers cannot stay, a sentence.
  std::string why_not_replaced;
  // Of kRefused.
  std::string reason, message;
};

struct LoseReport {
  std::vector<std::string> lost;  // nodes, each once, as asked
  std::vector<JobLoss> jobs;      // that lose a worker, in the operator's order
  std::uint32_t spared = 0;       // running jobs that lose none

  bool AllGoOn() const;                      // no job is refused
  void KeepSpace(const std::string& space);  // only its jobs; "": all
};

// What would happen if these nodes were lost now: where the workers on them would go while all
// others stay, what the gang would cost then, and which gangs must be placed anew and why. Jobs are
// handled in the operator's order, each on what the earlier ones left.
//
// names   jobs to answer for ("namespace/name" or "name"); empty: all that lose a node.
// Errors  kInvalid for a node that no fabric has, and for a name that no running job has.
// Cost    a placement::Replace for each job that loses a node, and a Solve for each that must be
//         placed anew.
Result<LoseReport> Lose(const cluster::Cluster& cluster, const std::vector<std::string>& nodes,
                        const std::vector<std::string>& names);

nlohmann::ordered_json LoseJson(const LoseReport& report);

}  // namespace weft::report
