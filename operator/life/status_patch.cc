#include "operator/life/status_patch.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace weft::life {

namespace {

using Json = nlohmann::json;

}  // namespace

Json StatusPatch(const Json& before, Json after, std::span<const std::string_view> own) {
  Json merged = before.is_object() ? before : Json::object();
  for (const std::string_view field : own) {
    // A merge patch keeps fields that it does not name, so removed ones are set to null.
    if (!after.contains(field) && merged.contains(field)) after[std::string(field)] = nullptr;
  }
  merged.merge_patch(after);
  return merged == before ? Json() : after;
}

}  // namespace weft::life
