#include "operator/api/json_text.h"

#include <nlohmann/json.hpp>

namespace weft::api {
namespace {

template <typename Json>
std::string Written(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

nlohmann::json ParseJson(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

std::string JsonText(const nlohmann::json& value) { return Written(value); }

std::string JsonText(const nlohmann::ordered_json& value) { return Written(value); }

}  // namespace weft::api
