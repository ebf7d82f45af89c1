#pragma once

#include <span>
#include <vector>

#include "operator/decide/lint.h"
#include "operator/decide/workload.h"

namespace weft::decide {

// What one rule looks at: a workload and the fabric that it would run on.
struct LintSubject {
  const Cluster& cluster;
  const ClusterFabric& on;
  const Workload& workload;
  const Problem& problem;
};

// One rule gives its findings without their place.
using LintRule = std::vector<Finding> (*)(const LintSubject&);

std::span<const LintRule> LintRules();

}  // namespace weft::decide
