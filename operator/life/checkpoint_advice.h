#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/placement.h"

namespace weft::life {

// How often a domain of that level fails; the level "node" is one node.
struct DomainRate {
  std::string level;
  double per_1000_days = 0;
};

// The interval between checkpoints that loses least for a job on the Placement's nodes, in seconds,
// if one stops the training for `stall_seconds`: Daly's (outlook/failures.h) with
//
//   M = 1 / (nodes x their rate + sum over levels of the job's domains x their rate)
//
// `rates`: Fabric.spec.failureRates. Nodes without a rate have that of outlook/failures.h. Nothing
// if nothing the job runs on ever fails, or the Placement has no nodes.
std::optional<std::int64_t> AdvisedInterval(const api::Placement& placement,
                                            const std::vector<DomainRate>& rates,
                                            std::int64_t stall_seconds);

}  // namespace weft::life
