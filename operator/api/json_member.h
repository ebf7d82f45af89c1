#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/meta.h"

namespace weft::api {

// The member; null if there is none or if the value is no object.
const nlohmann::json* FindMember(const nlohmann::json& object, const char* key);
// The member as text; "" if it is absent or no text.
std::string TextAt(const nlohmann::json& object, const char* key);
// metadata.namespace and metadata.name of an object; "" where absent.
ObjectKey KeyOf(const nlohmann::json& object);

}  // namespace weft::api
