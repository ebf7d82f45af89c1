#include "operator/report/prices.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::report {
namespace {

using Json = nlohmann::json;

Json Table() {
  return Json::parse(R"({"currency": "USD", "date": "2026-05-20", "coolingOverhead": 1.2,
    "prices": [{"accelerator": "NVIDIA-H100-80GB-HBM3", "onDemand": 2.95, "spot": 1.35},
               {"accelerator": "B200", "reserved": 3.75, "source": "a list"}]})");
}

std::string Why(const Json& table) {
  const auto prices = DecodePrices(table, "prices.yaml");
  return prices ? "" : prices.error().message;
}

TEST(PricesTest, AreOfAnAcceleratorAndItsTerms) {
  const auto prices = DecodePrices(Table(), "prices.yaml");
  ASSERT_TRUE(prices) << prices.error().message;
  EXPECT_EQ(prices->currency, "USD");
  EXPECT_EQ(prices->cooling_overhead, 1.2);
  EXPECT_EQ(prices->PerHour("H100", outlook::Terms::kOnDemand), 2.95);
  EXPECT_EQ(prices->PerHour("H100", outlook::Terms::kReserved), std::nullopt);
  EXPECT_EQ(prices->PerHour("B200", outlook::Terms::kReserved), 3.75);
  EXPECT_EQ(prices->PerHour("A100-80GB", outlook::Terms::kOnDemand), std::nullopt);
}

TEST(PricesTest, NamesTheInvalidFieldOfThePriceTable) {
  Json table = Table();
  table["prices"][1]["accelerator"] = "Z1";
  EXPECT_NE(Why(table).find("prices.yaml: prices[1].accelerator: "), std::string::npos)
      << Why(table);
  table = Table();
  table["prices"][1]["accelerator"] = "H100";
  EXPECT_NE(Why(table).find("prices[1].accelerator"), std::string::npos) << Why(table);
  table = Table();
  table["prices"][0]["onDemand"] = -1;
  EXPECT_NE(Why(table).find("prices[0].onDemand"), std::string::npos) << Why(table);
  table = Table();
  table.erase("currency");
  EXPECT_NE(Why(table).find("currency: is required"), std::string::npos) << Why(table);
  table = Table();
  table["coolingOverhead"] = 0.5;
  EXPECT_NE(Why(table).find("coolingOverhead"), std::string::npos) << Why(table);
  table = Table();
  table["discount"] = 3;
  EXPECT_NE(Why(table).find("discount: unknown field"), std::string::npos) << Why(table);
}

TEST(PricesTest, AnUnknownAcceleratorIsNamedOnceWithTheNearest) {
  Json table = Table();
  table["prices"][1]["accelerator"] = "H101";
  EXPECT_EQ(Why(table),
            "prices.yaml: prices[1].accelerator: \"H101\" is an unknown accelerator; the nearest "
            "known is H100");
}

TEST(PricesTest, SayHowOftenSpotNodesAreTakenAway) {
  Json table = Table();
  EXPECT_EQ(DecodePrices(table, "p")->Rates().interruptions_per_1000_node_days,
            outlook::FailureRates().interruptions_per_1000_node_days);
  table["interruptionsPer1000NodeDays"] = 7;
  EXPECT_EQ(DecodePrices(table, "p")->Rates().interruptions_per_1000_node_days, 7);
  table["interruptionsPer1000NodeDays"] = -1;
  EXPECT_NE(Why(table).find("interruptionsPer1000NodeDays: "), std::string::npos) << Why(table);
}

TEST(PricesTest, MayNameAnAcceleratorThatAUserAdded) {
  Json table = Table();
  table["prices"][1]["accelerator"] = "X1";
  fabric::AcceleratorSpec added;
  added.name = "X1";
  const auto known = DecodePrices(table, "prices.yaml", {.added = {&added, 1}});
  ASSERT_TRUE(known) << known.error().message;
  EXPECT_EQ(known->PerHour("X1", outlook::Terms::kReserved), 3.75);
  const auto any = DecodePrices(table, "prices.yaml", {.any = true});
  ASSERT_TRUE(any) << any.error().message;
  EXPECT_EQ(any->PerHour("X1", outlook::Terms::kReserved), 3.75);
  EXPECT_EQ(any->PerHour("H100", outlook::Terms::kSpot), 1.35);
}

}  // namespace
}  // namespace weft::report
