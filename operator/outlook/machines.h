#pragma once

#include "operator/outlook/layout.h"
#include "operator/outlook/network.h"

namespace weft::outlook {

// Equal machines filled in rank order: what a job gets on an empty cluster without narrow levels.
struct Machines {
  double accelerators = 8;               // in one node or scale-up domain
  double scale_up_bytes_per_second = 0;  // usable (constants.h); one direction of one accelerator
  double network_bytes_per_second = 0;
};

// The paths of a job whose ranks fill the machines in the default parallelism.rankOrder: tensor,
// context, data, pipeline. All latencies are kStepLatencySeconds.
Network NetworkOn(const Machines& machines, const Layout& layout);

}  // namespace weft::outlook
