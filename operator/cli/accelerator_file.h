#pragma once

#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/fabric/spec.h"

namespace weft::cli {

// The accelerators that a YAML or JSON file adds to Weft's table, none without a path.
// Errors  kInvalid "FILE: line 3: ..."; kTransient if reading fails.
Result<std::vector<fabric::AcceleratorSpec>> ReadAccelerators(const std::string& path);

// Errors  kInvalid unless the name is "", of Weft's table, or one of `added`.
Status CheckAcceleratorName(const std::string& name,
                            const std::vector<fabric::AcceleratorSpec>& added);

}  // namespace weft::cli
