#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/report/finding.h"

namespace weft::report {

struct LintReport {
  std::vector<Finding> findings;  // input order, errors first within one object
  // A job can never fit its fabric, or its model fits no GPU there: exit code 3.
  bool never_fits = false;
  bool invalid = false;  // `plan` would refuse to read an object: exit code 2
};

// Checks every TrainingJob and Placement against the fabrics and says what is wrong or wasteful.
// An Error of `plan` is a finding of severity error here. `space`: only objects of this namespace;
// "": all.
LintReport Lint(const cluster::Cluster& cluster, const std::string& space = "");

nlohmann::ordered_json LintJson(const LintReport& report);

}  // namespace weft::report
