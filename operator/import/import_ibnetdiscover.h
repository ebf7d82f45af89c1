#pragma once

#include "operator/base/result.h"
#include "operator/import/imported_cluster.h"
#include "operator/manifest/source.h"

namespace weft::import {

// Makes a cluster from the output of ibnetdiscover for an InfiniBand fabric, in one of the forms of
// import_ib_dump.h.
//
// A leaf domain is a group of nodes that share most of their leaf switches (one per rail on a
// rail-optimised fabric); a wider domain is a group of domains that share most of their switches of
// the next tier. A level with a single domain is not listed, because that is `outside`. Labels:
// weft.dev/leaf, weft.dev/spine, ... and weft.dev/rail-0, ... with names of real switches (a domain
// has the name of its first switch).
// Links: the usual port speed gives the type. The oversubscription of a tier is the median over its
// switches of 100 x down / up ports, at least 100; tiers multiply.
// Hosts with at most half of the usual number of HCAs (if that is four or more), and hosts on no
// leaf, get no accelerators. Links between two hosts are not of the fabric; only if it has no
// switch they are its network, which has no levels then. The scale-up network is not visible from
// InfiniBand and is left out. By default a node has as many accelerators as the usual host has
// HCAs.
//
// Errors  kInvalid: "FILE: line 12: ..."; "FILE: ..." if the dump names no host.
Result<ImportedCluster> ImportIbnetdiscover(const manifest::Source& source,
                                            const ImportOptions& options);

}  // namespace weft::import
