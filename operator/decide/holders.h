#pragma once

#include "operator/decide/cluster.h"

namespace weft::decide {

// Books everything that has nodes: pods that hold one, and the workers of Placements with nodes
// whose pods are not (yet) among the pods. Fills claims and holders of every fabric.
// Cost  O(pods x (placements with a podSelector in the namespace + log nodes)).
void BookHolders(Cluster& cluster);

}  // namespace weft::decide
