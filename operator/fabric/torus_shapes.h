#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/fabric/spec.h"

namespace weft::fabric {

// The dimensions of every shape: first TorusSpec::dimensions, the shape of all domains that no
// entry of TorusSpec::shapes names; then, for each entry, the same labels with its sizes.
std::vector<std::vector<TorusDimension>> DimensionsOfShapes(const TorusSpec& spec);

// By domain of TorusSpec::level: the index of its shape in DimensionsOfShapes.
// Cost  O((names + named domains) x log(named domains)).
std::vector<std::uint32_t> ShapesOfDomains(const TorusSpec& spec,
                                           std::span<const std::string> names);

// The domains that TorusSpec::shapes names and that are not among `names`, in the spec's order.
std::vector<std::string> AbsentDomainsOfShapes(const TorusSpec& spec,
                                               std::span<const std::string> names);

// Errors  kInvalid with the field's path, "spec.torus.shapes[0].sizes: ...". The spec's dimensions
//         must be valid.
Status CheckTorusShapes(const TorusSpec& spec);

}  // namespace weft::fabric
