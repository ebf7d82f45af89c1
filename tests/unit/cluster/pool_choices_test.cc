#include "operator/cluster/pool_choices.h"

#include <gtest/gtest.h>

#include <functional>

#include "operator/plan/plan.h"
#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

struct GangCase {
  const char* name;
  std::function<void(testing::Scene&)> arrange;
  const char* answer;  // the nodes, or the refusal
};

class GangTest : public ::testing::TestWithParam<GangCase> {};

// Two v5p slices of two hosts and one of four, and a host without a slice.
testing::FabricShape TpuSlices() {
  testing::FabricShape shape = testing::Leaves({{4, 4, 4, 4, 4, 4, 4, 4, 4}}, 4);
  shape.accelerator = "google.com/tpu";
  const char* const pools[] = {"a", "a", "b", "b", "c", "c", "c", "c", "d"};
  for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
    const char* const topology = n < 4 ? "2x2x2" : n < 8 ? "2x2x4" : "2x2x1";
    shape.nodes[n].labels = {{"cloud.google.com/gke-tpu-accelerator", "tpu-v5p-slice"},
                             {"cloud.google.com/gke-nodepool", pools[n]},
                             {"cloud.google.com/gke-tpu-topology", topology}};
  }
  return shape;
}

std::string TpuAnswer(std::uint32_t workers, std::vector<std::string> models = {},
                      const char* busy = "") {
  testing::Scene scene(TpuSlices());
  if (*busy != '\0') scene.Pod("p", busy).pod.requests = {{"google.com/tpu", 4}};
  api::TrainingJob& job = scene.Job("j", workers, 4);
  job.accelerator = {"google.com/tpu", 4};
  job.accelerator.models = std::move(models);
  job.pod.requests = {{"google.com/tpu", 4}};
  const Cluster cluster = scene.Build();
  const auto report = plan::Plan(cluster);
  const plan::PlanEntry& entry = report->entries.back();
  if (const plan::Refused* refused = entry.refused()) return refused->message;
  std::string answer;
  for (const auto node : entry.placed()->plan.nodes) {
    answer += (answer.empty() ? "" : " ") + cluster.fabrics[0].fabric->node(node).name;
  }
  return answer;
}

TEST(TpuSlices, AGangStaysInOne) {
  EXPECT_EQ(TpuAnswer(2, {}, "n0"), "n2 n3");
  EXPECT_EQ(TpuAnswer(4), "n4 n5 n6 n7");
  EXPECT_EQ(TpuAnswer(4, {"v5p"}), "n4 n5 n6 n7");
}

// More slices than are tried: the one with the least room that suffices is among them.
TEST(TpuSlices, OfManyTheTightestIsTaken) {
  constexpr std::uint32_t kSlices = 60;
  testing::FabricShape shape = testing::Leaves({kSlices, {4, 4, 4, 4}}, 4);
  shape.accelerator = "google.com/tpu";
  for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
    shape.nodes[n].labels = {{"cloud.google.com/gke-tpu-accelerator", "tpu-v5p-slice"},
                             {"cloud.google.com/gke-nodepool", "p" + std::to_string(n / 4)},
                             {"cloud.google.com/gke-tpu-topology", "2x2x4"}};
  }
  testing::Scene scene(shape);
  scene.Pod("p", "n201").pod.requests = {{"google.com/tpu", 4}};
  api::TrainingJob& job = scene.Job("j", 3, 4);
  job.accelerator = {"google.com/tpu", 4};
  job.pod.requests = {{"google.com/tpu", 4}};
  const Cluster cluster = scene.Build();
  const auto report = plan::Plan(cluster);
  const auto* placed = report->entries.back().placed();
  ASSERT_NE(placed, nullptr);
  std::string names;
  for (const auto node : placed->plan.nodes) {
    names += cluster.fabrics[0].fabric->node(node).name + " ";
  }
  EXPECT_EQ(names, "n200 n202 n203 ");
  EXPECT_LE(placed->plan.lower_bound, placed->plan.cost);
}

TEST(TpuSlices, AreCrossedOnlyIfAsked) {
  const std::string no = TpuAnswer(5);
  EXPECT_NE(no.find("tpu-v5p-slice in one of 3 slices for 4"), std::string::npos) << no;
  EXPECT_NE(no.find("accelerator.models: [Any], which crosses TPU slices"), std::string::npos)
      << no;
  EXPECT_EQ(TpuAnswer(9, {"Any"}), "n0 n1 n2 n3 n4 n5 n6 n7 n8");
  EXPECT_EQ(TpuAnswer(9, {"v5p", "Any"}), "n0 n1 n2 n3 n4 n5 n6 n7 n8")
      << "one slice is preferred, several are allowed";
  api::TopologySpec topology;
  EXPECT_EQ(SlicesOf(topology), Slices::kOne);
  topology.groups = {{{traffic::Axis::kTensor}, "", "leaf"}};
  EXPECT_EQ(SlicesOf(topology), Slices::kOne) << "it only prefers";
  topology.groups = {{{traffic::Axis::kTensor}, "leaf", ""}};
  EXPECT_EQ(SlicesOf(topology), Slices::kMany);
}

// A resource that another job names, of which two nodes have shares, is none of this job's.
TEST(PoolChoices, PartsOfAnotherResourceDoNotPartTheNodes) {
  testing::Scene scene(testing::FourNodes());
  for (const std::size_t n : {0U, 1U}) {
    api::Node& node = scene.inputs.nodes.Edit(n);
    node.facts.allocatable["koordinator.sh/gpu-core"] = 800;
  }
  scene.Job("j", 4);
  api::TrainingJob& other = scene.Job("other", 1);
  other.accelerator = {"koordinator.sh/gpu-core", 100};
  other.pod.requests = {{"koordinator.sh/gpu-core", 100}};
  const auto report = plan::Plan(scene.Build());
  ASSERT_TRUE(report);
  EXPECT_NE(report->entries.front().placed(), nullptr)
      << report->entries.front().refused()->message;
  EXPECT_NE(report->entries.back().placed(), nullptr) << report->entries.back().refused()->message;
}

TEST_P(GangTest, HasOneProductAndCapacityType) {
  testing::Scene scene(testing::ThreeProducts());
  GetParam().arrange(scene);
  const Cluster cluster = scene.Build();
  const auto report = plan::Plan(cluster);
  ASSERT_TRUE(report) << report.error().message;
  const plan::PlanEntry& entry = report->entries.back();
  std::string answer;
  if (const plan::Refused* refused = entry.refused()) answer = refused->message;
  if (const plan::Placed* placed = entry.placed()) {
    for (const auto node : placed->plan.nodes) {
      answer += (answer.empty() ? "" : " ") + cluster.fabrics[0].fabric->node(node).name;
    }
  }
  EXPECT_EQ(answer, GetParam().answer);
}

const GangCase kGangCases[] = {
    {"WithoutAListTheProductThatHoldsIt", [](testing::Scene& s) { s.Job("j", 3); }, "n0 n1 n4"},
    {"OfTwoThatHoldItTheOneThatBreaksUpLess",
     [](testing::Scene& s) {
       s.Pod("p", "n7");
       s.Job("j", 2);
     },
     "n5 n6"},
    {"TheFirstOfTheListThatHoldsIt",
     [](testing::Scene& s) {
       s.Job("j", 2).accelerator.models = {"H200", "A100", "H100"};
     },
     "n0 n1"},
    {"ACapacityTypeIsNotMixedWithAnother",
     [](testing::Scene& s) {
       api::TrainingJob& job = s.Job("j", 2);
       job.accelerator.models = {"H100"};
       job.accelerator.capacity_types = {"Spot", "OnDemand"};
     },
     "n5 n6"},
    {"ProductsComeBeforeCapacityTypes",
     [](testing::Scene& s) {
       api::TrainingJob& job = s.Job("j", 2);
       job.accelerator.models = {"h100", "a100"};
       job.accelerator.capacity_types = {"OnDemand", "Spot"};
     },
     "n2 n3"},
    {"AnyMixesProducts",
     [](testing::Scene& s) {
       api::TrainingJob& job = s.Job("j", 4);
       job.accelerator.models = {"Any"};
       job.topology.required = "leaf";
     },
     "n0 n1 n2 n3"},
    {"AnyAtTheEndOfAListMixesWhereNoneOfItFits",
     [](testing::Scene& s) {
       api::TrainingJob& job = s.Job("j", 6);
       job.accelerator.models = {"A100", "Any"};
       job.accelerator.capacity_types = {"OnDemand"};
     },
     "n0 n1 n2 n3 n4 n7"},
    {"NoProductHasSoMany", [](testing::Scene& s) { s.Job("j", 4); },
     "No product of fabric \"default\" has room for all 4 workers: A100-SXM4-80GB (OnDemand) has "
     "room "
     "for 3, NVIDIA-H100-80GB-HBM3 (OnDemand) for 2, NVIDIA-H100-80GB-HBM3 (Spot) for 2, "
     "NVIDIA-H200 "
     "(OnDemand) for 1. To start now, relax one of: accelerator.capacityTypes: [Any], which mixes "
     "capacity types; accelerator.models: [Any], which mixes products. Unchanged, it never fits "
     "this fabric, not even with nothing else running."},
    {"NoProductOfTheList",
     [](testing::Scene& s) {
       s.Job("j", 1).accelerator.models = {"B200", "B300"};
     },
     "No node of fabric \"default\" that offers nvidia.com/gpu matches accelerator.models [B200, "
     "B300]. The fabric has A100-SXM4-80GB, NVIDIA-H100-80GB-HBM3, NVIDIA-H200. To start now, "
     "relax "
     "one of: accelerator.models: removed, to run on NVIDIA-H200. Unchanged, it never fits this "
     "fabric, not even with "
     "nothing else "
     "running."},
    {"TheLevelIsTooNarrowForTheOneProductAskedFor",
     [](testing::Scene& s) {
       api::TrainingJob& job = s.Job("j", 3);
       job.accelerator.models = {"A100"};
       job.topology.required = "leaf";
     },
     "No single leaf has room for all 3 workers, as topology.required demands. The leaf l0 comes "
     "closest with room for 2 of 3 workers: 8 nvidia.com/gpu are missing there. 2 of 8 nodes are "
     "NVIDIA-H100-80GB-HBM3 "
     "(OnDemand); "
     "2 of 8 are NVIDIA-H100-80GB-HBM3 (Spot); 1 of 8 is NVIDIA-H200 (OnDemand). To start now, "
     "relax "
     "one of: topology.required: leaf -> spine; accelerator.models: [Any], which mixes products, "
     "to run "
     "on NVIDIA-H100-80GB-HBM3 too. Unchanged, it never fits this fabric, not even with nothing "
     "else running."},
};
INSTANTIATE_TEST_SUITE_P(Gangs, GangTest, ::testing::ValuesIn(kGangCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(MatchesModel, ByWordOrByTheAcceleratorItStandsFor) {
  EXPECT_TRUE(MatchesModel("H100", "NVIDIA-H100-80GB-HBM3"));
  EXPECT_TRUE(MatchesModel("h100", "H100_NVLINK_80GB"));
  EXPECT_TRUE(MatchesModel("H100", "p5.48xlarge"));
  EXPECT_TRUE(MatchesModel("H100", "Standard_ND96isr_H100_v5"));
  EXPECT_TRUE(MatchesModel("A100", "p4d.24xlarge"));
  EXPECT_FALSE(MatchesModel("A100", "p5.48xlarge"));
  EXPECT_FALSE(MatchesModel("H100", "NVIDIA-H200"));
  EXPECT_FALSE(MatchesModel("L4", "NVIDIA-L40S"));
  EXPECT_FALSE(MatchesModel("H100", "m7i.large"));
}

TEST(MatchesModel, ByTheAcceleratorOfBoth) {
  EXPECT_TRUE(MatchesModel("NVIDIA-H100-80GB-HBM3", "H100_NVLINK_80GB"));
  EXPECT_TRUE(MatchesModel("H100 SXM5", "NVIDIA-H100-80GB-HBM3"));
  EXPECT_TRUE(MatchesModel("A10G", "g5.48xlarge"));
  EXPECT_TRUE(MatchesModel("L40S", "g6e.48xlarge"));
  EXPECT_FALSE(MatchesModel("L4", "g6e.48xlarge"));
  EXPECT_FALSE(MatchesModel("NVIDIA-A100-SXM4-80GB", "nvidia-tesla-a100"));
  EXPECT_FALSE(MatchesModel("NVIDIA-A100-SXM-64GB", "NVIDIA-A100-SXM4-80GB"));
  EXPECT_FALSE(MatchesModel("H100 PCIe", "NVIDIA-H100-80GB-HBM3"));
  EXPECT_FALSE(MatchesModel("NVIDIA-H100-80GB-HBM3-SHARED", "NVIDIA-H100-80GB-HBM3"));
  EXPECT_FALSE(MatchesModel("NVIDIA-L40S-24Q", "NVIDIA-L40S"));
  EXPECT_FALSE(MatchesModel("NVIDIA-A100-SXM4-40GB", "NVIDIA-A100-PCIE-40GB"));
  EXPECT_FALSE(MatchesModel("H200-NVL", "NVIDIA-H200"));
  EXPECT_TRUE(MatchesModel("L40S-PCIe-48GB", "NVIDIA-L40S")) << "it comes as a card only";
  EXPECT_TRUE(MatchesModel("NVIDIA-L4-PCIe", "NVIDIA-L4"));
  EXPECT_FALSE(MatchesModel("RTX-4090-D", "NVIDIA-GeForce-RTX-4090"));
  fabric::AcceleratorSpec added;
  added.name = "X1";
  added.products = {"acme x1 oam"};
  EXPECT_TRUE(MatchesModel("ACME X1 OAM", "X1", std::span(&added, 1)));
}

// n0 and n1 (leaf l0) share GPUs, n2 and n3 (l1) have whole ones.
testing::Scene HalfShared() {
  testing::FabricShape shape = testing::FourNodes();
  for (std::size_t n = 0; n < 4; ++n) {
    auto& labels = shape.nodes[n].labels;
    labels["nvidia.com/gpu.product"] =
        n < 2 ? "NVIDIA-H100-80GB-HBM3-SHARED" : "NVIDIA-H100-80GB-HBM3";
    labels["nvidia.com/gpu.count"] = n < 2 ? "2" : "8";
    labels["nvidia.com/gpu.replicas"] = n < 2 ? "4" : "1";
  }
  return testing::Scene(shape);
}

std::string NodesOf(const testing::Scene& scene) {
  const Cluster cluster = scene.Build();
  const auto report = plan::Plan(cluster);
  if (!report) return report.error().message;
  const plan::Placed* placed = report->entries.back().placed();
  if (placed == nullptr) return "refused";
  std::string names;
  for (const auto node : placed->plan.nodes) {
    names += (names.empty() ? "" : " ") + cluster.fabrics[0].fabric->node(node).name;
  }
  return names;
}

TEST(PoolChoices, WholeGpusComeBeforePartsOfThem) {
  struct Case {
    std::vector<std::string> models;
    const char* busy;  // while no two whole nodes are left
  };
  for (const Case& c : {Case{{}, "n0 n1"},
                        {{"Any"}, "n0 n1"},
                        {{"H100"}, "refused"},
                        {{"B200", "H100"}, "refused"},
                        {{"H100", "H100-SHARED"}, "n0 n1"}}) {
    testing::Scene scene = HalfShared();
    scene.Job("j", 2).accelerator.models = c.models;
    EXPECT_EQ(NodesOf(scene), "n2 n3");
    scene.Pod("p", "n3");
    EXPECT_EQ(NodesOf(scene), c.busy);
  }
}

// The rule picks the leaf with the most room of the pools that are tried, not of all.
TEST(PoolChoices, AffinityAmongTheWorkersLeavesEachProductItsOwnLeaf) {
  testing::FabricShape shape = testing::FourNodes();
  for (std::size_t n = 0; n < 4; ++n) {
    shape.nodes[n].labels["nvidia.com/gpu.product"] = n < 2 ? "NVIDIA-A100" : "NVIDIA-H100";
  }
  testing::Scene scene(shape);
  scene.Pod("p", "n3");
  api::TrainingJob& job = scene.Job("j", 1);
  job.accelerator.models = {"H100", "A100"};
  job.pod.labels.Set("app", "x");
  fabric::PodTerm term;
  term.topology_key = "test/leaf";
  term.selector = fabric::LabelSelector{{{"app", "x"}}, {}};
  fabric::PodTerms terms;
  terms.affinity = {term};
  job.pod.terms = std::move(terms);
  EXPECT_EQ(NodesOf(scene), "n2");
}

TEST(PoolChoices, NoGangMixesWholeGpusWithPartsOfThem) {
  const std::vector<std::string> all[] = {{}, {"H100"}, {"Any"}};
  for (const auto& models : all) {
    testing::Scene scene = HalfShared();
    scene.Job("j", 3).accelerator.models = models;
    EXPECT_EQ(NodesOf(scene), "refused");
  }
}

TEST(PoolChoices, APartThatTheListNamesIsTaken) {
  testing::Scene scene = HalfShared();
  scene.Job("j", 2).accelerator.models = {"NVIDIA-H100-80GB-HBM3-SHARED"};
  EXPECT_EQ(NodesOf(scene), "n0 n1");
  scene.inputs.jobs.Edit(0).accelerator.models = {"shared", "H100"};
  EXPECT_EQ(NodesOf(scene), "n0 n1");
}

TEST(PoolChoices, PartsThatOnlyALabelTellsAreNotMixed) {
  testing::FabricShape shape = testing::FourNodes();
  for (std::size_t n = 0; n < 4; ++n) {
    shape.nodes[n].labels["amd.com/gpu.product-name"] = "AMD_Instinct_MI300X_OAM";
    shape.nodes[n].labels["amd.com/gpu.compute-memory-partition"] = n < 2 ? "CPX_NPS4" : "SPX_NPS1";
    shape.nodes[n].accelerators = 0;
    shape.nodes[n].allocatable["amd.com/gpu"] = n < 2 ? 64 : 8;
  }
  testing::Scene scene(shape);
  api::TrainingJob& job = scene.Job("j", 2);
  job.accelerator.resource_name = "amd.com/gpu";
  job.pod.requests = {{"amd.com/gpu", 8}};
  EXPECT_EQ(NodesOf(scene), "n2 n3");
  scene.inputs.jobs.Edit(0).replicas = 3;  // 16 workers would fit on the parts
  EXPECT_EQ(NodesOf(scene), "n0 n0 n0");
}

TEST(PoolChoices, AFabricOfOneProductHasNoChoice) {
  testing::Scene scene(testing::FourNodes());
  const Cluster cluster = scene.Build();
  EXPECT_FALSE(PoolChoicesOf(*cluster.fabrics[0].fabric, {}).has_value());
}

}  // namespace
}  // namespace weft::cluster
