#pragma once

#include <map>
#include <string>

#include "operator/launch/gang.h"

namespace weft::launch {

// Variables of the job's framework for one worker.
Environment FrameworkEnvironment(const Gang& gang, std::uint32_t worker);

// Files of the framework in /etc/weft, in addition to placement.json; the same for all workers.
std::map<std::string, std::string> FrameworkFiles(const Gang& gang);

}  // namespace weft::launch
