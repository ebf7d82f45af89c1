#pragma once

#include <string>

#include "operator/base/result.h"
#include "operator/outlook/prices.h"

namespace weft::cli {

// The table of prices in a YAML or JSON file (report/prices.h).
// Errors  kInvalid "FILE: line 3: ..."; kTransient if reading fails.
Result<outlook::Prices> ReadPrices(const std::string& path);

}  // namespace weft::cli
