#pragma once

#include <map>
#include <string>

#include "operator/launch/gang.h"

namespace weft::launch {

// What the job's framework needs in the environment of one worker, in order of rank.
Environment FrameworkEnvironment(const Gang& gang, std::uint32_t worker);

// What it reads in /etc/weft, beside placement.json; the same for all workers.
std::map<std::string, std::string> FrameworkFiles(const Gang& gang);

}  // namespace weft::launch
