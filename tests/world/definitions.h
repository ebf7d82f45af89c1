#pragma once

#include <nlohmann/json.hpp>
#include <vector>

namespace weft::world {

// The CustomResourceDefinitions of crds/.
std::vector<nlohmann::json> WeftDefinitions();
// Those of Kueue that Weft reads, without schemas: every field is kept.
std::vector<nlohmann::json> KueueDefinitions();

}  // namespace weft::world
