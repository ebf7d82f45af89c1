#include "operator/render/advise_text.h"

#include <gtest/gtest.h>

#include "tests/support/layouts.h"
#include "tests/support/models.h"
#include "tests/unit/render/planned.h"

namespace weft::render {
namespace {

// A layout on 64 H100 whose step takes so many seconds.
report::AdvisedLayout Row(std::int64_t tensor, double seconds) {
  report::AdvisedLayout row;
  row.fabric = "default";
  row.accelerator = "H100";
  row.nodes = 8;
  row.layout = outlook::testing::Spread(traffic::testing::Llama70B(), 64, tensor, 4);
  row.layout.parallelism.sharding = traffic::Sharding::kOptimizerState;
  row.layout.model.recomputation = traffic::Recomputation::kFull;
  outlook::Prediction& one = row.prediction;
  one.memory.weights = 50e9;
  one.capacity = 100e9;
  one.fits = true;
  one.step.compute = one.step.matrices = seconds;
  one.mfu = 0.42;
  one.tokens_per_second = 1e6 / seconds;
  one.watts = 65e3;
  one.calibration = &outlook::FindCalibration("Hopper BF16, FSDP");
  one.error = 0.08;
  return row;
}

report::Advice Two() {
  report::Advice advice;
  advice.job = "team-a/llama";
  advice.tried = 1200;
  advice.fitting = 34;
  advice.layouts = {Row(8, 10), Row(4, 20)};
  return advice;
}

bool Holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(AdviseTextTest, LayoutsAreLinesWithoutColumnsThatTellNothing) {
  EXPECT_EQ(
      AdviceText(Two(), Plain(100)),
      "ACCELERATORS  TENSOR  PIPELINE  SHARDING        MICRO-BATCH  RECOMPUTE  MEMORY  STEP  "
      "EXPOSED  BUBBLE   MFU  TOKENS/S  POWER\n"
      "64 x H100          8         4  OptimizerState            1  Full         50 %  10 s  "
      "    0 %     0 %  42 %   100,000  65 kW\n"
      "64 x H100          4         4  OptimizerState            1  Full         50 %  20 s  "
      "    0 %     0 %  42 %    50,000  65 kW\n"
      "\n"
      "1,200 layouts of team-a/llama tried, 34 fit in memory. The first is bound by compute. "
      "No change that\n"
      "  Weft tries gives 2 % or more.\n"
      "\n"
      "Predicted on the empty fabric, on nodes that lie side by side, with these "
      "calibrations\n"
      "(operator/docs/outlook.md):\n"
      "  Hopper BF16, FSDP (+-8 %): every other H100 BF16 row of llm-foundry's FSDP table.\n");
}

TEST(AdviseTextTest, ColumnsThatDifferAreShown) {
  report::Advice advice = Two();
  advice.layouts[1].layout.parallelism.expert = 8;
  advice.layouts[1].fabric = "other";
  advice.layouts[0].days = 12.34;
  advice.layouts[0].cost = 56'789;
  advice.currency = "USD";
  const std::string text = AdviceText(advice, Plain(100));
  for (const char* part : {"FABRIC", "EXPERT", "DAYS", "COST, USD", "12.3", "56,789"}) {
    EXPECT_TRUE(Holds(text, part)) << part;
  }
  EXPECT_FALSE(Holds(text, "CONTEXT"));
}

TEST(AdviseTextTest, TheJobAsItIsWrittenIsComparedWithTheFirstLayout) {
  const auto text = [](const report::AdvisedLayout& own) {
    report::Advice advice = Two();
    advice.as_written = own;
    return AdviceText(advice, Plain(200));
  };
  const std::string start =
      "The layout in the job's spec takes 50 % of the memory of 64 x H100, and a step takes ";
  EXPECT_TRUE(Holds(text(Row(2, 12.5)), start + "12.5 s; the first layout trains on 25 % more "
                                                "tokens per second per accelerator.\n"));
  EXPECT_TRUE(Holds(text(Row(2, 8)), start + "8 s; the first layout trains on 20 % fewer tokens "
                                             "per second per accelerator.\n"));
  EXPECT_TRUE(Holds(text(Row(2, 10)), start + "10 s; no layout is clearly faster.\n"));
  report::AdvisedLayout large = Row(2, 10);
  large.prediction.fits = false;
  large.prediction.memory.weights = 120e9;
  EXPECT_TRUE(
      Holds(text(large),
            "The layout in the job's spec does not fit: it takes 120 % of the memory of 64 x "
            "H100.\n"));
}

TEST(AdviseTextTest, RowsThatTakeNearlyAllMemoryAreMarked) {
  report::Advice advice = Two();
  advice.layouts[0].prediction.memory.weights = 95e9;
  EXPECT_FALSE(Holds(AdviceText(advice, Plain(200)), "tight"));
  advice.layouts[0].prediction.memory.weights = 96e9;
  const std::string text = AdviceText(advice, Plain(200));
  EXPECT_TRUE(Holds(text, "  tight 96 %  10 s")) << text;
  EXPECT_TRUE(Holds(text, "        50 %  20 s")) << text;
  EXPECT_TRUE(Holds(text,
                    "\ntight: over 95 % of the memory; predictions of memory are right to "
                    "about 10 %.\n"));
}

TEST(AdviseTextTest, DaysNameTheFailuresThatTheyCount) {
  report::Advice advice = Two();
  EXPECT_FALSE(Holds(AdviceText(advice, Plain(200)), "failures"));
  for (auto& row : advice.layouts) row.days = 12;
  EXPECT_TRUE(Holds(AdviceText(advice, Plain(200)),
                    "Days and costs count 3.79 failures in 1,000 node-days (assumed: Llama 3 405B, "
                    "2024).\n"));
  advice.layouts[1].spot_nodes = 8;
  advice.rates.interruptions_per_1000_node_days = 50;
  advice.rates_of_prices = true;
  EXPECT_TRUE(Holds(AdviceText(advice, Plain(200)),
                    "2024), and for spot nodes 50 interruptions (by the table of prices).\n"));
}

TEST(AdviseTextTest, WithoutALayoutThatFitsItSaysThat) {
  report::Advice advice = Two();
  advice.layouts.clear();
  EXPECT_EQ(AdviceText(advice, Plain(200)),
            "1,200 layouts of team-a/llama tried, 34 fit in memory. None is left to advise.\n");
  advice.why_none = "They are too slow.";
  EXPECT_TRUE(Holds(AdviceText(advice, Plain(200)), "left to advise. They are too slow.\n"));
  advice.tried = advice.fitting = 0;
  EXPECT_EQ(AdviceText(advice, Plain(200)),
            "No layout of team-a/llama can be tried. They are too slow.\n");
}

}  // namespace
}  // namespace weft::render
