#pragma once

#include <optional>
#include <string>

#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/outlook/prices.h"
#include "operator/report/prices.h"

namespace weft::program {

// The table of prices in a YAML or JSON file (report/prices.h); nothing without a path.
// Errors  kInvalid "FILE: line 3: ..."; kTransient if reading fails.
Status ReadPricesOf(const std::string& path, const report::PricedNames& known,
                    std::optional<outlook::Prices>& prices);
// The same; it may name the accelerators that the cluster's Fabrics add.
Status ReadPricesFor(const cluster::Cluster& cluster, const std::string& path,
                     std::optional<outlook::Prices>& prices);

}  // namespace weft::program
