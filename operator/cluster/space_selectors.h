#pragma once

#include <string>

#include "operator/api/inputs.h"

namespace weft::cluster {

// Replaces each namespaceSelector in terms of pod affinity, of jobs, pods and Placements, by the
// names of the namespaces that it selects. One that selects none stays, as a selector that can
// select none. The labels are those of Namespaces, and kubernetes.io/metadata.name, which every
// namespace has.
//
// Returns  a sentence that names the namespaces that are not among the inputs, which count as
//          without other labels; "" if there are none, or no such selector.
// Cost     O(pods) without such selectors, else O(pods log namespaces + terms x namespaces).
std::string ResolveSpaceSelectors(api::Inputs& inputs);

}  // namespace weft::cluster
