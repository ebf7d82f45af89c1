#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace weft::launch {

// Adds the init container weft-verify before all others. It runs `weft verify` of that image, and
// its termination message says on which node and under which host name the pod really runs. Does
// nothing if the image is "".
void AddVerification(const std::string& image, nlohmann::json& spec);

}  // namespace weft::launch
