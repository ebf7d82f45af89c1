#include "operator/rules/selector.h"

#include <algorithm>
#include <string_view>

#include "operator/fabric/selector.h"

namespace weft::rules {

using fabric::NodeFacts;
using fabric::SelectorExpression;

namespace {

constexpr std::string_view kNameField = "metadata.name";
constexpr std::size_t kLabelValueLimit = 63;  // characters; Kubernetes, "Labels and Selectors"

bool IsAlphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Whether the text is empty, or starts and ends with a letter or digit and has only these and '-',
// '_' and '.'.
bool IsLabelValue(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() > kLabelValueLimit) return false;
  if (!IsAlphanumeric(text.front()) || !IsAlphanumeric(text.back())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool Holds(const SelectorExpression& expression, const NodeFacts& node) {
  return fabric::Matches(expression, node.labels.At(expression.key));
}

bool MatchesField(const SelectorExpression& field, const NodeFacts& node) {
  return fabric::Matches(field, node.name);
}

bool IsMalformed(const NodeSelectorTerm& term) {
  return std::any_of(term.match_expressions.begin(), term.match_expressions.end(),
                     IsMalformedExpression) ||
         std::any_of(term.match_fields.begin(), term.match_fields.end(), IsMalformedField);
}

std::string ExpressionText(const SelectorExpression& expression) {
  std::string text = expression.key + " " + expression.op;
  for (std::size_t i = 0; i < expression.values.size(); ++i) {
    text += (i == 0 ? " (" : ", ") + expression.values[i];
  }
  return expression.values.empty() ? text : text + ")";
}

}  // namespace

bool IsMalformedExpression(const SelectorExpression& expression) {
  const auto& values = expression.values;
  if (!std::all_of(values.begin(), values.end(), IsLabelValue)) return true;
  const std::string& op = expression.op;
  if (op == "In" || op == "NotIn") return values.empty();
  if (op == "Exists" || op == "DoesNotExist") return !values.empty();
  if (op == "Gt" || op == "Lt") return values.size() != 1 || !fabric::ParseInteger(values.front());
  return true;
}

bool IsMalformedField(const SelectorExpression& field) {
  return field.key != kNameField || (field.op != "In" && field.op != "NotIn") ||
         field.values.size() != 1;
}

bool MatchesTerm(const NodeSelectorTerm& term, const NodeFacts& node) {
  if (term.match_expressions.empty() && term.match_fields.empty()) return false;
  if (IsMalformed(term)) return false;
  return std::all_of(term.match_expressions.begin(), term.match_expressions.end(),
                     [&](const auto& e) { return Holds(e, node); }) &&
         std::all_of(term.match_fields.begin(), term.match_fields.end(),
                     [&](const auto& f) { return MatchesField(f, node); });
}

bool MatchesAffinity(std::span<const NodeSelectorTerm> terms, const NodeFacts& node) {
  return std::any_of(terms.begin(), terms.end(),
                     [&](const NodeSelectorTerm& term) { return MatchesTerm(term, node); });
}

std::size_t FirstMismatch(std::span<const NodeSelectorTerm> terms, const NodeFacts& node) {
  if (terms.size() != 1) return 0;
  const auto& [expressions, fields] = terms.front();
  const auto expression = std::find_if(expressions.begin(), expressions.end(), [&](const auto& e) {
    return IsMalformedExpression(e) || !Holds(e, node);
  });
  const auto index = static_cast<std::size_t>(expression - expressions.begin());
  if (expression != expressions.end()) return index;
  const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& f) {
    return IsMalformedField(f) || !MatchesField(f, node);
  });
  return index + static_cast<std::size_t>(field - fields.begin());
}

std::string AffinityMismatchText(std::span<const NodeSelectorTerm> terms, const NodeFacts& node) {
  if (terms.size() != 1) return "any term of the required node affinity";
  const auto& [expressions, fields] = terms.front();
  const std::size_t at = FirstMismatch(terms, node);
  if (at >= expressions.size() + fields.size()) return "an empty node affinity term";
  const bool in_fields = at >= expressions.size();
  const SelectorExpression& failed = in_fields ? fields[at - expressions.size()] : expressions[at];
  const bool malformed = in_fields ? IsMalformedField(failed) : IsMalformedExpression(failed);
  return (malformed ? "malformed node affinity " : "node affinity ") + ExpressionText(failed);
}

}  // namespace weft::rules
