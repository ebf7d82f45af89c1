#pragma once

#include "operator/cli/commands.h"

namespace weft::cli {

// Serves a page that follows the cluster, with the user's rights, until the process is ended.
int ServeMap(const MapArguments& arguments);

}  // namespace weft::cli
