#pragma once

#include <nlohmann/json.hpp>

#include "operator/api/meta.h"

namespace weft::api {

// The functions add the member unless the value is empty or the default.
inline void PutText(nlohmann::ordered_json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

template <typename T>
void PutOptional(nlohmann::ordered_json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}

// The object {apiVersion, kind, metadata} of one of our kinds.
nlohmann::ordered_json EncodeHead(const char* kind, const ObjectMeta& meta);

}  // namespace weft::api
