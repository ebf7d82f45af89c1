#include "operator/api/encode_pod.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace weft::api {

namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson Expressions(const std::vector<fabric::SelectorExpression>& expressions) {
  OrderedJson out = OrderedJson::array();
  for (const fabric::SelectorExpression& one : expressions) {
    OrderedJson expression = {{"key", one.key}, {"operator", one.op}};
    if (!one.values.empty()) expression["values"] = one.values;
    out.push_back(std::move(expression));
  }
  return out;
}

}  // namespace

OrderedJson EncodeAffinity(const std::vector<rules::NodeSelectorTerm>& terms) {
  OrderedJson list = OrderedJson::array();
  for (const rules::NodeSelectorTerm& term : terms) {
    OrderedJson one = OrderedJson::object();
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

OrderedJson EncodeTolerations(const std::vector<rules::Toleration>& tolerations) {
  OrderedJson out = OrderedJson::array();
  for (const rules::Toleration& one : tolerations) {
    OrderedJson toleration = {{"operator", one.op}};
    if (!one.key.empty()) toleration["key"] = one.key;
    if (!one.value.empty()) toleration["value"] = one.value;
    if (!one.effect.empty()) toleration["effect"] = one.effect;
    out.push_back(std::move(toleration));
  }
  return out;
}

}  // namespace weft::api
