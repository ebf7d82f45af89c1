#pragma once

#include <span>
#include <vector>

#include "operator/report/finding.h"
#include "operator/report/lint_subject.h"

namespace weft::report {

// A rule returns its findings without their place.
using LintRule = std::vector<Finding> (*)(const LintSubject&);

std::span<const LintRule> LintRules();

}  // namespace weft::report
