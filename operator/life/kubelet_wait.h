#pragma once

#include <cstdint>
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

// How much a pod's wait tells: 0 nothing, 1 that an image is being pulled, 2 that something is
// wrong.
int WeightOfWait(const api::Pod& pod);

// "worker 3 on node-7: container trainer: ErrImagePull: image x:1 cannot be pulled: not found", and
// "4 workers wait, first: worker 3 ..." if there are several. Those that pull an image count only
// if nothing is wrong with any other.
KubeletWait WaitOf(const std::vector<const api::Pod*>& pods);

// What the kubelets say now, beside what a condition says.
enum class WaitNews : std::uint8_t {
  kNone,     // the same, or the same without the cause at its end, as in the message of a back-off
  kFirst,    // the condition says nothing yet
  kDigits,   // of the same worker, and only digits differ: a number that counts tries, or a name's
  kOther,    // another worker, another count of workers, or other words
  kNothing,  // no worker waits for a reason any more
};
WaitNews NewsOf(const KubeletWait& told, const KubeletWait& now);

}  // namespace weft::life
