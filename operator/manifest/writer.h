#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace weft::manifest {

// YAML text of one JSON value by yaml-cpp's emitter: keys in the value's own order, block style, two
// spaces, strings quoted where another reader could take them for something else ("8", "true",
// "1e3", "y", ""). ReadObjects of the text gives the value back, but for Unicode's noncharacters,
// which become U+FFFD.
//
// Cost  about 70 ns a byte.
std::string ToYaml(const nlohmann::json& value);
std::string ToYaml(const nlohmann::ordered_json& value);

}  // namespace weft::manifest
