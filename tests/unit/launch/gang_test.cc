#include "operator/launch/gang.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::launch {
namespace {

constexpr std::size_t kMany = 1'000'000;

using Json = nlohmann::json;

api::TrainingJob Job(std::uint32_t workers) {
  api::TrainingJob job;
  job.meta.key = {"team-a", "llama"};
  job.replicas = workers;
  job.accelerator.per_worker = 8;
  return job;
}

Gang Three(const api::TrainingJob& job) {
  return {&job,         2, "p1", {"c", "a", "b"}, {{"leaf", {"l2", "l1"}, {0, 1, 1}, true}},
          {{"X", "1"}}, ""};
}

TEST(PlacementFileTest, TellsWhoIsWhere) {
  const api::TrainingJob job = Job(3);
  EXPECT_EQ(Json::parse(PlacementFile(Three(job), kMany)), Json::parse(R"json({
    "job": "llama", "namespace": "team-a", "attempt": 2, "workers": 3, "gpusPerWorker": 8,
    "nodes": ["c", "a", "b"], "environment": {"X": "1"},
    "levels": [{"name": "leaf", "domains": ["l2", "l1"], "ofWorker": [0, 1, 1],
                "scaleUp": true}]})json"));
}

TEST(PlacementFileTest, IsReadBackAsItWasWritten) {
  const api::TrainingJob job = Job(3);
  const Gang written = Three(job);
  Gang read = written;
  read.levels.clear();
  read.fabric.clear();
  ReadPlacementFile(PlacementFile(written, kMany), read);
  EXPECT_EQ(read.levels, written.levels);
  EXPECT_EQ(read.fabric, written.fabric);
}

struct Foreign {
  const char* name;  // reads as a sentence
  const char* text;
};

TEST(PlacementFileTest, IgnoresFilesThatAreNotOfThisGang) {
  const std::vector<Foreign> cases = {
      {"a file that is empty", ""},
      {"another document", R"({"levels": 7})"},
      {"a domain that is not there",
       R"({"environment": {}, "levels": [{"name": "leaf", "domains": [], "ofWorker": [0, 0, 0]}]})"},
      {"another number of workers",
       R"({"environment": {}, "levels": [{"name": "x", "domains": ["d"], "ofWorker": [0]}]})"},
  };
  const api::TrainingJob job = Job(3);
  for (const Foreign& c : cases) {
    Gang gang = Three(job);
    ReadPlacementFile(c.text, gang);
    EXPECT_EQ(gang.levels, Three(job).levels) << c.name;
    EXPECT_EQ(gang.fabric, Three(job).fabric) << c.name;
  }
}

// Pods are made from its levels; nodes are in the Placement too.
TEST(PlacementFileTest, OmitsNodesThenLevelsThatExceedTheSizeLimit) {
  const api::TrainingJob job = Job(16'384);
  Gang gang{&job, 1, "p1", ByWorker<std::string>(16'384, std::string(42, 'n')), {}, {}, ""};
  gang.levels = {{"leaf", {}, {}, false}};
  for (std::uint32_t w = 0; w < 16'384; ++w) {
    gang.levels[0].domains.push_back(std::string(30, 'd'));
    gang.levels[0].of_worker.push_back(w);
  }
  const std::string without_nodes = PlacementFile(gang, 900'000);
  EXPECT_FALSE(Json::parse(without_nodes).contains("nodes"));
  EXPECT_EQ(Json::parse(without_nodes)["levels"].size(), 1U);
  Gang later = gang;  // of another process, or after an interruption
  later.levels.clear();
  ReadPlacementFile(without_nodes, later);
  EXPECT_EQ(later.levels, gang.levels);
  gang.levels[0].domains.assign(16'384, std::string(60, 'd'));
  const Json without_levels = Json::parse(PlacementFile(gang, 900'000));
  EXPECT_FALSE(without_levels.contains("levels"));
  EXPECT_EQ(without_levels["workers"], 16'384);
}

TEST(AddressTest, NumbersHaveOneWidth) {
  EXPECT_EQ(AddressOf(Job(12), WorkerIndex{3}), "llama-03.llama");
  EXPECT_EQ(AddressOf(Job(10), WorkerIndex{3}), "llama-3.llama");
}

}  // namespace
}  // namespace weft::launch
