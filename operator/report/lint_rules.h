#pragma once

#include <span>
#include <vector>

#include "operator/decide/workload.h"
#include "operator/report/lint.h"

namespace weft::report {

// Input of one rule: a workload and the fabric that it would run on.
struct LintSubject {
  const decide::Cluster& cluster;
  const decide::ClusterFabric& on;
  const decide::Workload& workload;
  const decide::Problem& problem;
};

// A rule returns its findings without their place.
using LintRule = std::vector<Finding> (*)(const LintSubject&);

std::span<const LintRule> LintRules();

}  // namespace weft::report
