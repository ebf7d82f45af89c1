#include "operator/metrics/counters.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace weft::metrics {
namespace {

bool Has(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(CountersTest, CountersAndHistogramsWithoutLabelsAreThereFromTheStart) {
  const Counters counters;
  const std::string text = counters.Text();
  EXPECT_TRUE(Has(text, "weft_events_dropped_total 0")) << text;
  EXPECT_TRUE(Has(text, "weft_solve_seconds_count 0")) << text;
}

TEST(CountersTest, EachSetOfLabelsCountsForItself) {
  Counters counters;
  counters.Add(Id::kPlacements, {"Placed", "Placed"});
  counters.Add(Id::kPlacements, {"Refused", "RequiredLevel"}, 2);
  counters.Add(Id::kPlacements, {"Placed", "Placed"});
  const std::string text = counters.Text();
  EXPECT_TRUE(Has(text, "# TYPE weft_placements_total counter")) << text;
  EXPECT_TRUE(Has(text, "weft_placements_total{reason=\"Placed\",result=\"Placed\"} 2")) << text;
  EXPECT_TRUE(Has(text, "weft_placements_total{reason=\"RequiredLevel\",result=\"Refused\"} 2"))
      << text;
}

TEST(CountersTest, AnObservationFallsIntoItsBucketAndAllWiderOnes) {
  Counters counters;
  counters.Observe(Id::kBindSeconds, {}, 7);
  const std::string text = counters.Text();
  EXPECT_TRUE(Has(text, "weft_bind_seconds_bucket{le=\"5\"} 0")) << text;
  EXPECT_TRUE(Has(text, "weft_bind_seconds_bucket{le=\"10\"} 1")) << text;
  EXPECT_TRUE(Has(text, "weft_bind_seconds_bucket{le=\"+Inf\"} 1")) << text;
  EXPECT_TRUE(Has(text, "weft_bind_seconds_sum 7")) << text;
}

TEST(CountersTest, ThreadsCountTogether) {
  Counters counters;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) counters.Add(Id::kReconcileFailures, {"trainingjob"});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(
      Has(counters.Text(), "weft_reconcile_failures_total{controller=\"trainingjob\"} 2000"));
}

TEST(CountersDeathTest, AForgottenLabelIsOurBug) {
  Counters counters;
  EXPECT_DEATH(counters.Add(Id::kPlacements, {"Placed"}), "broken invariant");
}

}  // namespace
}  // namespace weft::metrics
