#include <algorithm>
#include <charconv>
#include <optional>

#include "operator/fabric/presets.h"

namespace weft::fabric {
namespace {

const std::string* Find(const NodeFacts& node, const std::string& key) {
  const auto label = node.labels.find(key);
  if (label != node.labels.end()) return &label->second;
  return key == "kubernetes.io/hostname" ? &node.name : nullptr;
}

std::optional<std::int64_t> Integer(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// Source: k8s.io/apimachinery/pkg/labels, Requirement.Matches.
bool Holds(const SelectorExpression& expression, const NodeFacts& node) {
  const std::string* value = Find(node, expression.key);
  if (expression.op == "Exists") return value != nullptr;
  if (expression.op == "DoesNotExist") return value == nullptr;
  if (value == nullptr) return expression.op == "NotIn";
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
    const std::string* value = Find(node, key);
    if (value == nullptr || *value != wanted) return false;
  }
  return std::all_of(selector.match_expressions.begin(), selector.match_expressions.end(),
                     [&](const SelectorExpression& expression) { return Holds(expression, node); });
}

}  // namespace weft::fabric
