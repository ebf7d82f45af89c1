#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/fabric.h"
#include "operator/base/timestamp.h"
#include "operator/cluster/build_cluster.h"
#include "operator/cluster/cluster.h"

namespace weft::report {

// `status` of a Fabric object, computed from its nodes. Conditions:
//   Valid                False if the spec cannot be used: no job is placed on the Fabric
//   LinksDeclared        False if a bandwidth is assumed
//   NodesComplete        False if a node lacks a level's label, or contradicts the tree
//   TorusShapeUnused     True if torus.shapes names a domain without a complete node; absent
//   otherwise Overlapping          True if nodes are in two Fabrics; absent otherwise
//   ScaleUpCrossesLevel  True if the scale-up network crosses a level; absent otherwise
// Transition times of unchanged conditions are kept. At most 256 incomplete nodes are named; all
// are counted.
nlohmann::ordered_json FabricStatus(const api::Fabric& object, const cluster::Fabrics& fabrics,
                                    UnixSeconds now);

// The status of a Fabric whose spec cannot be read.
nlohmann::ordered_json UnreadableFabricStatus(const api::Fabric& object, UnixSeconds now);

}  // namespace weft::report
