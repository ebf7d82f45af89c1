#include "operator/cluster/cluster.h"

#include <gtest/gtest.h>

#include <functional>

#include "operator/cluster/foreign_gang.h"
#include "operator/cluster/placement_pods.h"
#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

const std::map<std::string, std::string> kWorker0 = {
    {"weft.dev/job-name", "j"}, {"weft.dev/attempt", "1"}, {"weft.dev/worker-index", "0"}};

struct ClaimsCase {
  const char* name;
  std::function<void(testing::Scene&)> arrange;
  std::vector<std::int64_t> free;  // GPUs of n0, n1, n2, n3
};

class ClaimsTest : public ::testing::TestWithParam<ClaimsCase> {};

TEST_P(ClaimsTest, CountsOnceWhatHasNodes) {
  testing::Scene scene(testing::FourNodes());
  GetParam().arrange(scene);
  EXPECT_EQ(testing::FreeGpus(scene.Build()), GetParam().free);
}

const ClaimsCase kClaimsCases[] = {
    {"NothingIsUsedInAnEmptyCluster", [](testing::Scene&) {}, {8, 8, 8, 8}},
    {"ARunningPodUsesItsNode", [](testing::Scene& s) { s.Pod("p", "n1"); }, {8, 0, 8, 8}},
    {"AFinishedPodUsesNothing",
     [](testing::Scene& s) { s.Pod("p", "n1").phase = api::PodPhase::kSucceeded; },
     {8, 8, 8, 8}},
    {"AnUnboundPodUsesNothing", [](testing::Scene& s) { s.Pod("p", ""); }, {8, 8, 8, 8}},
    {"APlacementWithoutPodsUsesItsNodes",
     [](testing::Scene& s) {
       s.Placement("p", 2, {"n0", "n2"});
     },
     {0, 8, 0, 8}},
    {"APlacementAndItsJobsPodsCountOnce",
     [](testing::Scene& s) {
       s.Job("j", 2);
       s.Placement("j-1", 2, {"n0", "n1"}).meta.labels = {{"weft.dev/job-name", "j"}};
       s.Pod("j-1-0", "n0", {{"weft.dev/job-name", "j"}, {"weft.dev/worker-index", "0"}});
     },
     {0, 0, 8, 8}},
    {"AJobThatIsToBeSuspendedHoldsItsNodesUntilItsStatusSaysThatItIs",
     [](testing::Scene& s) {
       for (const char* name : {"j", "k"}) {
         api::TrainingJob& job = s.Job(name, 1);
         job.suspend = true;
         const bool placed = job.meta.key.name == "j";
         job.conditions = {{"Placed", placed ? "True" : "False", "", "", ""}};
       }
       s.Placement("j-1", 1, {"n0"}).meta.labels = {{"weft.dev/job-name", "j"}};
       s.Placement("k-1", 1, {"n1"}).meta.labels = {{"weft.dev/job-name", "k"}};
     },
     {0, 8, 8, 8}},
    {"APodThatMayStillBeBoundUsesItsNodeWhateverBecomesOfItsJob",
     [](testing::Scene& s) {
       s.Job("j", 2).conditions = {{"Failed", "True", "", "", ""}};
       s.Placement("j-1", 2, {"n0", "n1"}).meta.labels = {{"weft.dev/job-name", "j"}};
       s.Pod("j-1-0", "", {{"weft.dev/job-name", "j"}, {"weft.dev/worker-index", "0"}});
     },
     {0, 8, 8, 8}},
    {"PodsOfASelectorCountOnceWithTheirPlacement",
     [](testing::Scene& s) {
       s.Placement("p", 2, {"n0", "n1"}).pod_selector = fabric::LabelSelector{{{"a", "b"}}, {}};
       s.Pod("x", "n0", {{"a", "b"}});
     },
     {0, 0, 8, 8}},
    {"APodThatOnlyClaimsAJobsLabelsCoversNoWorkerOfIt",
     [](testing::Scene& s) {
       s.Job("j", 1).meta.uid = "job";
       api::Placement& placement = s.Placement("j-1", 1, {"n0"});
       placement.meta.uid = "placement";
       placement.meta.owners = {{"weft.dev/v1alpha1", "TrainingJob", "j", "job", true}};
       api::Pod& pod = s.Pod("x", "n3", kWorker0);
       pod.meta.uid = "stranger";
     },
     {0, 8, 8, 0}},
    {"APodOfAnEarlierJobOfThatNameCoversNoWorkerEither",
     [](testing::Scene& s) {
       s.Job("j", 1).meta.uid = "job";
       api::Placement& placement = s.Placement("j-1", 1, {"n0"});
       placement.meta.uid = "placement";
       placement.meta.owners = {{"weft.dev/v1alpha1", "TrainingJob", "j", "job", true}};
       api::Pod& pod = s.Pod("x", "n3", kWorker0);
       pod.meta.uid = "old";
       pod.meta.owners = {{"weft.dev/v1alpha1", "TrainingJob", "j", "earlier", true}};
     },
     {0, 8, 8, 0}},
    {"AStoredPlacementThatOnlyHasAJobsLabelIsNoAttemptOfIt",
     [](testing::Scene& s) {
       api::TrainingJob& job = s.Job("j", 1);
       job.meta.uid = "job";
       job.conditions = {{"Complete", "True", "", "", ""}};
       api::Placement& placement = s.Placement("j-1", 1, {"n0"});
       placement.meta.uid = "placement";
       placement.meta.labels = {{"weft.dev/job-name", "j"}};
     },
     {0, 8, 8, 8}},
    {"APodThatRunsElsewhereCountsWhereItRuns",
     [](testing::Scene& s) {
       s.Job("j", 1);
       s.Placement("j-1", 1, {"n0"});
       s.Pod("j-1-0", "n3", {{"weft.dev/job-name", "j"}, {"weft.dev/worker-index", "0"}});
     },
     {8, 8, 8, 0}},
    {"AFinishedJobsPlacementUsesNothing",
     [](testing::Scene& s) {
       s.Job("j", 1).conditions = {{"Complete", "True", "", "", ""}};
       s.Placement("j-1", 1, {"n0"});
     },
     {8, 8, 8, 8}},
    {"APodThatCannotBeReadUsesAllOfItsNode",
     [](testing::Scene& s) {
       api::Pod& pod = s.Pod("p", "n1");
       pod.pod.requests.clear();
       pod.unreadable = "not UTF-8, or a NUL byte";
     },
     {8, 0, 8, 8}},
    {"WorkersOfAJobThatCannotBeReadUseWhatItsPlacementSays",
     [](testing::Scene& s) {
       api::TrainingJob& job = s.Job("j", 1);
       job.pod.requests.clear();
       job.unreadable = "spec: is required";
       s.Placement("j-1", 1, {"n0"});
     },
     {0, 8, 8, 8}},
    {"AnOlderAttemptsPlacementUsesNothing",
     [](testing::Scene& s) {
       s.Job("j", 1).attempt = 2;
       s.Placement("j-1", 1, {"n0"});
     },
     {8, 8, 8, 8}},
};
INSTANTIATE_TEST_SUITE_P(Claims, ClaimsTest, ::testing::ValuesIn(kClaimsCases),
                         [](const auto& one) { return std::string(one.param.name); });

std::vector<std::string> Reasons(const std::vector<Note>& notes) {
  std::vector<std::string> reasons;
  for (const Note& note : notes) reasons.push_back(note.reason);
  return reasons;
}

// An unbound pod of j-1 on n2 and, if there is one, a Placement of that name.
std::vector<std::int64_t> FreeBeside(const std::string& label, const std::string& op,
                                     const std::string& placement_of) {
  testing::Scene scene(testing::FourNodes());
  const auto owner = [](const std::string& uid) {
    return api::OwnerReference{"weft.dev/v1alpha1", "TrainingJob", "j", uid, true};
  };
  api::Pod& pod = scene.Pod("j-1-0", "", kWorker0);
  pod.meta.owners = {owner("u1")};
  if (!label.empty()) pod.meta.labels.Set(kJobUidLabel, label);
  rules::NodeSelectorTerm term;
  term.match_fields = {{"metadata.name", op, {"n2"}}};
  pod.pod.required_affinity = {term};
  if (!placement_of.empty()) {
    api::Placement& placement = scene.Placement("j-1", 1, {"n0"});
    placement.meta.owners = {owner(placement_of)};
    placement.meta.labels =
        std::map<std::string, std::string>{{"weft.dev/job-name", "j"}, {"weft.dev/attempt", "1"}};
  }
  return testing::FreeGpus(scene.Build());
}

TEST(Cluster, APodWhosePlacementIsGoneHoldsItsNode) {
  EXPECT_EQ(FreeBeside("u1", "In", ""), (std::vector<std::int64_t>{8, 8, 0, 8}));
  EXPECT_EQ(FreeBeside("u1", "In", "u2")[2], 0);  // of the next job of its name
  EXPECT_EQ(FreeBeside("u1", "In", "u1")[2], 8);
  EXPECT_EQ(FreeBeside("u1", "NotIn", "")[2], 8);
}

// Only who may make Weft's pods can write that label.
TEST(Cluster, APodWithoutItsJobsUidHoldsNoNode) {
  EXPECT_EQ(FreeBeside("", "In", ""), (std::vector<std::int64_t>{8, 8, 8, 8}));
  EXPECT_EQ(FreeBeside("u2", "In", ""), (std::vector<std::int64_t>{8, 8, 8, 8}));
}

TEST(Cluster, JobsOfOneNameAndAnotherApiGroupAreTwoHolders) {
  testing::Scene scene(testing::FourNodes());
  for (const char* version : {"batch/v1", "batch.volcano.sh/v1alpha1", "batch/v1"}) {
    const std::string name = "n" + std::to_string(scene.inputs.pods.size());
    scene.Pod("on-" + name, name).meta.owners = {{version, "Job", "llm", version, true}};
  }
  std::vector<std::string> holders;
  const Cluster cluster = scene.Build();
  for (const Holder& holder : cluster.fabrics.front().holders) {
    holders.push_back(holder.kind + "." + holder.group + " " + api::Show(holder.key) + " " +
                      std::to_string(holder.holdings.size()));
  }
  EXPECT_EQ(holders,
            (std::vector<std::string>{"Job.batch ns/llm 2", "Job.batch.volcano.sh ns/llm 1"}));
}

// Its pods are of another gang, though its labels are those of the first.
TEST(Cluster, APlacementOfAGangHoldsOnlyWithThePodsOfThatGang) {
  testing::Scene scene(testing::FourNodes());
  const std::map<std::string, std::string> labels = {{"training.kubeflow.org/job-name", "x"},
                                                     {"weft.dev/place", "true"},
                                                     {"weft.dev/worker-index", "0"}};
  scene.Pod("x-worker-0", "", labels).meta.owners = {
      {"kubeflow.org/v1", "PyTorchJob", "x", "p", true}};
  const ForeignGang gang = *ForeignGangOf(scene.inputs.pods[0]);
  scene.Pod("x-mpi-0", "n3", labels).meta.owners = {{"kubeflow.org/v1", "MPIJob", "x", "m", true}};
  api::Placement& placement = scene.Placement(gang.placement_name, 1, {"n0"});
  placement.meta.labels = {{kGangLabel, gang.base}};
  placement.pod_selector = fabric::LabelSelector{gang.selector, {}};
  EXPECT_EQ(testing::FreeGpus(scene.Build()), (std::vector<std::int64_t>{0, 8, 8, 0}));
}

TEST(Cluster, ANodeInTwoFabricsIsUsedByNeither) {
  testing::Scene scene(testing::FourNodes());
  scene.inputs.fabrics.push_back(scene.inputs.fabrics.front());
  scene.inputs.fabrics.back().meta.key.name = "other";
  scene.inputs.fabrics.back().spec.node_selector = {{{"test/leaf", "l1"}}, {}};
  const Cluster cluster = scene.Build();
  EXPECT_EQ(cluster.overlapping, (std::vector<std::string>{"n2", "n3"}));
  EXPECT_EQ(cluster.fabrics[0].fabric->node_count(), 2U);
  EXPECT_EQ(cluster.fabrics[1].fabric->node_count(), 0U);
  EXPECT_EQ(Reasons(cluster.notes), (std::vector<std::string>{"Overlapping"}));
}

TEST(Cluster, WithoutAFabricTheLabelFamilyIsRecognisedAndSaid) {
  testing::Scene scene(testing::FourNodes());
  scene.inputs.fabrics.clear();
  for (std::size_t n = 0; n < scene.inputs.nodes.size(); ++n) {
    api::Node& node = scene.inputs.nodes.Edit(n);
    node.facts.labels = {{"fabric.topograph.run/tier-0", node.facts.name < "n2" ? "a" : "b"},
                         {"fabric.topograph.run/tier-1", "s"}};
  }
  const Cluster cluster = scene.Build();
  ASSERT_EQ(cluster.fabrics.size(), 1U);
  EXPECT_TRUE(cluster.fabrics[0].recognised);
  EXPECT_TRUE(cluster.fabrics[0].fabric->FindTier("leaf").has_value());
  EXPECT_EQ(Reasons(cluster.notes), (std::vector<std::string>{"FabricRecognised", "LinksAssumed"}));
}

TEST(Cluster, WithoutKnownLabelsOneFlatNetworkIsAssumedAndSaid) {
  testing::Scene scene(testing::FourNodes());
  scene.inputs.fabrics.clear();
  scene.Job("j", 2);
  const Cluster cluster = scene.Build();
  EXPECT_EQ(cluster.fabrics[0].fabric->tiers().size(), 2U);  // outside and node
  EXPECT_EQ(Reasons(cluster.notes), (std::vector<std::string>{"FabricFlat", "LinksAssumed"}));
}

TEST(Cluster, CliquesAreKnownWithoutANetwork) {
  for (const bool real : {true, false}) {
    testing::Scene scene(testing::FourNodes());
    scene.inputs.fabrics.clear();
    for (std::size_t n = 0; n < scene.inputs.nodes.size(); ++n) {
      const char* clique = !real ? "00000000.0" : n < 2 ? "7a.1" : "7a.2";
      scene.inputs.nodes.Edit(n).facts.labels = {{"nvidia.com/gpu.clique", clique}};
    }
    scene.Job("j", 2);
    const Cluster cluster = scene.Build();
    const fabric::Fabric& fabric = *cluster.fabrics[0].fabric;
    EXPECT_EQ(fabric.FindTier("nvlink").has_value(), real);
    EXPECT_EQ(Reasons(cluster.notes), (std::vector<std::string>{"FabricFlat", "LinksAssumed"}));
  }
}

TEST(Cluster, SaysWhichNodesLackALevel) {
  testing::FabricShape shape = testing::FourNodes();
  shape.nodes[3].domains = {"s0", ""};
  const Cluster one = testing::Scene(shape).Build();
  ASSERT_EQ(one.notes.size(), 1U);
  EXPECT_EQ(one.notes[0].reason, "Incomplete");
  EXPECT_EQ(one.notes[0].text,
            "fabric \"default\": 1 node is incomplete and never used: n3 (n3 lacks the label "
            "test/leaf)");
  shape.nodes[2].domains = {"s0", ""};
  const Cluster two = testing::Scene(shape).Build();
  ASSERT_EQ(two.notes.size(), 1U);
  EXPECT_EQ(two.notes[0].text,
            "fabric \"default\": 2 nodes are incomplete and never used: n2, n3 (n2 lacks the label "
            "test/leaf)");
}

// A cluster may have hundreds of instance types.
TEST(Cluster, NamesAFewKindsWithoutLabelsAndCountsTheOthers) {
  const auto notes = [](std::size_t kinds) {
    testing::Scene scene(testing::FourNodes());
    for (std::size_t n = 0; n < kinds; ++n) {
      api::Node node = scene.inputs.nodes[0];
      node.meta.key.name = node.facts.name = "x" + std::to_string(n);
      node.facts.labels = {{"nvidia.com/gpu.product", "P" + std::to_string(n == 6 ? 5 : n)}};
      scene.inputs.nodes.push_back(std::move(node));
    }
    std::vector<std::string> texts;
    for (const Note& note : scene.Build().notes) {
      if (note.reason == "UnlabelledKind") texts.push_back(note.text);
    }
    return texts;
  };
  EXPECT_EQ(notes(5).size(), 5U);
  const std::vector<std::string> many = notes(9);
  ASSERT_EQ(many.size(), 6U);
  EXPECT_NE(many[0].find("P5"), std::string::npos) << "the largest";
  EXPECT_EQ(many[5],
            "fabric \"default\": 3 more kinds of nodes, 3 nodes together, lack labels too, and "
            "each is a flat pool");
}

TEST(Cluster, AnInconsistentFabricIsRefusedWithItsPlaceAndBothWitnesses) {
  testing::FabricShape shape = testing::FourNodes();
  shape.nodes[1].domains[0] = "s9";
  const auto cluster = testing::Scene(shape).TryBuild();
  ASSERT_FALSE(cluster);
  EXPECT_TRUE(cluster.error().message.starts_with("fabric.yaml: Fabric default: "));
  EXPECT_NE(cluster.error().message.find("n0"), std::string::npos);
  EXPECT_NE(cluster.error().message.find("n1"), std::string::npos);
}

}  // namespace
}  // namespace weft::cluster
