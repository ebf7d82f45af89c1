#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/outlook/failures.h"
#include "operator/report/failure_model.h"

namespace weft::report {

struct SpareJob {
  std::string job, fabric;
  std::int64_t nodes = 0;  // that it has, else that its workers fill
  bool held = false;       // it has them
  double rho = 0;
  std::int64_t p99 = 0, best = 0;
  std::string level;  // in whose domain a replacement must be; "outside": anywhere
  outlook::Reliability reliability;
};

// A job of the input that is left out, because its spec contradicts the fabric.
struct RefusedJob {
  api::Place place;
  std::string message;  // starts with the place
};

struct FabricFailures {
  std::string fabric;
  FailureModel model;
};

// The failures in 1,000 days that end a job on these nodes: of each node, and of each domain that
// they touch whose level has a rate. Precondition: the nodes ascend.
double FailuresOf(const fabric::Fabric& fabric, const FailureModel& model,
                  std::span<const fabric::NodeIndex> nodes);

// Whether the node has accelerators, also while its device plug-in offers none.
bool IsAcceleratorNode(const fabric::Fabric& fabric, fabric::NodeIndex node);
// The accelerator's name in Weft's table or that of the Fabric, else the product of the node's
// labels; "" without one.
std::string ProductName(const fabric::Fabric& fabric, fabric::NodeIndex node);

// The unfinished jobs of the cluster, and the accelerators (ProductName) of the nodes of each.
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
