#pragma once

#include "operator/outlook/layout.h"
#include "operator/outlook/network.h"

namespace weft::outlook {

// Equal machines in rank order: what a job finds on an empty cluster without narrow levels.
struct Machines {
  double accelerators = 8;               // of one node or scale-up domain
  double scale_up_bytes_per_second = 0;  // usable (constants.h), one direction, one accelerator
  double network_bytes_per_second = 0;
};

// Paths of a job whose ranks fill the machines in order: tensor, context, data, pipeline, as
// parallelism.rankOrder is by default. Latency is kStepLatencySeconds everywhere.
Network NetworkOn(const Machines& machines, const Layout& layout);

}  // namespace weft::outlook
