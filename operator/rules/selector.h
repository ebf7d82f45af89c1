#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "operator/fabric/node_facts.h"
#include "operator/rules/pod_requirements.h"

namespace weft::placement {

// A requirement that kube-scheduler refuses to parse: an unknown operator, values missing, too
// many or not of a label's form. Its whole term then matches nothing.
bool IsMalformedExpression(const fabric::SelectorExpression& expression);
// matchFields know the operators In and NotIn, one value, and the field metadata.name.
bool IsMalformedField(const fabric::SelectorExpression& field);

// All expressions and all fields hold; an empty or malformed term matches nothing.
bool MatchesTerm(const NodeSelectorTerm& term, const fabric::NodeFacts& node);

// Any term matches. No terms at all match nothing.
bool MatchesAffinity(std::span<const NodeSelectorTerm> terms, const fabric::NodeFacts& node);

// Which requirement of a lone term fails first: index into its expressions, then its fields; 0 for
// several terms or none, and past the last where the term is empty.
std::size_t FirstMismatch(std::span<const NodeSelectorTerm> terms, const fabric::NodeFacts& node);

// For people, the part that the node does not match: a single requirement ("node affinity pool In
// (a, b)"), else all terms.
std::string AffinityMismatchText(std::span<const NodeSelectorTerm> terms,
                                 const fabric::NodeFacts& node);

}  // namespace weft::placement
