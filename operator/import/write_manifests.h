#pragma once

#include <string>

#include "operator/import/imported_cluster.h"

namespace weft::import {

// The cluster's manifests as one YAML text of several documents: Fabrics, Nodes, Pods (sorted by
// name).
// Cost  O(size of the text): 100,000 nodes within a second or two.
std::string WriteManifests(const ImportedCluster& cluster);

}  // namespace weft::import
