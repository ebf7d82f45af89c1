#pragma once

#include "operator/cluster/cluster.h"
#include "operator/cluster/problem.h"
#include "operator/cluster/workload.h"

namespace weft::report {

// Input of one rule: a workload and the fabric that it would run on.
struct LintSubject {
  const cluster::Cluster& cluster;
  const cluster::ClusterFabric& on;
  const cluster::WorkloadView& workload;
  const cluster::Problem& problem;
};

}  // namespace weft::report
