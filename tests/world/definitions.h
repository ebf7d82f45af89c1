#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace weft::world {

// The CustomResourceDefinitions of crds/.
std::vector<nlohmann::json> WeftDefinitions();

}  // namespace weft::world
