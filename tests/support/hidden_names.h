#pragma once

#include <vector>

#include "tests/support/source_rules.h"

namespace weft::testing {

// No name of an unnamed namespace is that of a header of the same module: the sources of a module
// are compiled together, so one of them could get the other's name without an error. Only names at
// the start of a line's declaration are seen.
Violations CheckHiddenNames(const std::vector<SourceFile>& files);

}  // namespace weft::testing
