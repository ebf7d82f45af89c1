#pragma once

#include <nlohmann/json_fwd.hpp>

#include "operator/launch/gang.h"

namespace weft::launch {

// The ConfigMap with the attempt's files, mounted in all its pods at /etc/weft. It never changes;
// the Placement owns it.
nlohmann::json MakeConfigMap(const Gang& gang);

}  // namespace weft::launch
