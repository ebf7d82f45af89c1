#include "operator/life/verify.h"

#include <gtest/gtest.h>

#include "operator/cluster/placement_pods.h"

namespace weft::life {
namespace {

struct Case {
  std::string name;                  // reads as a sentence
  std::vector<std::string> reports;  // of workers 0 and 1, two ranks each, on nodes b and a
  std::string status, reason, message;
  bool verify_image = true;
};

const std::string kHost0 = "weft host llama-0 node b worker 0\n";
const std::string kHost1 = "weft host llama-1 node a worker 1\n";

const char* const kWaiting = "not every worker has reported";

std::vector<Case> Cases() {
  return {
      {"nobody has reported yet", {"", ""}, "Unknown", "Waiting", kWaiting},
      {"nobody is asked to",
       {"", ""},
       "Unknown",
       "NoVerifyImage",
       "the operator has no --verify-image: only ranks that report are checked",
       false},
      {"one worker is missing", {kHost0, ""}, "Unknown", "Waiting", kWaiting},
      {"every worker is where it was placed",
       {kHost0, kHost1},
       "True",
       "HostsMatch",
       "all 2 workers run where they were placed"},
      {"every rank is where it was placed",
       {kHost0 + "weft rank 1 of 4\nweft rank 0 of 4\n", "weft rank 2 of 4\nweft rank 3 of 4\n"},
       "True",
       "RanksMatch",
       "all 4 ranks run where they were placed"},
      {"ranks tell it even if nothing else does",
       {"weft rank 0 of 2\n", "weft rank 1 of 2\n"},
       "True",
       "RanksMatch",
       "all 2 ranks run where they were placed",
       false},
      {"a rank is missing",
       {kHost0 + "weft rank 0 of 4\n", kHost1},
       "True",
       "HostsMatch",
       "all 2 workers run where they were placed"},
      {"the launcher has permuted the ranks",
       {kHost0 + "weft rank 2 of 4\n", kHost1},
       "False",
       "RankMismatch",
       "worker 0 on b reports rank 2 of 4, but ranks 0 to 1 of 4 were placed there"},
      {"the launcher has started one node alone",
       {"weft rank 0 of 2\nweft rank 1 of 2\n", ""},
       "False",
       "RankMismatch",
       "worker 0 on b reports rank 1 of 2, but ranks 0 to 1 of 4 were placed there"},
      {"one process a worker and one a GPU do not mix",
       {"weft rank 0 of 2\n", "weft rank 2 of 4\n"},
       "False",
       "RankMismatch",
       "worker 1 on a reports rank 2 of 4, but other ranks report a world of 2"},
      {"a pod is on another node",
       {"weft host llama-0 node c worker 0\n", kHost1},
       "False",
       "NodeMismatch",
       "worker 0 reports node c, not b"},
      {"a pod has another name",
       {kHost0, "weft host llama-7 node a worker 1\n"},
       "False",
       "HostMismatch",
       "worker 1 reports host llama-7, not llama-1"},
      {"two pods have changed places",
       {"weft host llama-0 node b worker 1\n", kHost1},
       "False",
       "HostMismatch",
       "worker 0 reports that it is worker 1"},
      {"what is no number is not read",
       {"weft rank x of 4\nweft rank 99999999999999999999 of 4\n", "weft host\nnonsense\n"},
       "Unknown",
       "Waiting",
       kWaiting},
  };
}

TEST(VerifyPlacementTest, SaysWhatIsKnownOrTheFirstMismatch) {
  api::TrainingJob job;
  job.meta.key = {"team-a", "llama"};
  job.replicas = 2;
  job.accelerator.per_worker = 2;
  const std::vector<std::string> nodes = {"b", "a"};
  for (const Case& c : Cases()) {
    std::vector<api::Pod> pods(2);
    std::vector<const api::Pod*> seen;
    for (std::size_t w = 2; w-- > 0;) {
      pods[w].meta.labels.Set(cluster::kWorkerIndexLabel, std::to_string(w));
      pods[w].node_name = nodes[w];
      pods[w].report = c.reports[w];
      seen.push_back(&pods[w]);
    }
    EXPECT_EQ(VerifyPlacement(job, nodes, seen, c.verify_image),
              (api::Condition{kVerified, c.status, c.reason, c.message, ""}))
        << c.name;
  }
}

// Suspended, scaled down and resumed at once: a pod of a worker that is no more is still there.
TEST(VerifyPlacementTest, NamesAWorkerBeyondTheReplicas) {
  api::TrainingJob job;
  job.meta.key = {"team-a", "llama"};
  job.replicas = 2;
  job.accelerator.per_worker = 1;
  api::Pod last;
  last.meta.labels.Set(cluster::kWorkerIndexLabel, "10");
  last.node_name = "a";
  last.report = "weft host llama-09 node a worker 10\n";
  EXPECT_EQ(VerifyPlacement(job, std::vector<std::string>(11, "a"), {&last}, true).message,
            "worker 10 reports host llama-09, not llama-10");
}

TEST(ReadReportTest, TakesThePartsThatAreThere) {
  EXPECT_EQ(ReadReport("weft node a worker 3\nother\nweft rank 1 of 2\n"),
            (PodReport{"", "a", WorkerIndex{3}, {{1, 2}}}));
}

}  // namespace
}  // namespace weft::life
