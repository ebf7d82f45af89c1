#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "operator/base/text_map.h"
#include "operator/fabric/node_facts.h"
#include "operator/fabric/spec.h"

namespace weft::fabric {

// Whether a requirement of a selector matches the value of the label that it names (nullopt: the
// label is absent). Operators: In, NotIn, Exists, DoesNotExist, Gt, Lt. NotIn and DoesNotExist
// match an absent label. Gt and Lt compare with the requirement's one value and match only if both
// are 64-bit integers. An unknown operator never matches.
//
// Source  Kubernetes apimachinery, labels.Requirement.Matches, 1.35.
bool Matches(const SelectorExpression& expression, std::optional<std::string_view> value);

// Whether all requirements match. An absent label kubernetes.io/hostname counts as the node's name.
bool Matches(const LabelSelector& selector, const TextMap& labels);
bool Matches(const LabelSelector& selector, const NodeFacts& node);

// The integer as Go's strconv.ParseInt reads it (a sign, + too, and leading zeros are allowed);
// nullopt past 64 bits.
std::optional<std::int64_t> ParseInteger(std::string_view text);

}  // namespace weft::fabric
