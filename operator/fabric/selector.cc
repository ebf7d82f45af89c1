#include "operator/fabric/selector.h"

#include <algorithm>
#include <charconv>

#include "operator/fabric/node_facts.h"

namespace weft::fabric {
namespace {

template <typename ValueOf>
bool AllHold(const LabelSelector& selector, ValueOf value_of) {
  const auto& labels = selector.match_labels;
  const auto& expressions = selector.match_expressions;
  return std::all_of(labels.begin(), labels.end(),
                     [&](const auto& label) { return value_of(label.first) == label.second; }) &&
         std::all_of(expressions.begin(), expressions.end(),
                     [&](const auto& one) { return Matches(one, value_of(one.key)); });
}

}  // namespace

std::optional<std::int64_t> ParseInteger(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

bool Matches(const SelectorExpression& expression, std::optional<std::string_view> value) {
  if (expression.op == "Exists") return value.has_value();
  if (expression.op == "DoesNotExist") return !value;
  if (!value) return expression.op == "NotIn";
  const auto& values = expression.values;
  const bool listed = std::find(values.begin(), values.end(), *value) != values.end();
  if (expression.op == "In") return listed;
  if (expression.op == "NotIn") return !listed;
  if (values.size() != 1) return false;
  const std::optional<std::int64_t> have = ParseInteger(*value), bound = ParseInteger(values[0]);
  if (!have || !bound) return false;
  if (expression.op == "Gt") return *have > *bound;
  return expression.op == "Lt" && *have < *bound;
}

bool Matches(const LabelSelector& selector, const TextMap& labels) {
  return AllHold(selector, [&](std::string_view key) { return labels.At(key); });
}

bool Matches(const LabelSelector& selector, const NodeFacts& node) {
  return AllHold(selector, [&](std::string_view key) -> std::optional<std::string_view> {
    const auto value = node.labels.At(key);
    return value || key != kHostNameLabel ? value : node.name;
  });
}

}  // namespace weft::fabric
