#pragma once

#include <vector>

#include "operator/base/result.h"
#include "operator/fabric/spec.h"
#include "operator/fabric/tiers.h"

namespace weft::fabric {

// All links of a fabric, with their figures resolved.
struct ResolvedLinks {
  std::vector<Link> levels;  // widest first, as in the spec
  Link outside;
  Link scale_up;
  Link torus;
  std::vector<Link> planes;  // as in the spec
  Link node;
};

// A declared link is used as it is; any other link is Assumed:
//   - the narrowest level has one 400 Gb/s port per GPU;
//   - a wider level, and `outside` if the widest level is assumed too, has the next narrower link
//     with twice its oversubscription, so that narrow levels are preferred even without figures;
//   - the scale-up network has NVLink5, the torus the ICI of TPU v5p, a plane one
//     400 Gb/s port per GPU;
//   - the node has the scale-up network's link, else the torus's, else NVLink4.
// Otherwise `outside` has the widest level's link.
//
// Errors  kInvalid with the field's path: an unknown type without a bandwidth, a bandwidth or
//         latency out of range, oversubscription below 1 %, or a link so slow that a GPU with one
//         rail left gets less than 1 kB/s.
Result<ResolvedLinks> ResolveLinks(const FabricSpec& spec);

}  // namespace weft::fabric
