#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "operator/base/worker_index.h"

namespace weft::cluster {

// The workers of an attempt that have succeeded, as status.completedIndexes has them: "1,3-5,7",
// the form of the field of that name of an indexed Job. They count as succeeded when their pods are
// gone too: the pod garbage collector takes ended pods of a cluster that has many
// (--terminated-pod-gc-threshold), and those of a node that is removed, and a kubelet those that
// were being deleted.

// What is malformed, or no worker of the job, is left out.
ByWorker<bool> ParseIndexes(std::string_view text, std::uint32_t workers);
std::string IndexesText(const ByWorker<bool>& succeeded);

}  // namespace weft::cluster
