#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/report/advice.h"

namespace weft::report {

// The fastest layouts (outlook/layouts.h) that fit in memory, each on nodes that lie side by side
// on the empty fabric. All Fabrics are tried, unless the job names one, and all products that the
// job may get. The job may be a bare model (api::Reading::kModel) if the request says how many
// accelerators to try: its workers take whole nodes, or one worker a part of a node, unless the job
// says how many accelerators a worker has.
//
// Errors  kInvalid: no such job, several to choose from, no transformer, a bare model without a
//         number of accelerators, no node that the job may use, nodes of unknown accelerators
//         only, a precision that no accelerator has a unit for.
// Cost    some thousand layouts of a microsecond or two, and for each shape O(ranks x axes):
//         tests/bench/advise_bench.cc.
Result<Advice> Advise(const cluster::Cluster& cluster, const AdviceRequest& request);

nlohmann::ordered_json AdviceJson(const Advice& advice);

// The job with that layout, to apply. A bare model without a template gets one whose image is a
// placeholder.
nlohmann::ordered_json AdvisedJob(const cluster::Cluster& cluster, const Advice& advice,
                                  const AdvisedLayout& layout);

}  // namespace weft::report
