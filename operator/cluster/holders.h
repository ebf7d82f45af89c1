#pragma once

#include "operator/cluster/cluster.h"

namespace weft::cluster {

// Fills claims and holders of every fabric: from pods on a node, and from workers of Placements
// with nodes whose pods are not (yet) among the inputs.
// Cost  O(pods x (placements with a podSelector in the namespace + log nodes)).
void BookHolders(Cluster& cluster);

}  // namespace weft::cluster
