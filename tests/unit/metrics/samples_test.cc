#include "operator/metrics/samples.h"
#include "operator/metrics/process.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace weft::metrics {
namespace {

TEST(SamplesTest, StandInTheCataloguesOrderUnderTheirHelp) {
  Samples samples;
  samples.Add(Id::kFabricDomains, {"default", "leaf"}, 4);
  samples.Add(Id::kLeader, {}, 1);
  samples.Add(Id::kFabricDomains, {"default", "spine"}, 2);
  EXPECT_EQ(samples.Text(),
            "# HELP weft_leader 1 if this replica is the leader, else 0.\n"
            "# TYPE weft_leader gauge\n"
            "weft_leader 1\n"
            "# HELP weft_fabric_domains Domains of a level.\n"
            "# TYPE weft_fabric_domains gauge\n"
            "weft_fabric_domains{fabric=\"default\",level=\"leaf\"} 4\n"
            "weft_fabric_domains{fabric=\"default\",level=\"spine\"} 2\n");
}

TEST(SamplesTest, ALabelsValueMayHoldAnything) {
  Samples samples;
  samples.Add(Id::kFabricDomains, {"a\"b\\c\nd", "leaf"}, 1);
  EXPECT_NE(samples.Text().find("{fabric=\"a\\\"b\\\\c\\nd\",level=\"leaf\"} 1\n"),
            std::string::npos)
      << samples.Text();
}

TEST(SamplesTest, BytesBeyond2To53KeepTheirMagnitude) {
  Samples samples;
  samples.Add(Id::kJobCrossNodeBytes, {"a", "ns"}, 1.25e17);
  EXPECT_NE(samples.Text().find("} 1.25e+17\n"), std::string::npos) << samples.Text();
}

TEST(SamplesTest, OfThisProcessAreWhatTheSystemSays) {
  Samples samples;
  MeasureProcess(samples);
  EXPECT_EQ(samples.size(), 4U);
  const std::string text = samples.Text();
  const std::string name = "\nprocess_resident_memory_bytes ";
  const std::size_t at = text.find(name);
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_GT(std::stod(text.substr(at + name.size())), 1e6) << text;
}

TEST(SamplesTest, FiftyThousandAreWrittenWithinASecond) {
  Samples samples;
  for (int i = 0; i < 50'000; ++i) {
    samples.Add(Id::kJobWorkerInfo,
                {"job", "team", std::to_string(i), "job-1-" + std::to_string(i), "node"}, 1);
  }
  const std::clock_t start = std::clock();  // of the processor: others may take it
  EXPECT_GT(samples.Text().size(), 3'000'000U);
  EXPECT_LT(std::clock() - start, CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace weft::metrics
