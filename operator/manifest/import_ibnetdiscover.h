#pragma once

#include "operator/base/result.h"
#include "operator/manifest/imported_cluster.h"
#include "operator/manifest/reader.h"

namespace weft::manifest {

// An InfiniBand fabric as ibnetdiscover saw it.
//
// A node's leaf domain is the group of nodes that share most of their leaf switches (one leaf per
// rail on a rail-optimised fabric); wider levels group what shares most of its next tier. A level
// that holds everything is not listed: `outside` is the way through it. Labels: weft.dev/leaf,
// weft.dev/spine, ... and weft.dev/rail-0, ... with the names of real switches (a domain bears the
// first of its switches').
// Links: type by the usual port speed; the oversubscription of a tier is the median over its
// switches of 100 x down / up ports, at least 100, and multiplies from tier to tier.
// Hosts with half of the usual HCAs or fewer (of at least four), and hosts on no leaf, appear
// without accelerators. The scale-up network cannot be seen from InfiniBand and is left out.
// By default a node has as many accelerators as the usual host has HCAs.
//
// Errors  kInvalid: "FILE: line 12: ..."; "FILE: ..." where the dump names no host.
Result<ImportedCluster> ImportIbnetdiscover(const Source& source, const ImportOptions& options);

}  // namespace weft::manifest
