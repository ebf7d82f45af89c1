#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/report/spare_advice.h"

namespace weft::report {

// The domains of one tier that hold some of the nodes.
struct SpareDomains {
  std::vector<std::int64_t> sizes;             // by domain, in the order of the tree
  std::span<const fabric::NodeIndex> largest;  // nodes of the first of the largest
};
// Precondition: the nodes ascend, so that those of a domain follow each other. Points into them.
SpareDomains DomainsOf(const fabric::Fabric& fabric, std::span<const fabric::NodeIndex> nodes,
                       fabric::Tier tier);

// The failures in 1,000 days that end a job on these nodes: of each node, and of each domain that
// they touch whose level has a rate. Precondition: the nodes ascend.
double FailuresOf(const fabric::Fabric& fabric, const FailureModel& model,
                  std::span<const fabric::NodeIndex> nodes);

// Whether the node has accelerators, also while its device plug-in offers none.
bool IsAcceleratorNode(const fabric::Fabric& fabric, fabric::NodeIndex node);
// By pool: the accelerator's name in Weft's table or that of the Fabric, else the product of the
// nodes' labels; "" without one.
IndexVector<fabric::PoolIndex, std::string> ProductNames(const fabric::Fabric& fabric);

// The unfinished jobs of the cluster, and the accelerators (ProductNames) of the nodes of each.
struct SpareJobs {
  std::vector<SpareJob> jobs;
  std::vector<std::set<std::string>> products;  // by job
  std::vector<RefusedJob> refused;
};

// How     A job without nodes counts as many as its workers fill, side by side on the empty fabric,
//         of the first pools that it may use (cluster/pool_choices.h).
// Shapes  failures: by fabric.
// Errors  as cluster::AllWorkloads and cluster::RunningWorkloads.
Result<SpareJobs> SpareJobsOf(const cluster::Cluster& cluster,
                              const std::vector<FabricFailures>& failures);

}  // namespace weft::report
