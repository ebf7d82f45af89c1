#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/fabric/fabric.h"
#include "operator/objective/limits.h"
#include "operator/rules/pod_requirements.h"
#include "operator/traffic/traffic.h"

namespace weft::placement {

// One of the job's topology.groups, resolved against a fabric.
struct GroupConstraint {
  traffic::WorkerSets sets;
  std::optional<fabric::Tier> required;
  std::optional<fabric::Tier> preferred;
};

// Pools that a gang may be made of. Of the choices of the least rank that hold the job, the one
// with the best placement wins.
struct PoolChoice {
  std::string name;                      // for a person: "NVIDIA-H100-80GB-HBM3", "H100 or A100"
  std::vector<fabric::PoolIndex> pools;  // ascending
  std::uint32_t rank = 0;
};
// How the rules behind the choices could be relaxed.
struct PoolRelaxation {
  std::string constraint, change;  // as in Relaxation
  std::vector<PoolChoice> choices;
};

// Everything Place needs to know of one job. Tiers run wide to narrow (fabric.h).
struct Request {
  std::string job;  // "namespace/name", for ComputeDomain ownership
  std::uint32_t workers = 0;
  PodRequirements pod;
  std::optional<fabric::Tier> required;
  std::optional<fabric::Tier> preferred;
  std::vector<GroupConstraint> groups;
  std::vector<fabric::NodeIndex> excluded;  // ascending
  // Where each worker was in the job's last attempt, kUnplaced where that node is gone. A worker
  // may stand on any of them, taken or not by its old worker, without counting as moved. Empty:
  // there was no attempt. May be shorter or longer than `workers`.
  std::vector<fabric::NodeIndex> previous_nodes;
  // By rank; absent: any node will do. Empty: no node of the fabric has a requested product.
  std::optional<std::vector<PoolChoice>> pool_choices;
  std::vector<PoolRelaxation> pool_relaxations;  // the narrowest first
  // traffic::WorkerGrid: how the worker index counts through the axes. A hint for the search, of
  // no effect on what counts as best; empty means one row of workers.
  std::vector<std::uint32_t> grid;
};

struct Options {
  SearchLimits limits = LimitsOf(Effort::kNormal);
  std::optional<int> cost_tolerance_percent;  // instead of the fabric's
  bool ignore_claims = false;                 // as if nothing else ran
  bool bound = true;                          // else Plan::lower_bound is 0, and cheaper
};

}  // namespace weft::placement
