#include "operator/outlook/prices.h"

#include <algorithm>

namespace weft::outlook {

std::optional<double> Prices::PerHour(std::string_view accelerator, Terms at) const {
  const auto found = std::find_if(prices.begin(), prices.end(),
                                  [&](const Price& one) { return one.accelerator == accelerator; });
  if (found == prices.end()) return std::nullopt;
  switch (at) {
    case Terms::kOnDemand:
      return found->on_demand;
    case Terms::kReserved:
      return found->reserved;
    case Terms::kSpot:
      return found->spot;
  }
  return std::nullopt;
}

FailureRates Prices::Rates() const {
  FailureRates rates;
  if (interruptions_per_1000_node_days) {
    rates.interruptions_per_1000_node_days = *interruptions_per_1000_node_days;
  }
  return rates;
}

}  // namespace weft::outlook
