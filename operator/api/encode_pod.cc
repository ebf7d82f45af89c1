#include "operator/api/encode_pod.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace weft::api {

using Json = nlohmann::ordered_json;

namespace {

Json Expressions(const std::vector<fabric::SelectorExpression>& expressions) {
  Json out = Json::array();
  for (const fabric::SelectorExpression& one : expressions) {
    Json expression = {{"key", one.key}, {"operator", one.op}};
    if (!one.values.empty()) expression["values"] = one.values;
    out.push_back(std::move(expression));
  }
  return out;
}

}  // namespace

Json EncodeAffinity(const std::vector<placement::NodeSelectorTerm>& terms) {
  Json list = Json::array();
  for (const placement::NodeSelectorTerm& term : terms) {
    Json one = Json::object();
    if (!term.match_expressions.empty()) {
      one["matchExpressions"] = Expressions(term.match_expressions);
    }
    if (!term.match_fields.empty()) one["matchFields"] = Expressions(term.match_fields);
    list.push_back(std::move(one));
  }
  return {{"nodeAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution",
             {{"nodeSelectorTerms", std::move(list)}}}}}};
}

Json EncodeTolerations(const std::vector<placement::Toleration>& tolerations) {
  Json out = Json::array();
  for (const placement::Toleration& one : tolerations) {
    Json toleration = {{"operator", one.op}};
    if (!one.key.empty()) toleration["key"] = one.key;
    if (!one.value.empty()) toleration["value"] = one.value;
    if (!one.effect.empty()) toleration["effect"] = one.effect;
    out.push_back(std::move(toleration));
  }
  return out;
}

}  // namespace weft::api
