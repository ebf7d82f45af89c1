#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/outlook/failures.h"

namespace weft::outlook {

// How an accelerator is paid for.
enum class Terms : std::uint8_t { kOnDemand, kReserved, kSpot };

// What one accelerator costs in an hour, its share of the server included; absent: not offered.
struct Price {
  std::string accelerator;  // a name of accelerators.h
  std::optional<double> on_demand, reserved, spot;
  std::string source;
};

// A table that the user gives; none is built in, because prices of the same accelerator differ
// by a factor of five.
struct Prices {
  std::string currency;            // "USD"
  std::string date;                // of the table: "2026-05-20"
  Terms terms = Terms::kOnDemand;  // of nodes that are not spot
  // Watts of the building for each watt of its computers (power usage effectiveness).
  double cooling_overhead = 1;
  // How often the sellers take spot nodes away, as in failures.h.
  std::optional<double> interruptions_per_1000_node_days;
  std::vector<Price> prices;

  // Of one accelerator and hour; absent where the table has no such price.
  std::optional<double> PerHour(std::string_view accelerator, Terms at) const;
  // The assumed rates, with the table's interruptions if it has them.
  FailureRates Rates() const;
};

}  // namespace weft::outlook
