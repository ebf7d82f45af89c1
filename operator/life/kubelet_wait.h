#pragma once

#include <string>
#include <vector>

#include "operator/api/pod.h"
#include "operator/base/worker_index.h"

namespace weft::life {

// Why workers of a gang that is bound do not start, as their kubelets tell.
struct KubeletWait {
  std::string reason;   // in the kubelet's words, such as "ErrImagePull"; "": nothing is told
  std::string message;  // names the first of these workers, its node and container
};

// "worker 3 on node-7: container trainer: ErrImagePull: image x:1 cannot be pulled: not found", and
// "4 workers wait, first: worker 3 ..." if there are several.
KubeletWait WaitOf(const std::vector<const api::Pod*>& pods);

// Whether a condition that says `told` need not be written again because the kubelets say `now`:
// both name the same worker, and their words differ only in digits, or `now` has lost the cause at
// its end, as the message of a back-off has.
bool SaysTheSame(const KubeletWait& told, const KubeletWait& now);

}  // namespace weft::life
