#pragma once

#include "operator/launch/gang.h"

namespace weft::launch {

// What the job's framework needs in the environment of one worker, in order of rank.
Environment FrameworkEnvironment(const Gang& gang, std::uint32_t worker);

}  // namespace weft::launch
