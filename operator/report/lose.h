#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/base/units.h"
#include "operator/cluster/cluster.h"
#include "operator/cluster/workload.h"

namespace weft::report {

// What one job that loses nodes needs to go on. Today the operator restarts it whole (Recreate) in
// every case; kReplaced says that less would be enough.
enum class LossOutcome : std::uint8_t {
  kReplaced,     // its lost workers could get other nodes, beside the healthy ones
  kRecreated,    // it must be placed anew as a whole, and that is possible
  kRefused,      // it has no place any more
  kNotComputed,  // too many lost workers; it can be placed anew
  kInvalid,      // nothing can be said, because its spec is invalid
};
// "Replaced", "Recreated", "Refused", "NotComputed", "Invalid".
std::string_view OutcomeName(LossOutcome outcome);

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
  std::optional<Int128> cost_after;       // absent if kRefused or kInvalid
  std::string spans_before, spans_after;  // "1 spine, 3 leaf, 8 node"
  // Unless kReplaced or kInvalid: why the healthy workers cannot stay, a sentence.
  std::string why_not_replaced;
  // Of kRefused; of kInvalid the message only.
  std::string reason, message;
};

// Something else that holds a lost node: a gang or pod that Weft did not place, or a job of which
// another node is in no fabric.
struct OtherHolder {
  std::string kind, name;  // "Job", "namespace/name"
};

struct LoseReport {
  std::vector<std::string> lost;    // nodes, each once, as asked
  std::vector<JobLoss> jobs;        // that lose a worker, in the operator's order
  std::vector<std::string> spared;  // running jobs that lose none
  std::vector<OtherHolder> others;
  std::uint32_t left_out = 0;  // jobs and other holders that lose nodes but were not asked for

  bool AllGoOn() const;                      // every job has a place
  void KeepSpace(const std::string& space);  // only what is in it, the rest is left out; "": all
};

// What the loss of these nodes would need now: where the workers on them could go while all others
// stay, what the gang would cost then, and which gangs must be placed anew and why. Jobs are
// handled in the operator's order, each on what the earlier ones left.
//
// names   jobs to answer for ("namespace/name" or "name"); empty: all that lose a node.
// mark    what follows from an invalid spec: kInvalid an entry that says so, kNo an error.
// Errors  kInvalid for a node that no fabric has, and for a name that no running job has.
// Cost    a placement::Replace for each job that loses a node, and a Solve for each that must be
//         placed anew.
Result<LoseReport> Lose(const cluster::Cluster& cluster, const std::vector<std::string>& nodes,
                        const std::vector<std::string>& names,
                        cluster::Mark mark = cluster::Mark::kInvalid);

nlohmann::ordered_json LoseJson(const LoseReport& report);

}  // namespace weft::report
