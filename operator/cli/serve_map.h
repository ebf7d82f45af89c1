#pragma once

#include "operator/cli/commands.h"

namespace weft::cli {

// A page that follows the cluster, with the rights of the user, until the process is ended.
int ServeMap(const MapArguments& arguments);

}  // namespace weft::cli
