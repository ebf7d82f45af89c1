#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "operator/base/worker_index.h"
#include "operator/launch/gang.h"

namespace weft::launch {

// Variables of the job's framework for one worker.
Environment FrameworkEnvironment(const Gang& gang, WorkerIndex worker);

// Variables of every worker that a template may override.
Environment FrameworkDefaults(const Gang& gang);

// Options of one worker that are added to the variables of that name of a template.
Environment FrameworkOptions(const Gang& gang, WorkerIndex worker);

// Files of the framework in /etc/weft, in addition to placement.json; the same for all workers.
std::map<std::string, std::string> FrameworkFiles(const Gang& gang);

}  // namespace weft::launch
