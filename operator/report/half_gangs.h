#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/cluster/note.h"

namespace weft::report {

// A gang of another controller that holds accelerators with some of its workers while others have
// no node. Nothing else can use what it holds until the others fit.
struct HalfGang {
  api::ObjectKey key;
  std::string kind;                  // with the API group where two gangs would look the same
  std::int64_t accelerators = 0;     // that it holds
  std::int64_t placed = 0;           // workers with a node, or that have succeeded
  std::int64_t workers = 0;          // all that must run together, as far as known
  std::vector<std::string> waiting;  // pods without a node
  std::int64_t not_created = 0;      // workers that have no pod
  std::string why;                   // why the first of `waiting` has no node; "" if unknown
};

// The number of workers is that of the pods, or more if the pods tell: the size of a group of a
// LeaderWorkerSet, the total of a pod group of Kueue, or the least number of members that Volcano
// and coscheduling write on pods. These count all pods of a gang or of a scheduler's group, with
// those without accelerators; a group of several gangs is told of once, by the first of them.
// TrainingJobs, pods that wait for a Placement of Weft, which start as a whole, and owners whose
// pods need not run together are none.
//
// `space`  of one namespace; "": all.
// Cost     O(pods log pods).
std::vector<HalfGang> HalfGangs(const api::Inputs& inputs, const std::string& space);

// A warning for each, PartlyStarted: "MPIJob team/train holds 16 accelerators with 2 of 3 workers;
// train-2 has no node: 0/4 nodes are available: ...".
std::vector<cluster::Note> NotesOf(const std::vector<HalfGang>& gangs);

// [{"namespace", "name", "kind", "accelerators", "workersWithNode", "workers", "withoutNode":
// [pods],
//   "notCreated", "why"}]; an unknown reason is left out.
nlohmann::ordered_json HalfGangsJson(const std::vector<HalfGang>& gangs);

}  // namespace weft::report
