#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/report/failure_model.h"
#include "operator/report/spare_advice.h"

namespace weft::report {

// How many spare nodes to keep, where, and how often jobs should write checkpoints.
//
//   rho       nodes x failures of one in a day x days of a repair (outlook/spares.h)
//   interval  Daly's (outlook/failures.h), with M = 1 / (nodes x rate + sum of domains x rate of
//             each level)
//
// Errors  kInvalid: no node with an accelerator; what FailureModelOf refuses. An error of a single
//         job is in `refused`.
// Cost    O(nodes x levels), and O(sqrt(rho)) for each size of a domain.
Result<SpareAdvice> AdviseSpares(const cluster::Cluster& cluster, const FailureSources& sources);

nlohmann::ordered_json SparesJson(const SpareAdvice& advice);

}  // namespace weft::report
