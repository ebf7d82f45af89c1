#pragma once

#include "operator/base/index.h"

namespace weft {

// A worker of a job, from 0: its place in the job, not the node that it runs on and not a rank
// (traffic/ranks.h).
using WorkerIndex = Index<struct WorkerTag>;
template <typename T>
using ByWorker = IndexVector<WorkerIndex, T>;

}  // namespace weft
