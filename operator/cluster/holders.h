#pragma once

#include "operator/cluster/cluster.h"

namespace weft::cluster {

// Fills claims and holders of every fabric: from pods on a node, and from workers of Placements
// with nodes whose pods are not (yet) among the inputs; and `nominated`, from pods without a node.
// Pods on nodes that a Fabric lacks become its Claims::elsewhere().
// Cost  O(nodes + pods x (placements with a podSelector in the namespace + log namespaces)).
void BookHolders(Cluster& cluster);

}  // namespace weft::cluster
