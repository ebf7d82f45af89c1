#include "tests/world/schema.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "operator/api/json_text.h"
#include "operator/base/check.h"
#include "operator/base/timestamp.h"

namespace weft::world {

using Json = nlohmann::json;

enum class FieldType : std::uint8_t { kAny, kObject, kList, kText, kInteger, kNumber, kBoolean };

namespace {

FieldType TypeOf(const Json& schema) {
  const std::string name = schema.value("type", "");
  if (schema.value("x-kubernetes-int-or-string", false) || name.empty()) return FieldType::kAny;
  if (name == "object") return FieldType::kObject;
  if (name == "array") return FieldType::kList;
  if (name == "string") return FieldType::kText;
  if (name == "integer") return FieldType::kInteger;
  if (name == "number") return FieldType::kNumber;
  WEFT_CHECK(name == "boolean");
  return FieldType::kBoolean;
}

const char* TypeName(FieldType type) {
  switch (type) {
    case FieldType::kObject:
      return "object";
    case FieldType::kList:
      return "array";
    case FieldType::kText:
      return "string";
    case FieldType::kInteger:
      return "integer";
    case FieldType::kNumber:
      return "number";
    case FieldType::kBoolean:
      return "boolean";
    case FieldType::kAny:
      break;
  }
  return "integer,string";
}

const char* TypeName(const Json& value) {
  if (value.is_object()) return "object";
  if (value.is_array()) return "array";
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "boolean";
  if (value.is_null()) return "null";
  return value.is_number_integer() ? "integer" : "number";
}

std::size_t Characters(const std::string& text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  return count;
}

std::string Member(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

bool HasRules(const Json& schema) {
  if (!schema.is_structured()) return false;
  if (schema.is_object() && schema.contains("x-kubernetes-validations")) return true;
  return std::any_of(schema.begin(), schema.end(), HasRules);
}

}  // namespace

struct Schema::Node {
  explicit Node(const Json& schema);

  FieldType type;
  bool int_or_string, preserves, nullable;
  std::map<std::string, Node> properties;
  std::unique_ptr<Node> items, additional;
  std::vector<std::string> required;
  std::optional<Json> default_value;
  std::vector<Json> names;  // enum
  std::optional<double> least, most;
  std::size_t shortest, longest;  // of text, list or map
  std::unique_ptr<RE2> pattern;
  std::string pattern_text, format, list_type;
  std::vector<std::string> list_keys;

  bool HasType(const Json& value) const;
  void Prune(Json& value, const std::string& path, std::vector<std::string>& unknown) const;
  void Fill(Json& value) const;
  void Check(const Json& value, const std::string& path, Causes& causes) const;
  void CheckText(const std::string& text, const std::string& path, Causes& causes) const;
  void CheckNumber(const Json& value, const std::string& path, Causes& causes) const;
  void CheckList(const Json& value, const std::string& path, Causes& causes) const;
  void CheckObject(const Json& value, const std::string& path, Causes& causes) const;
};

Schema::Node::Node(const Json& schema)
    : type(TypeOf(schema)),
      int_or_string(schema.value("x-kubernetes-int-or-string", false)),
      preserves(schema.value("x-kubernetes-preserve-unknown-fields", false)),
      nullable(schema.value("nullable", false)),
      required(schema.value("required", std::vector<std::string>{})),
      names(schema.value("enum", std::vector<Json>{})),
      shortest(0),
      longest(std::numeric_limits<std::size_t>::max()),
      format(schema.value("format", "")),
      list_type(schema.value("x-kubernetes-list-type", "atomic")),
      list_keys(schema.value("x-kubernetes-list-map-keys", std::vector<std::string>{})) {
  if (schema.contains("properties")) {
    for (const auto& [name, member] : schema["properties"].items())
      properties.emplace(name, member);
  }
  if (schema.contains("items")) items = std::make_unique<Node>(schema["items"]);
  if (schema.contains("additionalProperties")) {
    const Json& others = schema["additionalProperties"];
    if (others.is_object()) additional = std::make_unique<Node>(others);
    if (others.is_boolean()) preserves = preserves || others.get<bool>();
  }
  if (schema.contains("default")) default_value = schema["default"];
  if (schema.contains("minimum")) least = schema["minimum"].get<double>();
  if (schema.contains("maximum")) most = schema["maximum"].get<double>();
  for (const char* key : {"minLength", "minItems", "minProperties"}) {
    shortest = schema.value(key, shortest);
  }
  for (const char* key : {"maxLength", "maxItems", "maxProperties"}) {
    longest = schema.value(key, longest);
  }
  if (schema.contains("pattern")) {
    pattern_text = schema["pattern"];
    pattern = std::make_unique<RE2>(pattern_text);
    WEFT_CHECK(pattern->ok());
  }
}

bool Schema::Node::HasType(const Json& value) const {
  switch (type) {
    case FieldType::kObject:
      return value.is_object();
    case FieldType::kList:
      return value.is_array();
    case FieldType::kText:
      return value.is_string();
    case FieldType::kInteger:
      return value.is_number_integer() ||
             (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()));
    case FieldType::kNumber:
      return value.is_number();
    case FieldType::kBoolean:
      return value.is_boolean();
    case FieldType::kAny:
      break;
  }
  return !int_or_string || value.is_number_integer() || value.is_string();
}

void Schema::Node::Prune(Json& value, const std::string& path,
                         std::vector<std::string>& unknown) const {
  if (value.is_array() && items) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      items->Prune(value[i], path + "[" + std::to_string(i) + "]", unknown);
    }
  }
  if (!value.is_object()) return;
  for (auto member = value.begin(); member != value.end();) {
    const auto known = properties.find(member.key());
    if (known == properties.end() && !additional && !preserves) {
      unknown.push_back(Member(path, member.key()));
      member = value.erase(member);
      continue;
    }
    if (known != properties.end()) {
      known->second.Prune(*member, Member(path, member.key()), unknown);
    } else if (additional) {
      additional->Prune(*member, Member(path, member.key()), unknown);
    }
    ++member;
  }
}

// A null where a field has a default and is not nullable counts as absent.
void Schema::Node::Fill(Json& value) const {
  if (value.is_array() && items) {
    for (Json& item : value) items->Fill(item);
  }
  if (!value.is_object()) return;
  for (const auto& [name, node] : properties) {
    auto member = value.find(name);
    if (node.default_value && (member == value.end() || (member->is_null() && !node.nullable))) {
      value[name] = *node.default_value;
      member = value.find(name);
    }
    if (member != value.end()) node.Fill(*member);
  }
  if (!additional) return;
  for (auto& [name, member] : value.items()) {
    if (!properties.contains(name)) additional->Fill(member);
  }
}

void Schema::Node::Check(const Json& value, const std::string& path, Causes& causes) const {
  if (value.is_null() && nullable) return;
  if (!HasType(value)) {
    const std::string shown = std::string("\"") + TypeName(value) + "\"";
    causes.push_back({"FieldValueTypeInvalid",
                      "Invalid value: " + shown + ": " + path + " in body must be of type " +
                          TypeName(type) + ": " + shown,
                      path});
    return;
  }
  if (!names.empty() && std::find(names.begin(), names.end(), value) == names.end()) {
    std::string known;
    for (const Json& name : names) known += (known.empty() ? "" : ", ") + api::JsonText(name);
    causes.push_back({"FieldValueNotSupported",
                      "Unsupported value: " + api::JsonText(value) + ": supported values: " + known,
                      path});
  }
  if (value.is_string()) CheckText(value.get_ref<const std::string&>(), path, causes);
  if (value.is_number()) CheckNumber(value, path, causes);
  if (value.is_array()) CheckList(value, path, causes);
  if (value.is_object()) CheckObject(value, path, causes);
}

void Schema::Node::CheckText(const std::string& text, const std::string& path,
                             Causes& causes) const {
  const std::size_t size = Characters(text);
  const std::string shown = api::JsonText(Json(text));
  if (size > longest) {
    causes.push_back({"FieldValueTooLong",
                      "Too long: may not be more than " + std::to_string(longest) + " bytes",
                      path});
  }
  if (size < shortest) {
    causes.push_back(WrongValue(
        path, shown,
        path + " in body should be at least " + std::to_string(shortest) + " chars long"));
  }
  if (pattern && !RE2::PartialMatch(text, *pattern)) {
    causes.push_back(
        WrongValue(path, shown, path + " in body should match '" + pattern_text + "'"));
  }
  if (format == "date-time" && !ParseTime(text)) {
    causes.push_back(
        WrongValue(path, shown, path + " in body must be of type date-time: " + shown));
  }
}

void Schema::Node::CheckNumber(const Json& value, const std::string& path, Causes& causes) const {
  const auto number = value.get<double>();
  const std::string shown = api::JsonText(value);
  if (least && number < *least) {
    causes.push_back(WrongValue(
        path, shown,
        path + " in body should be greater than or equal to " + api::JsonText(Json(*least))));
  }
  if (most && number > *most) {
    causes.push_back(WrongValue(
        path, shown,
        path + " in body should be less than or equal to " + api::JsonText(Json(*most))));
  }
  constexpr double kInt32 = 2'147'483'647;
  if (format == "int32" && (number > kInt32 || number < -kInt32 - 1)) {
    causes.push_back(WrongValue(path, shown, path + " in body must be of type int32: " + shown));
  }
}

void Schema::Node::CheckList(const Json& value, const std::string& path, Causes& causes) const {
  if (value.size() > longest) {
    causes.push_back({"FieldValueTooMany",
                      "Too many: " + std::to_string(value.size()) + ": must have at most " +
                          std::to_string(longest) + " items",
                      path});
  }
  if (value.size() < shortest) {
    causes.push_back(
        WrongValue(path, std::to_string(value.size()),
                   path + " in body should have at least " + std::to_string(shortest) + " items"));
  }
  std::set<Json> seen;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const std::string item_path = path + "[" + std::to_string(i) + "]";
    if (items) items->Check(value[i], item_path, causes);
    if (list_type == "atomic") continue;
    Json key = value[i];
    if (list_type == "map" && value[i].is_object()) {
      key = Json::object();
      for (const std::string& name : list_keys) {
        if (value[i].contains(name)) key[name] = value[i][name];
      }
    }
    if (!seen.insert(key).second) {
      causes.push_back(
          {"FieldValueDuplicate", "Duplicate value: " + api::JsonText(key), item_path});
    }
  }
}

void Schema::Node::CheckObject(const Json& value, const std::string& path, Causes& causes) const {
  if (value.size() > longest) {
    causes.push_back({"FieldValueTooMany",
                      "Too many: " + std::to_string(value.size()) + ": must have at most " +
                          std::to_string(longest) + " items",
                      path});
  }
  for (const std::string& name : required) {
    // A null counts as absent.
    const auto member = value.find(name);
    const auto known = properties.find(name);
    const bool null_allowed = known != properties.end() && known->second.nullable;
    if (member == value.end() || (member->is_null() && !null_allowed))
      causes.push_back(Required(Member(path, name)));
  }
  for (const auto& [name, member] : value.items()) {
    const auto known = properties.find(name);
    const bool said =
        member.is_null() && std::find(required.begin(), required.end(), name) != required.end();
    if (said) continue;
    if (known != properties.end()) {
      known->second.Check(member, Member(path, name), causes);
    } else if (additional) {
      additional->Check(member, Member(path, name), causes);
    }
  }
}

Schema::Schema(const Json& openapi)
    : root_(std::make_unique<Node>(openapi)), has_rules_(HasRules(openapi)) {
  root_->properties.erase("metadata");  // the API server's own
}
Schema::~Schema() = default;

void Schema::PruneAndDefault(Json& object, std::vector<std::string>& unknown) const {
  Json metadata = std::move(object["metadata"]), api_version = object["apiVersion"],
       kind = object["kind"];
  for (const char* name : {"metadata", "apiVersion", "kind"}) object.erase(name);
  root_->Prune(object, "", unknown);
  root_->Fill(object);
  object["metadata"] = std::move(metadata);
  object["apiVersion"] = std::move(api_version);
  object["kind"] = std::move(kind);
}

// Validation rules are evaluated only for objects without these errors, which is said.
void Schema::Check(const Json& object, Causes& causes) const {
  const std::size_t before = causes.size();
  root_->Check(object, "", causes);
  const bool blocked = std::any_of(
      causes.begin() + static_cast<std::ptrdiff_t>(before), causes.end(), [](const Cause& cause) {
        return cause.reason != "FieldValueInvalid" && cause.reason != "FieldValueDuplicate";
      });
  if (blocked && has_rules_) {
    causes.push_back(WrongValue("<nil>", "null",
                                "some validation rules were not checked because the object was "
                                "invalid; correct the existing errors to complete validation"));
  }
}

}  // namespace weft::world
