#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/fabric/fabric.h"
#include "operator/objective/limits.h"
#include "operator/rules/pod_requirements.h"
#include "operator/traffic/traffic.h"
#include "operator/traffic/worker_sets.h"

namespace weft::objective {

// One of the job's topology.groups, resolved against a fabric.
struct GroupConstraint {
  traffic::WorkerSets sets;
  std::optional<fabric::Tier> required;
  std::optional<fabric::Tier> preferred;
};

// Pools that a gang may use together. Choices of lower rank are preferred; among choices of one
// rank that hold the job, the one with the best placement wins.
struct PoolChoice {
  std::string name;                      // for a person: "NVIDIA-H100-80GB-HBM3", "H100 or A100"
  std::vector<fabric::PoolIndex> pools;  // ascending
  std::uint32_t rank = 0;
  bool one_pool = false;  // the gang keeps to one of the pools, which are Cloud TPU slices
};
// A rule that limits the choices of pools, its relaxation, and the choices that the relaxation
// would give.
struct PoolRelaxation {
  std::string constraint, change;  // as in relax.h, Relaxation
  std::vector<PoolChoice> choices;
};

// Everything Place needs to know of one job. Tiers run wide to narrow (fabric.h).
struct Request {
  std::string job;  // "namespace/name", for ComputeDomain ownership
  std::uint32_t workers = 0;
  rules::PodRequirements pod;
  std::optional<fabric::Tier> required;
  std::optional<fabric::Tier> preferred;
  std::vector<GroupConstraint> groups;
  std::vector<fabric::NodeIndex> excluded;  // ascending
  // The node of each worker in the job's last attempt; kUnplaced if that node is gone. A worker on
  // any of these nodes does not count as moved, whichever worker was there. Empty if there was no
  // attempt; may be shorter or longer than `workers`.
  ByWorker<fabric::NodeIndex> previous_nodes;
  // Ordered by rank. Absent: every node will do. Empty: no node has a requested product.
  std::optional<std::vector<PoolChoice>> pool_choices;
  std::vector<PoolRelaxation> pool_relaxations;  // the smallest change first
  // From traffic::WorkerGrid: how the worker index counts through the axes. A hint for the search;
  // it does not change which placement is best. Empty means one row of workers.
  std::vector<std::uint32_t> grid;
  // The groups of traffic::LargestRing, whose smallest part in one scale-up domain is a level of
  // the objective. Absent if there is no such ring or the fabric has no scale-up network that
  // nests.
  std::optional<traffic::SeatedGroups> ring;
};

class RoomTables;

struct Options {
  SearchLimits limits = LimitsOf(Effort::kNormal);
  std::optional<int> cost_tolerance_percent;  // instead of the fabric's
  bool ignore_claims = false;                 // plan as if nothing else ran
  bool ignore_health = false;                 // and as if every node were usable and not cordoned
  bool bound = true;                          // false: saves time, Plan::lower_bound is 0
  // Keeps rooms from one job to the next; it does not change an answer. null, or of other claims:
  // they are counted anew.
  RoomTables* rooms = nullptr;
};

}  // namespace weft::objective
