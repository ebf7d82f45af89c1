#include "operator/report/overview.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/scene.h"

namespace weft::report {
namespace {

constexpr UnixSeconds kNow = 1'000'000;

// Two leaves of two nodes with eight GPUs each.
struct Fleet : testing::Scene {
  Fleet() : testing::Scene(testing::Leaves({{8, 8}, {8, 8}})) {}

  api::TrainingJob& JobWith(const std::string& name, const std::string& condition,
                            const std::string& status) {
    api::TrainingJob& job = Job(name, 2);
    job.meta.creation_timestamp = FormatTime(kNow - 90);
    job.conditions = {{condition, status, "Why", "because of " + name, FormatTime(kNow)}};
    return job;
  }
};

std::vector<std::string> Names(const Overview& overview) {
  std::vector<std::string> names;
  for (const Overview::JobRow& job : overview.jobs) {
    names.push_back(api::Show(job.key) + " " + job.phase);
  }
  return names;
}

TEST(OverviewTest, JobsThatHaveNodesComeFirstAndThoseThatEndedAreCounted) {
  Fleet fleet;
  fleet.JobWith("waits", "Placed", "False");
  fleet.JobWith("done", "Complete", "True");
  fleet.JobWith("lost", "Failed", "True");
  fleet.JobWith("works", "PodsReady", "True").record.summary = {
      "2/2", "1 leaf, 2 node", "1T", "9", "", "", ""};
  const Overview overview = MakeOverview(fleet.Build(), "", kNow);
  EXPECT_EQ(Names(overview), (std::vector<std::string>{"ns/works Running", "ns/waits Pending"}));
  EXPECT_EQ(overview.complete, 1);
  EXPECT_EQ(overview.failed, 1);
  EXPECT_EQ(overview.jobs[1].why, "because of waits");
  EXPECT_EQ(overview.jobs[1].age_seconds, 90);
  EXPECT_EQ(overview.jobs[0].accelerators, 16);
}

TEST(OverviewTest, AJobOfAQueueSaysWhatCannotBeWritten) {
  Fleet fleet;
  api::TrainingJob& job = fleet.JobWith("waits", "Placed", "Unknown");
  EXPECT_EQ(MakeOverview(fleet.Build(), "", kNow).jobs[0].why, "");
  job.conditions[0].reason = "NotWritten";
  EXPECT_EQ(MakeOverview(fleet.Build(), "", kNow).jobs[0].why, "because of waits");
}

TEST(OverviewTest, OneNamespaceHasItsJobsAndTheWholeFleet) {
  Fleet fleet;
  fleet.JobWith("ours", "Placed", "False");
  fleet.JobWith("theirs", "Placed", "False").meta.key.space = "other";
  fleet.Pod("p", "n0");
  const Overview overview = MakeOverview(fleet.Build(), "other", kNow);
  EXPECT_EQ(Names(overview), (std::vector<std::string>{"other/theirs Pending"}));
  EXPECT_EQ(overview.fabrics.at(0).figures.accelerators.at({testing::kGpu, ""}).used, 8);
  EXPECT_EQ(overview.other_accelerators, 8);
}

TEST(OverviewTest, APlacementOfPodsOfOthersIsARowAndTheAttemptOfAJobIsNone) {
  Fleet fleet;
  api::TrainingJob& job = fleet.JobWith("job", "Placed", "True");
  job.meta.uid = "uid";
  fleet.Placement("job-1", 2).meta.owners = {
      {"weft.dev/v1alpha1", "TrainingJob", "job", "uid", true}};
  fleet.Placement("sweep", 2, {"n0", "n1"});
  const Overview overview = MakeOverview(fleet.Build(), "", kNow);
  ASSERT_EQ(Names(overview), (std::vector<std::string>{"ns/job Placed", "ns/sweep Placed"}));
  EXPECT_EQ(overview.jobs[1].kind, "Placement");
  EXPECT_EQ(overview.jobs[1].ready, 2);
  EXPECT_EQ(overview.other_accelerators, 0);
}

TEST(OverviewTest, AWorkloadThatWaitsIsARowUntilItHasAPlacement) {
  Fleet fleet;
  fleet.inputs.admission_checks.emplace_back().meta.key.name = "place";
  fleet.inputs.admission_checks.back().controller = api::kCheckController;
  api::Workload workload;
  workload.meta.key = {"ns", "job-train"};
  workload.meta.uid = "w1";
  workload.meta.creation_timestamp = FormatTime(kNow - 90);
  workload.checks = {{"place", api::CheckState::kPending, "", "", {}}};
  workload.pod_sets.emplace_back();
  workload.pod_sets[0].count = 2;
  workload.pod_sets[0].pod.requests = {{testing::kGpu, 8}};
  fleet.inputs.workloads.push_back(workload);
  const Overview overview = MakeOverview(fleet.Build(), "", kNow);
  ASSERT_EQ(Names(overview), (std::vector<std::string>{"ns/job-train Pending"}));
  const Overview::JobRow& row = overview.jobs[0];
  EXPECT_EQ(row.kind, "Workload");
  EXPECT_EQ(row.accelerators, 16);
  EXPECT_EQ(row.age_seconds, 90);
  EXPECT_EQ(row.reason, "QuotaPending");
  EXPECT_EQ(row.why, "waits for quota");
  fleet.Placement("job-train-1", 2, {"n0", "n1"}).meta.owners = {
      {"kueue.x-k8s.io/v1beta2", "Workload", "job-train", "w1", true}};
  EXPECT_EQ(Names(MakeOverview(fleet.Build(), "", kNow)),
            (std::vector<std::string>{"ns/job-train-1 Placed"}));
}

TEST(OverviewTest, AsJsonItSaysWhatIsThereAndLeavesOutWhatIsNot) {
  Fleet fleet;
  fleet.JobWith("waits", "Placed", "False").meta.creation_timestamp = "";
  const auto json = OverviewJson(MakeOverview(fleet.Build(), "", kNow));
  EXPECT_EQ(json.at("jobs").at(0).dump(),
            R"({"namespace":"ns","name":"waits","kind":"TrainingJob","phase":"Pending",)"
            R"("workers":2,"ready":0,"accelerators":16,"attempt":0,"restarts":0,)"
            R"("reason":"Why","why":"because of waits"})");
  EXPECT_EQ(json.at("fabrics").at(0).at("nodes").dump(),
            R"({"free":4,"partial":0,"full":0,"cordoned":0,"unusable":0,"incomplete":0})");
}

}  // namespace
}  // namespace weft::report
