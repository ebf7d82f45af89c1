#pragma once

#include <optional>
#include <string>

#include "operator/base/result.h"
#include "operator/outlook/prices.h"

namespace weft::cli {

// The table of prices in a YAML or JSON file (report/prices.h).
// Errors  kInvalid "FILE: line 3: ..."; kTransient if reading fails.
Result<outlook::Prices> ReadPrices(const std::string& path);

// The same, where a path is given.
Status ReadPricesOf(const std::string& path, std::optional<outlook::Prices>& prices);

}  // namespace weft::cli
