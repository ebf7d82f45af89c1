#pragma once

#include "operator/base/result.h"
#include "operator/simulate/trace.h"

namespace weft::simulate {

// Draws jobs from the published shares of a cluster: columns cluster, metric (jobs, gpu_time),
// gpus_le, cdf_pct. `part` names the cluster; "": the first in the file.
//
// How     A job's size is one of the listed sizes by the share of jobs. Its run time is log-normal.
//         The mean of a size follows from its share of GPU time over its share of GPUs, so that
//         large jobs run longer; all means together give kMeanSeconds. Arrivals are a Poisson
//         process of one job a minute; --load scales them.
// Source  Hu et al., "Characterization of Large Language Model Development in the Datacenter",
//         NSDI 2024: mean run time 1,414 s and median 122 s of the GPU jobs of Seren.
// Errors  kInvalid, "FILE: line N: ..."; a share that falls, or a cluster that the file lacks.
Result<Trace> DrawFromShares(const TraceText& input);

}  // namespace weft::simulate
