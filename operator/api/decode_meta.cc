#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string_view>

#include "operator/api/json_reader.h"
#include "operator/api/names.h"

namespace weft::api {
namespace {

std::vector<std::string> SplitNames(std::string_view text) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) names.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::optional<std::int64_t> ReadSeconds(const Field& field) {
  if (!field.present()) return std::nullopt;
  const std::string text = field.Str();
  const char* const end = text.data() + text.size();
  std::int64_t seconds = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error == std::errc() && stop == end && seconds >= 0) return seconds;
  field.Fail("must be a whole number of seconds");
  return std::nullopt;
}

}  // namespace

std::string Show(const ObjectKey& key) {
  return key.space.empty() ? key.name : key.space + "/" + key.name;
}

const OwnerReference* ControllingJob(const ObjectMeta& meta) {
  constexpr std::string_view kOurs = "weft.dev/";
  static_assert(kOurs.starts_with(kGroup));
  for (const OwnerReference& owner : meta.owners) {
    if (owner.controller && owner.kind == "TrainingJob" && owner.api_version.starts_with(kOurs)) {
      return &owner;
    }
  }
  return nullptr;
}

ObjectMeta DecodeMeta(const Field& metadata, Scope scope) {
  ObjectMeta meta;
  meta.key.name = metadata["name"].Str();
  if (meta.key.name.empty()) metadata["name"].Fail("is required");
  if (scope == Scope::kNamespaced) {
    meta.key.space = metadata["namespace"].Str();
    if (meta.key.space.empty()) meta.key.space = "default";
  }
  meta.uid = metadata["uid"].Str();
  meta.resource_version = metadata["resourceVersion"].Str();
  meta.generation = metadata["generation"].Int();
  meta.creation_timestamp = metadata["creationTimestamp"].Str();
  meta.deletion_timestamp = metadata["deletionTimestamp"].Str();
  meta.deleting = metadata["deletionTimestamp"].present();
  meta.labels = metadata["labels"].Texts();
  meta.annotations = metadata["annotations"].Texts();
  meta.finalizers = metadata["finalizers"].StrList();
  for (const Field& owner : metadata["ownerReferences"].Items()) {
    meta.owners.push_back({owner["apiVersion"].Str(), owner["kind"].Str(), owner["name"].Str(),
                           owner["uid"].Str(), owner["controller"].Bool()});
  }
  return meta;
}

WaitFacts DecodeWaitFacts(const Field& metadata) {
  const Field annotations = metadata["annotations"];
  return {SplitNames(annotations[kExcludedNodesAnnotation].Str()),
          SplitNames(annotations[kAvoidedNodesAnnotation].Str()),
          SplitNames(annotations[kPreviousNodesAnnotation].Str()),
          ReadSeconds(annotations[kWaitedAnnotation])};
}

std::vector<Condition> DecodeConditions(const Field& conditions) {
  std::vector<Condition> result;
  for (const Field& item : conditions.Items()) {
    result.push_back({item["type"].Str(), item["status"].Str(), item["reason"].Str(),
                      item["message"].Str(), item["lastTransitionTime"].Str(),
                      item["observedGeneration"].Int()});
  }
  return result;
}

std::vector<ExcludedNode> DecodeExcludedNodes(const Field& nodes) {
  std::vector<ExcludedNode> result;
  for (const Field& item : nodes.Items()) {
    // An unknown effect, from a newer version, counts as the stricter one.
    const bool softly = item["effect"].Str() == kExclusionEffectNames[1];
    result.push_back({item["node"].Str(), item["until"].Str(), item["times"].Int({}, 1),
                      softly ? ExclusionEffect::kPreferNoSchedule : ExclusionEffect::kNoSchedule});
  }
  return result;
}

Retry DecodeRetry(const Field& retry) {
  return {retry["times"].Int({.min = 0}), retry["notBefore"].Str()};
}

fabric::SelectorExpression DecodeSelectorExpression(const Field& expression) {
  return {expression["key"].Require().Str(), expression["operator"].Require().Str(),
          expression["values"].StrList()};
}

fabric::LabelSelector DecodeLabelSelector(const Field& selector) {
  fabric::LabelSelector result;
  result.match_labels = selector["matchLabels"].StrMap();
  for (const Field& item : selector["matchExpressions"].Items()) {
    result.match_expressions.push_back(DecodeSelectorExpression(item));
  }
  return result;
}

Raw MakeRaw(const nlohmann::json& object) { return std::make_shared<const nlohmann::json>(object); }

}  // namespace weft::api
