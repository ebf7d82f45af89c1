#pragma once

#include "operator/base/result.h"
#include "operator/fabric/spec.h"

namespace weft::fabric {

// Checks that the spec is consistent: names (empty, reserved, duplicate), label keys (missing,
// duplicate), rails, the torus, the planes, the node selector, the cost tolerance. Errors carry the
// field's path.
Status CheckSpec(const FabricSpec& spec);

}  // namespace weft::fabric
