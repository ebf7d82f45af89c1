#include "operator/plan/snapshot.h"
#include "operator/cluster/build_cluster.h"
#include "operator/plan/plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "operator/fabric/partition.h"
#include "operator/plan/status.h"
#include "tests/support/scene.h"

namespace weft::plan {
namespace {

std::string PlanText(const cluster::Cluster& cluster, cluster::Order order) {
  PlanOptions options;
  options.order = order;
  const auto report = Plan(cluster, options);
  if (!report) return report.error().message;
  std::string text;
  for (const std::size_t e : report->decided) {
    text += PlacementOf(cluster, report->entries[e]).dump(1) + "\n";
  }
  return text;
}

Result<api::Inputs> ReadBack(const std::vector<nlohmann::ordered_json>& objects) {
  api::Inputs inputs;
  for (const auto& object : objects) {
    const auto plain = nlohmann::json::parse(object.dump());
    if (Status read = api::DecodeInto(plain, "snapshot", inputs); !read) return read.error();
  }
  if (Status unique = api::CheckUnique(inputs); !unique) return unique.error();
  return inputs;
}

testing::Scene BusyScene() {
  testing::Scene scene(testing::Leaves({{8, 8}, {8, 8}, {8, 8}}));
  scene.Job("running", 2).expected_duration_seconds = 3600;
  scene.inputs.jobs.Edit(0).attempt = 1;
  scene.Placement("running-1", 2, {"n0", "n1"});
  scene.Pod("running-1-0", "n0",
            {{"weft.dev/job-name", "running"},
             {"weft.dev/attempt", "1"},
             {"weft.dev/worker-index", "0"}});
  scene.Placement("mine", 1, {"n2"});
  api::TrainingJob& young = scene.Job("young", 2);
  young.meta.creation_timestamp = "2026-02-01T00:00:00Z";
  young.model = testing::MeasuredData(1'000'000'000);
  young.wait.excluded_nodes = {"n3"};
  young.meta.annotations = {{"secret", "hunter2"}};
  api::TrainingJob& old = scene.Job("old", 2);
  old.meta.creation_timestamp = "2026-01-01T00:00:00Z";
  old.topology.required = "leaf";
  old.pod.requests["cpu"] = 1500;
  scene.Job("late", 3);
  return scene;
}

TEST(Snapshot, GivesTheSameAnswerInDecisionOrder) {
  const cluster::Cluster cluster = BusyScene().Build();
  const auto snapshot = Snapshot(cluster, cluster::Order::kOperator);
  ASSERT_TRUE(snapshot);
  auto inputs = ReadBack(snapshot->objects);
  ASSERT_TRUE(inputs) << inputs.error().message;
  const auto again = cluster::BuildCluster(*std::move(inputs));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(PlanText(*again, cluster::Order::kFile), PlanText(cluster, cluster::Order::kOperator));
  EXPECT_EQ(testing::FreeGpus(*again), testing::FreeGpus(cluster));
}

// GKE gives each slice of several hosts a node pool of its own, but many of one host share one.
TEST(Snapshot, OfARecognisedTpuFabricPartsTheSlicesOfOnePool) {
  constexpr const char* kTpu = "google.com/tpu";
  testing::Scene scene(testing::Leaves({{8, 8}, {8, 8}}));
  scene.inputs.fabrics.clear();
  for (std::size_t n = 0; n < 4; ++n) {
    fabric::NodeFacts& facts = scene.inputs.nodes.Edit(n).facts;
    const bool one_host = n > 1;
    facts.labels = {{"cloud.google.com/gke-nodepool", one_host ? "b" : "a"},
                    {"cloud.google.com/gke-tpu-topology", one_host ? "2x4" : "2x4x2"}};
    facts.allocatable.erase(testing::kGpu);
    facts.allocatable[kTpu] = 8;
    facts.capacity.clear();
  }
  scene.inputs.nodes.Edit(0).facts.unschedulable = true;
  api::TrainingJob& job = scene.Job("j", 2);
  job.accelerator.resource_name = kTpu;
  job.pod.requests = {{kTpu, 8}};
  job.topology.required = "leaf";
  const cluster::Cluster cluster = scene.Build();
  ASSERT_TRUE(cluster.fabrics.front().recognised);
  const auto snapshot = Snapshot(cluster, cluster::Order::kOperator);
  ASSERT_TRUE(snapshot);
  auto inputs = ReadBack(snapshot->objects);
  ASSERT_TRUE(inputs) << inputs.error().message;
  const auto again = cluster::BuildCluster(*std::move(inputs));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->fabrics[0].fabric->spec().levels == cluster.fabrics[0].fabric->spec().levels);
  EXPECT_EQ(PlanText(*again, cluster::Order::kFile), PlanText(cluster, cluster::Order::kOperator));
}

TEST(Snapshot, KeepsTheCountOfGpusThatHamiShares) {
  testing::Scene scene(testing::FourNodes());
  scene.inputs.nodes.Edit(0).facts.labels.Set(fabric::kRegisteredGpus, "2");
  const auto snapshot = Snapshot(scene.Build(), cluster::Order::kOperator);
  ASSERT_TRUE(snapshot);
  const auto inputs = ReadBack(snapshot->objects);
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_EQ(inputs->nodes[0].facts.labels.At(fabric::kRegisteredGpus), "2");
}

TEST(Snapshot, WritesAssumedClaimsAsPodsAndNoForeignAnnotation) {
  const auto snapshot = Snapshot(BusyScene().Build(), cluster::Order::kFile);
  ASSERT_TRUE(snapshot);
  std::vector<std::string> pods;
  std::string all;
  for (const auto& object : snapshot->objects) {
    if (object["kind"] == "Pod") pods.push_back(object["metadata"]["name"]);
    all += object.dump();
  }
  EXPECT_EQ(pods, (std::vector<std::string>{"running-1-0", "running-1-1"}));
  EXPECT_EQ(all.find("hunter2"), std::string::npos);
}

TEST(Snapshot, KeepsAllThatAPodAsksOfItsNode) {
  testing::Scene scene(testing::FourNodes());
  rules::PodRequirements asked;
  asked.requests = {{testing::kGpu, 8}, {"cpu", 1500}};
  asked.node_selector = {{"test/leaf", "l0"}};
  asked.required_affinity = {{.match_expressions = {{"zone", "In", {"a", "b"}}},
                              .match_fields = {{"metadata.name", "NotIn", {"n1"}}}},
                             {.match_expressions = {{"cores", "Gt", {"8"}}}, .match_fields = {}}};
  asked.tolerations = {{"sick", "Equal", "yes", "NoSchedule"}, {"", "Exists", "", ""}};
  asked.claims_compute_domain = true;
  asked.preferred = {{{7, {{{"suspect", "DoesNotExist", {}}}, {}}}}};
  const fabric::PodTerm term = {"zone", fabric::LabelSelector{{{"a", "b"}}, {}}, {"other"}, false};
  asked.terms = fabric::PodTerms{
      {{"UDP", "10.0.0.1", 22}}, {term}, {term}, {{"zone", 2, 3, term.selector}}, {{-5, term}}};
  asked.labels = {{"a", "b"}};
  scene.Job("x", 1).pod = asked;
  const auto snapshot = Snapshot(scene.Build(), cluster::Order::kFile);
  ASSERT_TRUE(snapshot);
  const auto inputs = ReadBack(snapshot->objects);
  ASSERT_TRUE(inputs) << inputs.error().message;
  ASSERT_EQ(inputs->jobs.size(), 1U);
  EXPECT_EQ(inputs->jobs[0].pod, asked);
}

TEST(Snapshot, KeepsWhereClaimsAreAllocatedBesideTheAffinity) {
  testing::Scene scene(testing::FourNodes());
  rules::PodRequirements& pod = scene.Job("x", 1).pod;
  const std::vector<rules::NodeSelectorTerm> nodes = {{{}, {{"metadata.name", "In", {"n1"}}}},
                                                      {{}, {{"metadata.name", "In", {"n2"}}}}};
  rules::VolumeRules allocated;
  allocated.places = {{nodes, "its ResourceClaim c is allocated"}};
  pod.volumes = allocated;
  const auto affinity = [&] {
    const auto snapshot = Snapshot(scene.Build(), cluster::Order::kFile);
    return ReadBack(snapshot->objects)->jobs[0].pod.required_affinity;
  };
  EXPECT_EQ(affinity(), nodes);
  pod.required_affinity = {{{{"zone", "In", {"a"}}}, {}}, {}};  // the empty term never holds
  EXPECT_EQ(affinity(), (std::vector<rules::NodeSelectorTerm>{
                            {{{"zone", "In", {"a"}}}, {{"metadata.name", "In", {"n1"}}}},
                            {{{"zone", "In", {"a"}}}, {{"metadata.name", "In", {"n2"}}}}}));
}

TEST(Snapshot, KeepsWhatTellsWhereVolumesAre) {
  testing::Scene scene(testing::FourNodes());
  api::Inputs& inputs = scene.inputs;
  scene.Job("x", 1).pod.terms = fabric::PodTerms{
      .volumes = {{.claim = "data"}, {"<pod>-scratch", true, "fast", {"ReadWriteOnce"}, 7, true}}};
  scene.Pod("p", "n0").pod.terms = fabric::PodTerms{.volumes = {{"p-s", true, "", {}, 0, false}}};
  const std::vector<rules::NodeSelectorTerm> zone = {{{{"zone", "In", {"a"}}}, {}}};
  api::VolumeClaim claim;
  claim.meta.key = {"ns", "data"};
  claim.meta.uid = "c";
  claim.storage_class = "fast";
  claim.bytes = 5;
  claim.access_modes = {"ReadWriteOncePod"};
  claim.selector = fabric::LabelSelector{{{"disk", "ssd"}}, {}};
  claim.volume = "pv";
  claim.served = claim.bound = true;
  inputs.volume_claims.push_back(claim);
  api::VolumeClaim own = claim;
  own.meta.key.name = "p-s";
  own.volume = "";
  own.bound = false;
  own.selected_node = "n0";
  inputs.volume_claims.push_back(own);
  api::VolumeClaim other = claim;
  other.meta.key.name = "other";
  inputs.volume_claims.push_back(other);
  api::PersistentVolume volume;
  volume.meta.key.name = "pv";
  volume.meta.labels = {{"topology.kubernetes.io/zone", "a"}};
  volume.storage_class = "fast";
  volume.bytes = 9;
  volume.access_modes = {"ReadWriteOncePod"};
  volume.driver = "disks";
  volume.handle = "v1";
  volume.claim = {"ns", "data"};
  volume.claim_uid = "c";
  volume.affinity = zone;
  inputs.volumes.push_back(volume);
  api::StorageClass of;
  of.meta.key.name = "fast";
  of.provisioner = "disks";
  of.waits = true;
  of.topologies = zone;
  inputs.storage_classes.push_back(of);
  api::CsiNode node;
  node.meta.key.name = "n0";
  node.limits = {{"disks", 3}};
  inputs.csi_nodes.push_back(node);
  const auto snapshot = Snapshot(scene.Build(), cluster::Order::kFile);
  ASSERT_TRUE(snapshot);
  const auto read = ReadBack(snapshot->objects);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->jobs[0].pod.terms, inputs.jobs[0].pod.terms);
  EXPECT_EQ(read->pods[0].pod.terms, inputs.pods[0].pod.terms);
  ASSERT_EQ(read->volume_claims.size(), 2U);  // without the one that nothing names
  EXPECT_TRUE(SameVolume(read->volume_claims[0], claim));
  EXPECT_TRUE(SameVolume(read->volume_claims[1], own));
  ASSERT_EQ(read->volumes.size(), 1U);
  EXPECT_TRUE(SameVolume(read->volumes[0], volume));
  ASSERT_EQ(read->storage_classes.size(), 1U);
  EXPECT_TRUE(SameVolume(read->storage_classes[0], of));
  ASSERT_EQ(read->csi_nodes.size(), 1U);
  EXPECT_TRUE(SameVolume(read->csi_nodes[0], node));
}

TEST(Snapshot, OfAJobThatNamesADeviceClassNeedsNoClass) {
  for (const char* driver : {"gpu.nvidia.com", "x.example.com"}) {
    testing::Scene scene(testing::FourNodes());
    api::DeviceClass& one = scene.inputs.device_classes.emplace_back();
    one.meta.key.name = "own";
    one.driver = driver;
    one.exact = true;
    for (std::size_t n = 0; n < 4; ++n) {
      scene.inputs.nodes.Edit(n).facts.allocatable.erase(testing::kGpu);
      api::ResourceSlice slice;
      slice.meta.key.name = slice.pool = slice.node_name = scene.inputs.nodes[n].facts.name;
      slice.driver = driver;
      slice.usable = {{"", 8}};
      scene.inputs.resource_slices.push_back(std::move(slice));
    }
    api::TrainingJob& job = scene.Job("j", 2);
    job.accelerator.device_class = "own";
    job.accelerator.resource_name = std::string(api::kClassResourcePrefix) + "own";
    job.pod.requests.clear();
    job.pod.claims_accelerators = true;
    const cluster::Cluster before = scene.Build();
    const std::string answer = PlanText(before, cluster::Order::kOperator);
    EXPECT_NE(answer.find("n0"), std::string::npos) << answer;
    const auto snapshot = Snapshot(before, cluster::Order::kOperator);
    ASSERT_TRUE(snapshot);
    auto inputs = ReadBack(snapshot->objects);
    ASSERT_TRUE(inputs) << inputs.error().message;
    const auto after = cluster::BuildCluster(*std::move(inputs));
    ASSERT_TRUE(after) << after.error().message;
    const std::string told = PlanText(*after, cluster::Order::kFile);
    EXPECT_NE(told.find("n0"), std::string::npos) << driver << told;
  }
}

TEST(Snapshot, KeepsTheGatesOfPodsThatWaitForTheirPlacement) {
  testing::Scene scene(testing::FourNodes());
  scene.Placement("p", 1).pod_selector = fabric::LabelSelector{{{"a", "b"}}, {}};
  scene.Pod("x", "", {{"a", "b"}}).scheduling_gates = {api::kGate};
  const auto snapshot = Snapshot(scene.Build(), cluster::Order::kFile);
  ASSERT_TRUE(snapshot);
  const auto inputs = ReadBack(snapshot->objects);
  ASSERT_TRUE(inputs) << inputs.error().message;
  ASSERT_EQ(inputs->pods.size(), 1U);
  EXPECT_EQ(inputs->pods[0].scheduling_gates, std::vector<std::string>{api::kGate});
}

TEST(Snapshot, OfAClusterLeavesOutTheJobThatIsWrongInItself) {
  testing::Scene scene(testing::Leaves({{8, 8}}));
  scene.Placement("x-1", 1);
  scene.Job("x", 1);
  const cluster::Cluster cluster = scene.Build();
  EXPECT_FALSE(Snapshot(cluster, cluster::Order::kOperator));
  const auto snapshot = Snapshot(cluster, cluster::Order::kOperator, cluster::Mark::kInvalid);
  ASSERT_TRUE(snapshot);
  ASSERT_EQ(snapshot->left_out.size(), 1U);
  EXPECT_NE(snapshot->left_out[0].find("TrainingJob ns/x"), std::string::npos);
  EXPECT_EQ(snapshot->objects.back()["kind"], "Placement");
}

}  // namespace
}  // namespace weft::plan
