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

OrderedJson EncodeTerm(const rules::NodeSelectorTerm& term) {
  OrderedJson out = OrderedJson::object();
  if (!term.match_expressions.empty()) {
    out["matchExpressions"] = Expressions(term.match_expressions);
  }
  if (!term.match_fields.empty()) out["matchFields"] = Expressions(term.match_fields);
  return out;
}

}  // namespace

OrderedJson EncodePreferred(const std::vector<rules::PreferredTerm>& terms) {
  OrderedJson list = OrderedJson::array();
  for (const rules::PreferredTerm& one : terms) {
    list.push_back({{"weight", one.weight}, {"preference", EncodeTerm(one.term)}});
  }
  return list;
}

OrderedJson EncodeAffinity(const std::vector<rules::NodeSelectorTerm>& terms) {
  OrderedJson list = OrderedJson::array();
  for (const rules::NodeSelectorTerm& term : terms) list.push_back(EncodeTerm(term));
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
