#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace weft::launch {

// Puts the init container weft-verify before all others: `weft verify` of that image, whose
// termination message says on which node and under which name the pod really runs. Nothing where
// the image is "".
void AddVerification(const std::string& image, nlohmann::json& spec);

}  // namespace weft::launch
