#pragma once

#include <string>

#include "operator/launch/gang.h"

namespace weft::launch {

// /etc/weft/hostfile for `deepspeed --no_ssh --hostfile`: a line for each worker, in order of rank;
// the launcher counts ranks in the order of its lines.
// Source  DeepSpeed, launcher/runner.py (hostfile) and launcher/launch.py (global_rank_mapping).
std::string DeepSpeedHostFile(const Gang& gang);

}  // namespace weft::launch
