#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "operator/base/result.h"
#include "operator/fabric/spec.h"
#include "operator/outlook/prices.h"

namespace weft::report {

// The table of prices of one document; `place` starts every message.
//
//   currency: USD
//   date: "2026-05-20"
//   terms: OnDemand            # or Reserved: how nodes are paid for that are not spot
//   coolingOverhead: 1.2       # optional, at least 1
//   interruptionsPer1000NodeDays: 100   # optional: how often spot nodes are taken away
//   prices:                    # of one accelerator and hour
//   - {accelerator: H100, onDemand: 2.95, reserved: 1.99, spot: 1.35, source: "..."}
//
// `known`: the accelerators that the table may name: those of Weft's own table and `added`; or any,
// if the Fabrics, which may add some, are not read yet.
//
// Errors  kInvalid with the field's path: a missing or unknown field, an accelerator that
//         is unknown or listed twice, a price that is not positive.
struct PricedNames {
  std::span<const fabric::AcceleratorSpec> added = {};
  bool any = false;
};
Result<outlook::Prices> DecodePrices(const nlohmann::json& document, const std::string& place,
                                     const PricedNames& known = {});

}  // namespace weft::report
