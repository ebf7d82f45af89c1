#include "operator/report/audit.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "operator/cluster/gangs.h"
#include "tests/support/scene.h"

namespace weft::report {
namespace {

using testing::FourNodes;
using testing::Scene;

using Labels = std::map<std::string, std::string>;

struct OwnerCase {
  const char* name;
  std::vector<Labels> labels;  // of pods p-0, p-1, ... by reading order
  const char* controller;      // kind of a controller "c", "" none
  std::string gang;            // "Kind ns/name: pods by worker"
};

class OwnerTest : public ::testing::TestWithParam<OwnerCase> {};

TEST_P(OwnerTest, FindsTheGangAndItsOrder) {
  testing::Scene scene(testing::FourNodes());
  std::vector<std::size_t> all;
  for (std::size_t p = 0; p < GetParam().labels.size(); ++p) {
    api::Pod& pod = scene.Pod("p-" + std::to_string(p), "n0", GetParam().labels[p]);
    if (*GetParam().controller != '\0') {
      pod.meta.owners = {{"v1", GetParam().controller, "c", "", true}};
    }
    all.push_back(p);
  }
  std::string text;
  for (const cluster::Gang& gang : cluster::FindGangs(scene.inputs.pods, all)) {
    text += gang.kind + " " + api::Show(gang.key) + ":";
    for (const std::size_t p : gang.pods) text += " " + std::to_string(p);
  }
  EXPECT_EQ(text, GetParam().gang);
}

const char* const kIndex = "batch.kubernetes.io/job-completion-index";
const char* const kSet = "jobset.sigs.k8s.io/jobset-name";
const char* const kGlobal = "jobset.sigs.k8s.io/job-global-index";
const char* const kKubeflow = "training.kubeflow.org/job-name";
const char* const kType = "training.kubeflow.org/replica-type";
const char* const kReplica = "training.kubeflow.org/replica-index";
const char* const kOperatorName = "training.kubeflow.org/operator-name";
const char* const kLws = "leaderworkerset.sigs.k8s.io/name";
const char* const kLwsGroup = "leaderworkerset.sigs.k8s.io/group-index";
const char* const kLwsWorker = "leaderworkerset.sigs.k8s.io/worker-index";

const OwnerCase kOwnerCases[] = {
    {"AnIndexedJobByCompletionIndex", {{{kIndex, "1"}}, {{kIndex, "0"}}}, "Job", "Job ns/c: 1 0"},
    {"AJobWithoutIndicesByName", {{}, {}, {}}, "Job", "Job ns/c: 0 1 2"},
    {"AJobSetByJobThenCompletionIndex",
     {{{kSet, "s"}, {kGlobal, "1"}, {kIndex, "0"}},
      {{kSet, "s"}, {kGlobal, "0"}, {kIndex, "1"}},
      {{kSet, "s"}, {kGlobal, "0"}, {kIndex, "0"}}},
     "Job",
     "JobSet ns/s: 2 1 0"},
    {"ATrainJobIsAJobSetWithTrainersLabels",
     {{{kSet, "t"}, {kIndex, "0"}, {"trainer.kubeflow.org/trainjob-ancestor-step", "trainer"}}},
     "Job",
     "TrainJob ns/t: 0"},
    {"APyTorchJobsMasterIsFirst",
     {{{kKubeflow, "k"}, {kType, "worker"}, {kReplica, "0"}},
      {{kKubeflow, "k"}, {kType, "master"}, {kReplica, "0"}}},
     "PyTorchJob",
     "PyTorchJob ns/k: 1 0"},
    {"AnMPIJobsLauncherIsFirst",
     {{{kKubeflow, "m"},
       {kOperatorName, "mpi-operator"},
       {"training.kubeflow.org/job-role", "worker"},
       {kReplica, "0"}},
      {{kKubeflow, "m"},
       {kOperatorName, "mpi-operator"},
       {"training.kubeflow.org/job-role", "launcher"}}},
     "Job",
     "MPIJob ns/m: 1 0"},
    {"EachGroupOfALeaderWorkerSetIsAGang",
     {{{kLws, "l"}, {kLwsGroup, "0"}, {kLwsWorker, "1"}},
      {{kLws, "l"}, {kLwsGroup, "0"}, {kLwsWorker, "0"}}},
     "StatefulSet",
     "LeaderWorkerSet ns/l-0: 1 0"},
    {"APodWithoutAControllerIsNoGang", {{}, {}}, "", ""},
};
INSTANTIATE_TEST_SUITE_P(Owners, OwnerTest, ::testing::ValuesIn(kOwnerCases),
                         [](const auto& one) { return std::string(one.param.name); });

void AddJobPods(testing::Scene& scene, const std::string& job,
                const std::vector<std::string>& nodes) {
  for (std::size_t w = 0; w < nodes.size(); ++w) {
    api::Pod& pod =
        scene.Pod(job + "-" + std::to_string(w), nodes[w], {{kIndex, std::to_string(w)}});
    pod.meta.owners = {{"batch/v1", "Job", job, "", true}};
  }
}

TEST(Audit, ShowsWhatCrossesNowAgainstTheBest) {
  testing::Scene scene(testing::FourNodes());
  AddJobPods(scene, "split", {"n0", "n2"});
  AddJobPods(scene, "alone", {"n1"});
  const cluster::Cluster cluster = scene.Build();
  const auto report = Audit(cluster);
  ASSERT_TRUE(report);
  const nlohmann::ordered_json json = AuditJson(cluster, *report);
  ASSERT_EQ(json["gangs"].size(), 1U);
  const auto& gang = json["gangs"][0];
  EXPECT_EQ(gang["name"], "split");
  EXPECT_EQ(gang["namespace"], "ns");
  EXPECT_EQ(gang["kind"], "Job");
  EXPECT_EQ(gang["workers"], 2);
  EXPECT_EQ(gang["spans"].dump(), R"([{"level":"spine","domains":1},{"level":"leaf","domains":2},)"
                                  R"({"level":"node","domains":2}])");
  // A ring of 16 ranks at one byte each crosses between the two nodes twice.
  EXPECT_EQ(gang["traffic"]["crossNodeBytes"], "2");
  EXPECT_EQ(gang["traffic"]["levels"].dump(),
            R"([{"level":"outside","bytes":"0","crossingBytes":"0"},)"
            R"({"level":"spine","bytes":"2","crossingBytes":"0"},)"
            R"({"level":"leaf","bytes":"0","crossingBytes":"2"}])");
  EXPECT_EQ(gang["best"]["nodes"].dump(), R"(["n2","n3"])");
  EXPECT_EQ(gang["costOverBestPercent"], 200);  // 40'000 femtoseconds a byte against 20'000
  EXPECT_EQ(json["total"]["gangs"], 1);
  EXPECT_EQ(json["total"]["workers"], 2);
  EXPECT_EQ(json["total"]["costOverBestPercent"], 200);
}

TEST(Audit, JobsOfOneNameAndAnotherApiGroupAreToldApart) {
  testing::Scene scene(testing::FourNodes());
  AddJobPods(scene, "llm", {"n0", "n1"});
  for (const char* node : {"n2", "n3"}) {
    scene.Pod(std::string("llm-task-") + node, node).meta.owners = {
        {"batch.volcano.sh/v1alpha1", "Job", "llm", "v", true}};
  }
  const cluster::Cluster cluster = scene.Build();
  const auto report = Audit(cluster);
  ASSERT_TRUE(report);
  std::set<std::string> kinds;
  for (const AuditGang& gang : report->gangs) {
    kinds.insert(cluster::KindText(gang.kind, gang.group, gang.alike));
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"Job.batch", "Job.batch.volcano.sh"}));
  const nlohmann::ordered_json json = AuditJson(cluster, *report);
  EXPECT_EQ(json["gangs"][0]["kind"], "Job");
  EXPECT_TRUE(json["gangs"][0].contains("apiGroup"));
  EXPECT_EQ(json["partlyStarted"].dump(), "[]");
}

// Every level is as fast as the next: the cost cannot tell one leaf from two.
TEST(Audit, WhereCostsTieThePlanIsTheBestByTheLevelsAfterTheCost) {
  testing::FabricShape shape = testing::FourNodes();
  shape.levels = {{"spine", 20'000}, {"leaf", 20'000}};
  shape.outside_femtoseconds_per_byte = 20'000;
  testing::Scene scene(shape);
  AddJobPods(scene, "split", {"n0", "n2"});
  const cluster::Cluster cluster = scene.Build();
  const auto report = Audit(cluster);
  ASSERT_TRUE(report);
  const AuditGang& gang = report->gangs.front();
  EXPECT_EQ(
      gang.worse,
      "costs no more, but sends 100 % more of the bytes between its workers out of their leaf");
  EXPECT_EQ(gang.excess_percent, 0);
  const nlohmann::ordered_json json = AuditJson(cluster, *report);
  EXPECT_EQ(json["gangs"][0]["best"]["nodes"].dump(), R"(["n0","n1"])");
  EXPECT_EQ(json["gangs"][0]["best"]["traffic"]["levels"][2]["crossingBytes"], "0");
  EXPECT_EQ(json["assumptions"].size(), 2U);
}

TEST(Audit, NodesThatOnlyHaveGreaterNamesAreAsGood) {
  testing::Scene scene(testing::FourNodes());
  AddJobPods(scene, "j", {"n2", "n3"});
  const auto report = Audit(scene.Build());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->gangs.front().worse, "");
  EXPECT_EQ(report->gangs.front().best->nodes, report->gangs.front().now.nodes);
}

TEST(Audit, AGangIsComparedOnItsOwnProduct) {
  testing::FabricShape shape = testing::FourNodes();
  for (std::size_t n = 0; n < 4; ++n) {
    shape.nodes[n].labels = {{"nvidia.com/gpu.product", n == 0 || n == 2 ? "A100" : "H100"}};
  }
  testing::Scene scene(shape);
  AddJobPods(scene, "split", {"n0", "n2"});
  const auto report = Audit(scene.Build());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->gangs.front().worse, "");
}

TEST(Audit, APlacementBesideTheGangSaysWhatItSends) {
  testing::Scene scene(testing::FourNodes());
  AddJobPods(scene, "j", {"n0", "n1"});
  for (std::size_t p = 0; p < scene.inputs.pods.size(); ++p) {
    scene.inputs.pods.Edit(p).meta.labels.Set("app", "x");
  }
  api::Placement& beside = scene.Placement("p", 2);
  beside.pod_selector = fabric::LabelSelector{{{"app", "x"}}, {}};
  beside.model = testing::MeasuredData(1'000'000'000);
  const auto report = Audit(scene.Build());
  ASSERT_TRUE(report);
  ASSERT_EQ(report->gangs.size(), 1U);
  EXPECT_TRUE(report->gangs[0].modelled);
  EXPECT_EQ(report->gangs[0].placement, "p");
  EXPECT_EQ(static_cast<std::int64_t>(report->gangs[0].now.scores.cross_node_bytes), 2'000'000'000);
  EXPECT_EQ(report->gangs[0].excess_percent, 0);
}

// Whoever may write a Placement must not hide the figures of others.
TEST(Audit, APlacementThatCannotBeComputedIsNotOthersLoss) {
  testing::Scene scene(testing::FourNodes());
  AddJobPods(scene, "j", {"n0", "n1"});
  AddJobPods(scene, "other", {"n2", "n3"});
  for (std::size_t p = 0; p < 2; ++p) {
    scene.inputs.pods.Edit(p).meta.labels.Set("app", "x");
  }
  api::Placement& beside = scene.Placement("p", 2);
  beside.pod_selector = fabric::LabelSelector{{{"app", "x"}}, {}};
  beside.model = testing::MeasuredData(1'000'000'000);
  beside.parallelism.tensor = 3;
  const auto report = Audit(scene.Build());
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->gangs.size(), 2U);
  EXPECT_FALSE(report->gangs[0].modelled);
  ASSERT_EQ(report->gangs[0].notes.size(), 1U);
  EXPECT_EQ(report->gangs[0].notes[0].reason, "PlacementIgnored");
  EXPECT_TRUE(report->gangs[1].notes.empty());
}

TEST(Audit, AnnotationsOfThePodsSayWhatAGangWithoutPlacementSends) {
  testing::Scene scene(testing::FourNodes());
  AddJobPods(scene, "j", {"n0", "n1"});
  AddJobPods(scene, "wrong", {"n2", "n3"});
  for (std::size_t p = 0; p < scene.inputs.pods.size(); ++p) {
    auto& annotations = scene.inputs.pods.Edit(p).meta.annotations;
    annotations.Set("weft.dev/model",
                    R"({"type": "Measured", "measured": [{"axis": "Data", "bytesPerGPU": "1G"}]})");
    if (p >= 2) annotations.Set("weft.dev/parallelism", R"({"tensor": 3})");
  }
  const cluster::Cluster cluster = scene.Build();
  const auto report = Audit(cluster);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->gangs.size(), 2U);
  const AuditGang& gang = report->gangs[0];
  EXPECT_TRUE(gang.modelled);
  EXPECT_EQ(static_cast<std::int64_t>(gang.now.scores.cross_node_bytes), 2'000'000'000);
  EXPECT_EQ(AuditJson(cluster, *report)["gangs"][0]["model"], "Annotations");
  EXPECT_FALSE(report->gangs[1].modelled);
  ASSERT_EQ(report->gangs[1].notes.size(), 1U);
  EXPECT_EQ(report->gangs[1].notes[0].reason, "AnnotationIgnored");
}

TEST(Audit, PodsOnNodesOutsideEveryFabricAreSaid) {
  testing::Scene scene(testing::FourNodes());
  AddJobPods(scene, "j", {"n0", "elsewhere"});
  const auto report = Audit(scene.Build());
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->gangs.empty());
  ASSERT_EQ(report->notes.size(), 2U);
  EXPECT_EQ(report->notes[0].reason, "NotJudged");
  EXPECT_EQ(report->notes[1].text,
            "1 pod with accelerators on 1 node outside every fabric, such as elsewhere");
}

}  // namespace
}  // namespace weft::report
