#include "tests/world/metadata.h"

#include <re2/re2.h>

#include <map>
#include <memory>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"

namespace weft::world {
namespace {

// The pattern, compiled once.
const RE2& Compiled(const char* pattern) {
  static std::map<std::string, std::unique_ptr<RE2>> compiled;
  std::unique_ptr<RE2>& one = compiled[pattern];
  if (!one) one = std::make_unique<RE2>(pattern);
  return *one;
}

bool IsMatch(const std::string& text, const char* pattern, std::size_t longest) {
  return text.size() <= longest && RE2::FullMatch(text, Compiled(pattern));
}

constexpr const char* kLabelPattern = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
constexpr const char* kServicePattern = "[a-z]([-a-z0-9]*[a-z0-9])?";
constexpr const char* kNamePattern =
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
constexpr const char* kQualifiedPattern = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

bool IsName(const Kind& kind, const std::string& name) {
  if (kind.resource == "namespaces") return IsMatch(name, kLabelPattern, 63);
  if (kind.resource == "services") return IsMatch(name, kServicePattern, 63);
  return IsMatch(name, kNamePattern, 253);
}

bool IsQualifiedName(const std::string& text) {
  const auto slash = text.find('/');
  if (slash == std::string::npos) return IsMatch(text, kQualifiedPattern, 63);
  return IsMatch(text.substr(0, slash), kNamePattern, 253) &&
         IsMatch(text.substr(slash + 1), kQualifiedPattern, 63);
}

void CheckLabels(const Json& metadata, Causes& causes) {
  if (const Json* labels = api::FindMember(metadata, "labels")) {
    for (const auto& [key, value] : labels->items()) {
      if (!IsQualifiedName(key)) {
        causes.push_back(
            WrongValue("metadata.labels", "\"" + key + "\"", "name part must consist"));
      }
      const std::string text = value.is_string() ? value.get<std::string>() : "";
      if (!text.empty() && !IsMatch(text, kQualifiedPattern, 63)) {
        causes.push_back(WrongValue("metadata.labels", "\"" + text + "\"", "a valid label must"));
      }
    }
  }
  if (const Json* annotations = api::FindMember(metadata, "annotations")) {
    std::size_t size = 0;
    for (const auto& [key, value] : annotations->items()) {
      std::string lower = key;
      std::transform(lower.begin(), lower.end(), lower.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      if (!IsQualifiedName(lower)) {
        causes.push_back(
            WrongValue("metadata.annotations", "\"" + key + "\"", "name part must consist"));
      }
      size += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
    }
    constexpr std::size_t kMostBytes = 256 << 10;
    if (size > kMostBytes) {
      causes.push_back({"FieldValueTooLong", "Too long: may not be more than 262144 bytes",
                        "metadata.annotations"});
    }
  }
}

// Only built-in kinds refuse names without a domain.
void CheckFinalizers(const Kind& kind, const Json& metadata, Causes& causes) {
  const Json* list = api::FindMember(metadata, "finalizers");
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& entry = (*list)[i];
    const auto name = entry.get<std::string>();
    const bool standard = name == "orphan" || name == "foregroundDeletion" || name == "kubernetes";
    if (!IsQualifiedName(name)) {
      causes.push_back(WrongValue("metadata.finalizers", "\"" + name + "\"", "name part must"));
    } else if (!kind.custom && name.find('/') == std::string::npos && !standard) {
      causes.push_back(WrongValue("metadata.finalizers[" + std::to_string(i) + "]",
                                  "\"" + name + "\"",
                                  "name is neither a standard finalizer name nor is it fully "
                                  "qualified"));
    }
  }
}

void CheckOwners(const Json& metadata, Causes& causes) {
  const Json* list = api::FindMember(metadata, "ownerReferences");
  if (list == nullptr) return;
  std::size_t controllers = 0;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& owner = (*list)[i];
    const std::string path = "metadata.ownerReferences[" + std::to_string(i) + "].";
    for (const char* name : {"apiVersion", "kind", "name", "uid"}) {
      if (!api::TextAt(owner, name).empty()) continue;
      causes.push_back(WrongValue(path + (std::string(name) == "apiVersion" ? "version" : name),
                                  "\"\"", "must not be empty"));
    }
    controllers += owner.value("controller", false) ? 1U : 0U;
  }
  if (controllers > 1) {
    causes.push_back(WrongValue("metadata.ownerReferences", api::JsonText(*list),
                                "Only one reference can have Controller set to true"));
  }
}

// Maps of built-in kinds; an empty struct stays ("emptyDir: {}"), an empty map does not.
bool IsMapName(std::string_view name) {
  constexpr std::array<std::string_view, 11> kMaps = {
      "labels", "annotations", "nodeSelector", "matchLabels", "limits",    "requests",
      "data",   "capacity",    "allocatable",  "hard",        "stringData"};
  return std::find(kMaps.begin(), kMaps.end(), name) != kMaps.end();
}

bool IsLeftOut(const std::string& name, const Json& value) {
  if (value.is_null()) return true;
  if (value.is_array()) return value.empty();
  if (value.is_object()) return value.empty() && IsMapName(name);
  if (value.is_string()) return value.get_ref<const std::string&>().empty() && name != "status";
  constexpr std::array<std::string_view, 7> kFlags = {
      "hostNetwork", "hostPID", "hostIPC", "unschedulable", "stdin", "stdinOnce", "tty"};
  return value.is_boolean() && !value.get<bool>() &&
         std::find(kFlags.begin(), kFlags.end(), name) != kFlags.end();
}

void DropEmptyIn(Json& value, bool in_map) {
  if (value.is_array()) {
    for (Json& item : value) DropEmptyIn(item, false);
  }
  if (!value.is_object()) return;
  for (auto member = value.begin(); member != value.end();) {
    DropEmptyIn(*member, IsMapName(member.key()));
    const bool out = in_map ? member->is_null() : IsLeftOut(member.key(), *member);
    member = out ? value.erase(member) : std::next(member);
  }
}

}  // namespace

void CheckMetadata(const Kind& kind, const Json& metadata, Causes& causes) {
  const std::string name = api::TextAt(metadata, "name");
  if (name.empty()) {
    causes.push_back(Required("metadata.name", "name or generateName is required"));
  } else if (!IsName(kind, name)) {
    causes.push_back(WrongValue("metadata.name", "\"" + name + "\"",
                                "a lowercase RFC 1123 subdomain must consist of lower case "
                                "alphanumeric characters"));
  }
  CheckLabels(metadata, causes);
  CheckFinalizers(kind, metadata, causes);
  CheckOwners(metadata, causes);
}

void CheckMetadataChange(const Json& before, const Json& after, Causes& causes) {
  for (const char* name : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                           "deletionGracePeriodSeconds"}) {
    const Json* old = api::FindMember(before, name);
    const Json* now = api::FindMember(after, name);
    const bool same = old == nullptr || now == nullptr ? old == now : *old == *now;
    if (!same) {
      causes.push_back(WrongValue(std::string("metadata.") + name,
                                  now == nullptr ? "null" : api::JsonText(*now),
                                  "field is immutable"));
    }
  }
  if (!before.contains("deletionTimestamp")) return;
  std::set<Json> old;
  if (const Json* list = api::FindMember(before, "finalizers")) old = {list->begin(), list->end()};
  const Json* list = api::FindMember(after, "finalizers");
  std::string added;
  for (const Json& each : list == nullptr ? Json::array() : *list) {
    if (!old.contains(each)) added += (added.empty() ? "" : ", ") + api::JsonText(each);
  }
  if (!added.empty()) {
    causes.push_back(NotAllowed("metadata.finalizers",
                                "no new finalizers can be added if the object is being deleted, "
                                "found new finalizers []string{" +
                                    added + "}"));
  }
}

void DropEmpty(const Kind& kind, Json& object) {
  Json& metadata = object["metadata"];
  metadata.erase("managedFields");
  DropEmptyIn(metadata, false);
  if (kind.custom) return;
  for (auto member = object.begin(); member != object.end();) {
    DropEmptyIn(*member, IsMapName(member.key()));
    member = IsLeftOut(member.key(), *member) ? object.erase(member) : std::next(member);
  }
}

}  // namespace weft::world
