#include "operator/report/prices.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "operator/api/json_reader.h"
#include "operator/outlook/accelerators.h"

namespace weft::report {
namespace {

using api::Field;

// An hour of one accelerator costs less in any currency; more is a slip of the pen.
constexpr double kMostPrice = 1e6;
constexpr double kMostOverhead = 10;
constexpr double kMostInterruptions = 1e5;

std::optional<double> PriceAt(const Field& field) {
  if (!field.present()) return std::nullopt;
  const double price = field.Number();
  if (!(price > 0 && price <= kMostPrice)) field.Fail("must be above 0 and at most 1000000");
  return price;
}

outlook::Price PriceOf(const Field& field, const PricedNames& known) {
  field.RefuseUnknown({"accelerator", "onDemand", "reserved", "spot", "source"});
  outlook::Price price;
  const Field name = field["accelerator"];
  const auto found = outlook::FindAccelerator(name.Require().Str(), known.added);
  if (found) {
    price.accelerator = found->name;
  } else if (known.any) {
    price.accelerator = name.Str();
  } else if (name.present()) {
    name.Fail("is an unknown accelerator; " + outlook::KnownText(name.Str(), known.added));
  }
  price.on_demand = PriceAt(field["onDemand"]);
  price.reserved = PriceAt(field["reserved"]);
  price.spot = PriceAt(field["spot"]);
  price.source = field["source"].Str();
  return price;
}

}  // namespace

Result<outlook::Prices> DecodePrices(const nlohmann::json& document, const std::string& place,
                                     const PricedNames& known) {
  api::Decoding decoding(document, place);
  const Field root = decoding.Root();
  root.RefuseUnknown(
      {"currency", "date", "terms", "coolingOverhead", "interruptionsPer1000NodeDays", "prices"});
  outlook::Prices prices;
  prices.currency = root["currency"].Require().Str();
  prices.date = root["date"].Require().Str();
  prices.terms = root["terms"].OneOf({"OnDemand", "Reserved"}) == 0 ? outlook::Terms::kOnDemand
                                                                    : outlook::Terms::kReserved;
  prices.cooling_overhead = root["coolingOverhead"].Number(1);
  if (!(prices.cooling_overhead >= 1 && prices.cooling_overhead <= kMostOverhead)) {
    root["coolingOverhead"].Fail("must be between 1 and 10");
  }
  if (const Field rate = root["interruptionsPer1000NodeDays"]; rate.present()) {
    prices.interruptions_per_1000_node_days = rate.Number();
    if (!(rate.Number() >= 0 && rate.Number() <= kMostInterruptions)) {
      rate.Fail("must be between 0 and 100000");
    }
  }
  for (const Field& item : root["prices"].Require().Items()) {
    outlook::Price price = PriceOf(item, known);
    for (const outlook::Price& other : prices.prices) {
      if (other.accelerator == price.accelerator) item["accelerator"].Fail("is listed twice");
    }
    prices.prices.push_back(std::move(price));
  }
  if (Status status = decoding.status(); !status) return status.error();
  return prices;
}

}  // namespace weft::report
