#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "operator/base/text_map.h"
#include "operator/fabric/node_facts.h"
#include "operator/fabric/spec.h"

namespace weft::fabric {

// One requirement of a selector, given the value of the label that it names (nullopt: there is no
// such label): In, NotIn, Exists, DoesNotExist, Gt, Lt. NotIn and DoesNotExist hold without the
// label; Gt and Lt compare the value with the one value given, both 64-bit integers, and fail where
// either is not one. An unknown operator fails.
//
// Source  Kubernetes apimachinery, labels.Requirement.Matches, 1.35.
bool Matches(const SelectorExpression& expression, std::optional<std::string_view> value);

// Whether all requirements hold. A node without the label kubernetes.io/hostname has its name.
bool Matches(const LabelSelector& selector, const TextMap& labels);
bool Matches(const LabelSelector& selector, const NodeFacts& node);

// As Go's strconv.ParseInt reads it: a sign (+ too), leading zeros; nullopt past 64 bits.
std::optional<std::int64_t> ParseInteger(std::string_view text);

}  // namespace weft::fabric
