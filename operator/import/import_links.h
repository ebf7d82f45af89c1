#pragma once

#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/import/imported_cluster.h"

namespace weft::import {

// Links of an imported fabric that the user gives, because sources seldom contain them.
struct ImportLinks {
  // "TYPE" for every level, or "LEVEL=TYPE"; a torus counts as a level here. The links of a
  // scale-up network are set by its name alone.
  std::vector<std::string> links;
  std::vector<std::string> oversubscription;  // "LEVEL=PERCENT"
  std::string node_link;                      // type of the link inside a node; "": assumed
};

// Sets the links in the cluster's Fabric. The level "outside" connects the widest domains.
// Errors  kInvalid: "--link: ..." for an unknown type or level; the message lists the known ones.
Status AddLinks(const ImportLinks& wanted, ImportedCluster& cluster);

}  // namespace weft::import
