#include <algorithm>
#include <charconv>
#include <optional>

#include "operator/fabric/presets.h"

namespace weft::fabric {
namespace {

std::optional<std::string_view> Find(const NodeFacts& node, std::string_view key) {
  const auto value = node.labels.At(key);
  if (!value && key == "kubernetes.io/hostname") return node.name;
  return value;
}

std::optional<std::int64_t> Integer(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// Source: k8s.io/apimachinery/pkg/labels, Requirement.Matches.
bool Holds(const SelectorExpression& expression, const NodeFacts& node) {
  const std::optional<std::string_view> value = Find(node, expression.key);
  if (expression.op == "Exists") return value.has_value();
  if (expression.op == "DoesNotExist") return !value;
  if (!value) return expression.op == "NotIn";
  const auto& values = expression.values;
  const bool listed = std::find(values.begin(), values.end(), *value) != values.end();
  if (expression.op == "In") return listed;
  if (expression.op == "NotIn") return !listed;
  if (values.size() != 1) return false;
  const std::optional<std::int64_t> have = Integer(*value), bound = Integer(values[0]);
  if (!have || !bound) return false;
  if (expression.op == "Gt") return *have > *bound;
  return expression.op == "Lt" && *have < *bound;
}

}  // namespace

bool Matches(const LabelSelector& selector, const NodeFacts& node) {
  for (const auto& [key, wanted] : selector.match_labels) {
    if (Find(node, key) != wanted) return false;
  }
  return std::all_of(selector.match_expressions.begin(), selector.match_expressions.end(),
                     [&](const SelectorExpression& expression) { return Holds(expression, node); });
}

}  // namespace weft::fabric
