#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "operator/fabric/node_facts.h"
#include "operator/rules/pod_requirements.h"

namespace weft::rules {

// Whether kube-scheduler refuses to parse the requirement: its operator is unknown, or its values
// are missing, too many or invalid as label values. The whole term then matches no node.
bool IsMalformedExpression(const fabric::SelectorExpression& expression);
// The same for matchFields, which allow only the field metadata.name, In or NotIn, and one value.
bool IsMalformedField(const fabric::SelectorExpression& field);

// Whether all expressions and all fields match; an empty or malformed term matches no node.
bool MatchesTerm(const NodeSelectorTerm& term, const fabric::NodeFacts& node);

// Whether any term matches; false if there are no terms.
bool MatchesAffinity(std::span<const NodeSelectorTerm> terms, const fabric::NodeFacts& node);

// The first requirement of a single term that fails: index into its expressions, then its fields. 0
// if there are several terms or none; past the last if the term is empty.
std::size_t FirstMismatch(std::span<const NodeSelectorTerm> terms, const fabric::NodeFacts& node);

// A text about the part that the node does not match: a single requirement ("node affinity pool In
// (a, b)"), else all terms.
std::string AffinityMismatchText(std::span<const NodeSelectorTerm> terms,
                                 const fabric::NodeFacts& node);

}  // namespace weft::rules
