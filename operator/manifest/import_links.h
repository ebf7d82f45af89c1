#pragma once

#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/manifest/imported_cluster.h"

namespace weft::manifest {

// Links of an imported fabric as the user gives them, since sources seldom contain them.
struct ImportLinks {
  // "TYPE" of every level, or "LEVEL=TYPE"; a torus counts as a level here.
  std::vector<std::string> links;
  std::vector<std::string> oversubscription;  // "LEVEL=PERCENT"
  std::string node_link;                      // type, inside a node; "" assumed
};

// Writes them into the cluster's Fabric. "outside" is what joins the widest domains.
// Errors  kInvalid: "--link: ..." for an unknown type or level, with the known ones.
Status AddLinks(const ImportLinks& wanted, ImportedCluster& cluster);

}  // namespace weft::manifest
