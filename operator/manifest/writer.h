#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace weft::manifest {

// One JSON value as YAML, by yaml-cpp's emitter: keys in the value's order, block style, two
// spaces. A string is quoted if a reader could take it for another type ("8", "true", "1e3", "y",
// ""). ReadObjects of the text gives the value back, except that Unicode noncharacters become
// U+FFFD.
//
// Cost  about 70 ns per byte.
std::string ToYaml(const nlohmann::json& value);
std::string ToYaml(const nlohmann::ordered_json& value);

}  // namespace weft::manifest
