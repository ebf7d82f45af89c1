#pragma once

#include <regex.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "operator/base/check.h"

namespace weft::api::testing {

using Json = nlohmann::json;

// The part of a CustomResourceDefinition's schema that is plain OpenAPI, judged as the API server
// does with strict field validation: types, enums, bounds, patterns, required and unknown fields,
// sizes of lists and maps, sets and keyed lists. Validation rules (CEL) are left to a real API
// server, which runs over the same table of objects.
class StructuralSchema {
 public:
  explicit StructuralSchema(Json schema) : schema_(std::move(schema)) {}

  // Paths of everything that is wrong.
  std::vector<std::string> Wrong(const Json& object) const {
    std::vector<std::string> wrong;
    Check(schema_, object, "", wrong);
    return wrong;
  }

  // The object with the defaults of the schema filled in.
  Json Defaulted(Json object) const {
    Fill(schema_, object);
    return object;
  }

 private:
  using Paths = std::vector<std::string>;

  static bool Matches(const std::string& pattern, const std::string& text) {
    regex_t compiled;
    WEFT_CHECK(regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB) == 0);
    const bool matches = regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
    regfree(&compiled);
    return matches;
  }

  static bool HasType(const std::string& type, const Json& value) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "boolean") return value.is_boolean();
    if (type == "number") return value.is_number();
    WEFT_CHECK(type == "integer");
    return value.is_number_integer();
  }

  static void Check(const Json& schema, const Json& value, const std::string& path, Paths& wrong) {
    if (schema.value("x-kubernetes-int-or-string", false)) {
      if (!value.is_number_integer() && !value.is_string()) return wrong.push_back(path);
    } else if (!HasType(schema.at("type"), value)) {
      return wrong.push_back(path);
    }
    CheckScalar(schema, value, path, wrong);
    if (value.is_array()) CheckList(schema, value, path, wrong);
    if (value.is_object()) CheckObject(schema, value, path, wrong);
  }

  static void CheckScalar(const Json& schema, const Json& value, const std::string& path,
                          Paths& wrong) {
    bool good = true;
    if (schema.contains("enum")) {
      const Json& names = schema["enum"];
      good = std::find(names.begin(), names.end(), value) != names.end();
    }
    if (value.is_string()) {
      const auto& text = value.get_ref<const std::string&>();
      good = good && text.size() <= schema.value("maxLength", text.size());
      good = good && text.size() >= schema.value("minLength", std::size_t{0});
      good = good && (!schema.contains("pattern") || Matches(schema["pattern"], text));
    }
    if (value.is_number()) {
      good = good && (!schema.contains("minimum") || value >= schema["minimum"]);
      good = good && (!schema.contains("maximum") || value <= schema["maximum"]);
    }
    if (!good) wrong.push_back(path);
  }

  static void CheckList(const Json& schema, const Json& value, const std::string& path,
                        Paths& wrong) {
    if (value.size() > schema.value("maxItems", value.size()) ||
        value.size() < schema.value("minItems", std::size_t{0})) {
      wrong.push_back(path);
    }
    const std::string list_type = schema.value("x-kubernetes-list-type", "atomic");
    std::set<Json> seen;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string item_path = path + "[" + std::to_string(i) + "]";
      Check(schema.at("items"), value[i], item_path, wrong);
      Json key = value[i];
      if (list_type == "map") {
        key = Json::array();
        for (const auto& name : schema.at("x-kubernetes-list-map-keys")) {
          key.push_back(value[i].value(name.get<std::string>(), Json()));
        }
      }
      if (list_type != "atomic" && !seen.insert(key).second) wrong.push_back(item_path);
    }
  }

  static void CheckObject(const Json& schema, const Json& value, const std::string& path,
                          Paths& wrong) {
    const Json properties = schema.value("properties", Json::object());
    for (const auto& name : schema.value("required", Json::array())) {
      const auto key = name.get<std::string>();
      if (!value.contains(key)) wrong.push_back(path.empty() ? key : path + "." + key);
    }
    for (const auto& [name, member] : value.items()) {
      const std::string member_path = path.empty() ? name : path + "." + name;
      if (properties.contains(name)) {
        Check(properties[name], member, member_path, wrong);
      } else if (schema.contains("additionalProperties")) {
        Check(schema["additionalProperties"], member, path + "[" + name + "]", wrong);
      } else if (path != "metadata") {  // an ObjectMeta: the API server's own
        wrong.push_back(member_path);
      }
    }
  }

  static void Fill(const Json& schema, Json& value) {
    if (value.is_array()) {
      for (Json& item : value) Fill(schema.at("items"), item);
    }
    if (!value.is_object() || !schema.contains("properties")) return;
    for (const auto& [name, property] : schema["properties"].items()) {
      if (!value.contains(name) && property.contains("default")) value[name] = property["default"];
      if (value.contains(name)) Fill(property, value[name]);
    }
  }

  Json schema_;
};

}  // namespace weft::api::testing
