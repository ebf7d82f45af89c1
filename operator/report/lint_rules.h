#pragma once

#include <span>
#include <vector>

#include "operator/report/finding.h"
#include "operator/report/lint_subject.h"

namespace weft::report {

struct LintRule {
  // The findings, without their place.
  std::vector<Finding> (*find)(const LintSubject& subject);
  // Whether a finding means that the workload can never run on its fabric.
  bool never_fits = false;
};

// All rules, in the order of their findings.
std::span<const LintRule> LintRules();

}  // namespace weft::report
