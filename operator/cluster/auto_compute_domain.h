#pragma once

#include "operator/api/inputs.h"
#include "operator/cluster/cluster.h"

namespace weft::cluster {

// Sets PodRequirements::claims_compute_domain of the inputs' jobs with topology.computeDomain:
// Auto. The pods claim a channel only if Weft makes a ComputeDomain for them, so only if two nodes
// that the job may use share a domain of the scale-up network: not on a fabric without one, and
// not for products of which no two nodes share one. A job that may use several products or fabrics
// claims one everywhere if it may need it for one of them; so does a job whose own template claims
// a channel.
// `inputs`: those of the cluster, after ResolveChannelClaims; its fabrics need no claims yet.
// Cost  O(pools) per job with Auto, and O(nodes) per set of pools that such jobs may use.
void SettleAutoComputeDomains(const Cluster& cluster, api::Inputs& inputs);

}  // namespace weft::cluster
