#include "operator/api/json_member.h"

#include <nlohmann/json.hpp>

namespace weft::api {

const nlohmann::json* FindMember(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

std::string TextAt(const nlohmann::json& object, const char* key) {
  const nlohmann::json* found = FindMember(object, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

ObjectKey KeyOf(const nlohmann::json& object) {
  const nlohmann::json* meta = FindMember(object, "metadata");
  if (meta == nullptr) return {};
  return {TextAt(*meta, "namespace"), TextAt(*meta, "name")};
}

}  // namespace weft::api
