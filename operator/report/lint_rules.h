#pragma once

#include <span>
#include <vector>

#include "operator/cluster/problem.h"
#include "operator/cluster/workload.h"
#include "operator/report/lint.h"

namespace weft::report {

// Input of one rule: a workload and the fabric that it would run on.
struct LintSubject {
  const cluster::Cluster& cluster;
  const cluster::ClusterFabric& on;
  const cluster::WorkloadView& workload;
  const cluster::Problem& problem;
};

// A rule returns its findings without their place.
using LintRule = std::vector<Finding> (*)(const LintSubject&);

std::span<const LintRule> LintRules();

}  // namespace weft::report
