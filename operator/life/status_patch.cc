#include "operator/life/status_patch.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace weft::life {

namespace {

using Json = nlohmann::json;

}  // namespace

Json MergePatch(const Json& before, const Json& after) {
  if (!before.is_object() || !after.is_object()) return after;
  Json patch = Json::object();
  for (const auto& [key, value] : after.items()) {
    const auto was = before.find(key);
    if (was == before.end()) {
      patch[key] = value;
    } else if (*was != value) {
      patch[key] = MergePatch(*was, value);
    }
  }
  for (const auto& [key, value] : before.items()) {
    if (!after.contains(key)) patch[key] = nullptr;
  }
  return patch;
}

Json StatusPatch(const Json& stored, const Json& after, std::span<const std::string_view> own) {
  const Json before = stored.is_object() ? stored : Json::object();
  Json patch = Json::object();
  for (const auto& [key, value] : after.items()) {
    const Json was = before.value(key, Json());
    if (was != value) patch[key] = MergePatch(was, value);
  }
  for (const std::string_view field : own) {
    if (!after.contains(field) && before.contains(field)) patch[std::string(field)] = nullptr;
  }
  return patch.empty() ? Json() : patch;
}

}  // namespace weft::life
