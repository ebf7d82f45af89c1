#pragma once

#include <vector>

#include "operator/base/result.h"
#include "operator/fabric/fabric.h"
#include "operator/fabric/spec.h"

namespace weft::fabric {

// Every link of a fabric, resolved.
struct ResolvedLinks {
  std::vector<Link> levels;  // widest first, as in the spec
  Link outside;
  Link scale_up;
  Link torus;
  Link node;
};

// A declared link is used as it is; any other link is Assumed:
//   - the narrowest level: one 400 Gb/s port per GPU;
//   - a wider level, and `outside` where the widest level is assumed too: the next narrower link at
//     twice its oversubscription, so that a fabric without figures still prefers the narrow level;
//   - the scale-up network: NVLink5; the torus: ICI of TPU v5p; and the node: the scale-up link,
//   else
//     the torus's, else NVLink4.
// `outside` is otherwise the widest level's link.
//
// Errors  kInvalid with the field's path: an unknown type without a bandwidth, a bandwidth or
//         latency out of range, oversubscription below 1 %, less than 1 kB/s for a GPU on one rail.
Result<ResolvedLinks> ResolveLinks(const FabricSpec& spec);

// Fails where the spec contradicts itself: names (empty, reserved, twice), label keys (missing,
// twice), rails, the torus, the node selector, the cost tolerance. Errors carry the field's path.
Status CheckSpec(const FabricSpec& spec);

}  // namespace weft::fabric
