#include "operator/watch/store.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/decode.h"
#include "operator/api/device_details.h"
#include "operator/cluster/foreign_gang.h"

namespace weft::watch {
namespace {

constexpr UnixSeconds kNow = 1'000;

class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    store_.SetHooks({.on_job = [this](const api::ObjectKey& job) { Note("job " + job.name); },
                     .on_placement = [this](const api::ObjectKey& p) { Note("pl " + p.name); },
                     .on_capacity = [this] { Note("capacity"); },
                     .on_fabric = [this] { Note("fabric"); }});
  }

  void Note(const std::string& what) { told_.push_back(what); }
  std::vector<std::string> Told() { return std::exchange(told_, {}); }

  static api::Node Node(const std::string& name, const std::string& ready = "True") {
    api::Node node;
    node.meta.key.name = node.facts.name = name;
    node.facts.conditions = {{"Ready", ready}};
    return node;
  }
  static api::Pod PodOf(const std::string& job, const std::string& node, const char* version) {
    api::Pod pod;
    pod.meta.key = {"ns", job + "-1-0"};
    pod.meta.uid = "u-" + job;
    pod.meta.resource_version = version;
    pod.meta.owners = {{"weft.dev/v1alpha1", "TrainingJob", job, "j-" + job, true}};
    pod.node_name = node;
    pod.phase = api::PodPhase::kRunning;
    return pod;
  }
  static api::Placement PlacementOf(const std::string& name, std::vector<std::string> nodes) {
    api::Placement placement;
    placement.meta.key = {"ns", name};
    placement.nodes = std::move(nodes);
    placement.pod_selector = fabric::LabelSelector{{{"app", "x"}}, {}};
    return placement;
  }
  static api::TrainingJob Job(const std::string& name) {
    api::TrainingJob job;
    job.meta.key = {"ns", name};
    job.meta.uid = "j-" + name;
    return job;
  }

  std::vector<std::string> told_;
  Store store_{[] { return kNow; }};
};

using Words = std::vector<std::string>;

TEST_F(StoreTest, AHeartbeatIsNoChange) {
  store_.Put(Node("n"));
  Told();
  const auto before = store_.TakeSnapshot().fabrics;
  store_.Put(Node("n"));
  EXPECT_EQ(Told(), Words());
  EXPECT_EQ(store_.TakeSnapshot().fabrics, before);
}

TEST_F(StoreTest, ANodeThatChangesTellsPlannersFabricsAndTheJobsOnIt) {
  store_.Put(Node("n"));
  store_.Put(PodOf("a", "n", "1"));
  store_.Put(PodOf("b", "other", "1"));
  Told();
  const auto before = store_.TakeSnapshot().fabrics;
  store_.Put(Node("n", "False"));
  EXPECT_EQ(Told(), (Words{"job a", "fabric", "capacity"}));
  EXPECT_NE(store_.TakeSnapshot().fabrics, before);
}

TEST_F(StoreTest, APodTellsItsJobAndPlannersOnlyWhereItHoldsOtherThings) {
  store_.Put(PodOf("a", "n", "1"));
  EXPECT_EQ(Told(), (Words{"job a", "capacity"}));
  api::Pod ready = PodOf("a", "n", "2");
  ready.ready = true;
  store_.Put(ready);
  EXPECT_EQ(Told(), (Words{"job a"}));
  api::Pod ended = PodOf("a", "n", "3");
  ended.phase = api::PodPhase::kSucceeded;
  store_.Put(ended);
  EXPECT_EQ(Told(), (Words{"job a", "capacity"}));
}

// A spread does not count it from then on.
TEST_F(StoreTest, APodThatIsBeingDeletedTellsPlanners) {
  store_.Put(PodOf("a", "n", "1"));
  Told();
  api::Pod ending = PodOf("a", "n", "2");
  ending.meta.deleting = true;
  store_.Put(ending);
  EXPECT_EQ(Told(), (Words{"job a", "capacity"}));
}

TEST_F(StoreTest, KnowsWhenTheNodeOfAPodWasMade) {
  const auto node = api::DecodeNode(
      nlohmann::json::parse(
          R"({"metadata": {"name": "n", "creationTimestamp": "1970-01-01T00:10:00Z"}})"),
      "test");
  ASSERT_TRUE(node);
  store_.Put(*node);
  EXPECT_EQ(store_.StateOfNode("n").made, 600);
}

TEST_F(StoreTest, AJobComesWithWhatIsItsOwn) {
  store_.Put(Job("a"));
  store_.Put(PodOf("a", "n", "1"));
  store_.Put(PodOf("b", "n", "1"));
  store_.Put(Node("n", "False"));
  const auto objects = store_.ObjectsOf({"ns", "a"});
  ASSERT_TRUE(objects);
  ASSERT_EQ(objects->pods.size(), 1U);
  EXPECT_EQ(objects->pods[0]->meta.key.name, "a-1-0");
  EXPECT_TRUE(objects->nodes.Of("n").exists);
  EXPECT_EQ(objects->nodes.Of("n").not_ready_since, kNow);
  EXPECT_FALSE(objects->nodes.Of("unknown").exists);
  EXPECT_FALSE(store_.ObjectsOf({"ns", "gone"}));
}

TEST_F(StoreTest, TwoPicturesShareTheirObjects) {
  store_.Put(Node("n"));
  store_.Put(PodOf("a", "n", "1"));
  store_.Put(Job("a"));
  store_.Put(PlacementOf("p", {}));
  const auto one = store_.TakeSnapshot(), two = store_.TakeSnapshot();
  EXPECT_EQ(&one.inputs.nodes[0], &two.inputs.nodes[0]);
  EXPECT_EQ(&one.inputs.pods[0], &two.inputs.pods[0]);
  EXPECT_EQ(&one.inputs.jobs[0], &two.inputs.jobs[0]);
  EXPECT_EQ(&one.inputs.placements[0], &two.inputs.placements[0]);
}

TEST_F(StoreTest, ANodeThatIsNewTellsNoJobs) {
  store_.Put(PodOf("a", "n", "1"));
  Told();
  store_.Put(Node("n", "False"));
  EXPECT_EQ(Told(), (Words{"fabric", "capacity"}));
  store_.Remove<api::Node>({{"", "n"}});
  EXPECT_EQ(Told(), (Words{"job a", "fabric", "capacity"}));
}

TEST_F(StoreTest, AJobIsToldOfANodeForAsLongAsAPodOfItIsThere) {
  store_.Put(Node("n"));
  store_.Put(Node("m"));
  store_.Put(PodOf("a", "n", "1"));
  store_.Put(PodOf("a", "m", "2"));  // it can only have been another pod of that name
  Told();
  store_.Put(Node("n", "False"));
  EXPECT_EQ(Told(), (Words{"fabric", "capacity"}));
  store_.Remove<api::Pod>({{"ns", "a-1-0"}});
  Told();
  store_.Put(Node("m", "False"));
  EXPECT_EQ(Told(), (Words{"fabric", "capacity"}));
}

TEST_F(StoreTest, KnowsWhetherAPlacementWaits) {
  EXPECT_FALSE(store_.HasUnplaced(""));
  store_.Put(PlacementOf("p", {}));
  EXPECT_TRUE(store_.HasUnplaced(""));
  EXPECT_TRUE(store_.HasUnplaced("ns"));
  EXPECT_FALSE(store_.HasUnplaced("other"));
  store_.Put(PlacementOf("p", {"n"}));
  EXPECT_FALSE(store_.HasUnplaced(""));
  api::Placement owned = PlacementOf("a-1", {});
  owned.meta.owners = {{"weft.dev/v1alpha1", "TrainingJob", "a", "j-a", true}};
  store_.Put(owned);
  EXPECT_FALSE(store_.HasUnplaced(""));
  store_.Put(PlacementOf("q", {}));
  store_.Remove<api::Placement>({{"ns", "q"}});
  EXPECT_FALSE(store_.HasUnplaced(""));
}

TEST_F(StoreTest, NamesWhatIsHeldUpToAVersion) {
  store_.Put(PodOf("a", "n", "5"));
  EXPECT_TRUE(store_.HeldUpTo<api::Pod>("4").empty());
  EXPECT_EQ(store_.HeldUpTo<api::Pod>("5"), (std::vector<api::ObjectKey>{{"ns", "a-1-0"}}));
}

TEST_F(StoreTest, AWorkloadIsToldOfItsPlacementsAndTheirPods) {
  Words told;
  store_.SetHooks(
      {.on_workload = [&](const api::ObjectKey& key) { told.push_back(api::Show(key)); }});
  api::Workload workload;
  workload.meta.key = {"ns", "w"};
  workload.meta.uid = "w1";
  store_.Put(workload);
  api::Placement placement = PlacementOf("p", {});
  placement.meta.owners = {{"kueue.x-k8s.io/v1beta2", "Workload", "w", "w1", true}};
  store_.Put(placement);
  EXPECT_FALSE(store_.HasUnplaced(""));  // the Workload asks for its nodes
  api::Pod pod;
  pod.meta.key = {"ns", "pod"};
  pod.meta.labels = {{"app", "x"}};
  store_.Put(pod);
  EXPECT_EQ(std::exchange(told, {}), (Words{"ns/w", "ns/w", "ns/w"}));
  ASSERT_EQ(store_.ObjectsOfWorkload({"ns", "w"})->placements.size(), 1U);

  api::AdmissionCheck check;
  check.meta.key.name = "c";
  store_.Put(check);
  EXPECT_EQ(std::exchange(told, {}), (Words{"c", "ns/w"}));
  check.conditions = {{"Active", "True", "", "", ""}};
  store_.Put(check);
  EXPECT_EQ(std::exchange(told, {}), Words{"c"});
  api::ResourceFlavor flavor;
  flavor.meta.key.name = "f";
  store_.Put(flavor);
  EXPECT_EQ(std::exchange(told, {}), Words{"ns/w"});
  api::Fabric fabric;
  fabric.meta.key.name = "g";
  store_.Put(fabric);
  EXPECT_EQ(std::exchange(told, {}), Words{"c"});
  EXPECT_TRUE(store_.HasFabric("g"));
  store_.Remove<api::Placement>({{"ns", "p"}});
  store_.Remove<api::Workload>({{"ns", "w"}});
  EXPECT_FALSE(store_.ObjectsOfWorkload({"ns", "w"}));
}

// Its nodes are those that the flavors' labels name.
TEST_F(StoreTest, NotifiesQueuedJobsOfFlavorsAndChecks) {
  Words told;
  store_.SetHooks({.on_job = [&](const api::ObjectKey& key) { told.push_back(api::Show(key)); }});
  api::Workload workload;
  workload.meta.key = {"ns", "w"};
  workload.meta.uid = "w1";
  workload.meta.owners = {{"weft.dev/v1alpha1", "TrainingJob", "a", "j-a", true}};
  store_.Put(workload);
  told.clear();
  api::ResourceFlavor flavor;
  flavor.meta.key.name = "f";
  flavor.meta.generation = 1;
  store_.Put(flavor);
  EXPECT_EQ(std::exchange(told, {}), Words{"ns/a"});
  store_.Put(flavor);
  EXPECT_EQ(std::exchange(told, {}), Words());
  flavor.meta.generation = 2;
  store_.Put(flavor);
  EXPECT_EQ(std::exchange(told, {}), Words{"ns/a"});
  api::AdmissionCheck check;
  check.meta.key.name = "c";
  store_.Put(check);
  EXPECT_EQ(told, Words{"ns/a"});
}

TEST_F(StoreTest, StatusOfAFabricIsNoNewsForPlanners) {
  api::Fabric fabric;
  fabric.meta.key.name = "default";
  fabric.meta.uid = "f";
  fabric.meta.generation = 1;
  fabric.meta.resource_version = "1";
  store_.Put(fabric);
  EXPECT_EQ(Told(), (Words{"fabric", "capacity"}));
  fabric.meta.resource_version = "2";
  store_.Put(fabric);
  EXPECT_EQ(Told(), Words());
  fabric.meta.resource_version = "3";
  fabric.meta.generation = 2;
  store_.Put(fabric);
  EXPECT_EQ(Told(), (Words{"fabric", "capacity"}));
}

TEST_F(StoreTest, AFabricThatCannotBeReadReplacesWhatItWas) {
  api::Fabric fabric, bad;
  fabric.meta.key.name = bad.meta.key.name = "default";
  bad.unreadable = "spec.preset: unknown";
  store_.Put(fabric);
  Told();
  store_.Put(bad);
  EXPECT_EQ(Told(), (Words{"fabric", "capacity"}));
  EXPECT_TRUE(store_.TakeSnapshot().inputs.fabrics.empty());
  EXPECT_EQ(store_.UnreadableFabrics().size(), 1U);
  store_.Put(fabric);
  EXPECT_EQ(Told(), (Words{"fabric", "capacity"}));
  EXPECT_EQ(store_.TakeSnapshot().inputs.fabrics.size(), 1U);
  EXPECT_TRUE(store_.UnreadableFabrics().empty());
}

TEST_F(StoreTest, APodThatCannotBeReadAnyMoreHoldsWhatItHeld) {
  api::Pod pod = PodOf("a", "n", "1");
  pod.pod.requests = {{"nvidia.com/gpu", 8}};
  store_.Put(pod);
  api::Pod head;
  head.meta = pod.meta;
  head.meta.resource_version = "2";
  head.meta.owners.clear();
  head.node_name = "n2";
  head.phase = api::PodPhase::kRunning;
  head.unreadable = "not UTF-8, or a NUL byte";
  store_.Put(head);
  const auto inputs = store_.TakeSnapshot().inputs;
  ASSERT_EQ(inputs.pods.size(), 1U);
  EXPECT_EQ(inputs.pods[0].pod.requests, pod.pod.requests);
  EXPECT_EQ(inputs.pods[0].node_name, "n2");
  EXPECT_EQ(inputs.pods[0].unreadable, "");
  store_.Put(Job("a"));
  EXPECT_EQ(store_.ObjectsOf({"ns", "a"})->pods.size(), 1U);
}

TEST_F(StoreTest, APodThatCouldNeverBeReadIsKnownAsSuch) {
  api::Pod head = PodOf("a", "n", "1");
  head.unreadable = "not UTF-8, or a NUL byte";
  store_.Put(head);
  EXPECT_EQ(store_.TakeSnapshot().inputs.pods.front().unreadable, head.unreadable);
  store_.Put(PodOf("a", "n", "2"));
  EXPECT_EQ(store_.TakeSnapshot().inputs.pods.front().unreadable, "");
}

TEST_F(StoreTest, ANodeThatCannotBeReadIsNotLost) {
  api::Node head;
  head.meta.key.name = head.facts.name = "n";
  head.unreadable = "not UTF-8, or a NUL byte";
  store_.Put(head);
  store_.Put(Job("a"));
  store_.Put(PodOf("a", "n", "1"));
  EXPECT_TRUE(store_.ObjectsOf({"ns", "a"})->nodes.Of("n").exists);
  EXPECT_FALSE(store_.ObjectsOf({"ns", "a"})->nodes.Of("n").not_ready_since);
  store_.Put(Node("n"));
  store_.Put(head);
  EXPECT_EQ(store_.TakeSnapshot().inputs.nodes.front().facts, Node("n").facts);
}

api::ResourceSlice SliceOf(const std::string& driver, const char* version, std::int64_t gpus) {
  api::ResourceSlice slice;
  slice.meta.key.name = "s";
  slice.meta.resource_version = version;
  slice.driver = driver;
  slice.pool = slice.node_name = "n";
  slice.usable = {{"gpu", gpus}};
  return slice;
}

TEST_F(StoreTest, ASliceChangesTheFabricOnlyWhenItsAcceleratorsChange) {
  const auto before = store_.TakeSnapshot().fabrics;
  store_.Put(SliceOf("dra.net", "1", 8));
  EXPECT_EQ(Told(), Words());
  EXPECT_EQ(store_.TakeSnapshot().fabrics, before);
  store_.Remove<api::ResourceSlice>({{"", "s"}});
  store_.Put(SliceOf("gpu.nvidia.com", "2", 8));
  EXPECT_EQ(Told(), Words({"fabric", "capacity"}));
  EXPECT_NE(store_.TakeSnapshot().fabrics, before);
  store_.Put(SliceOf("gpu.nvidia.com", "3", 8));
  EXPECT_EQ(Told(), Words());
  store_.Put(SliceOf("gpu.nvidia.com", "4", 7));
  EXPECT_EQ(Told(), Words({"fabric", "capacity"}));
  store_.Put(api::DeviceClass());
  EXPECT_EQ(Told(), Words({"fabric", "capacity"}));
}

TEST_F(StoreTest, ASliceOfOtherDevicesChangesTheFabricIfAClassSelectsThem) {
  api::DeviceClass cards;
  cards.meta.key.name = "nic";
  cards.driver = "dra.net";
  store_.Put(cards);
  Told();
  const auto before = store_.TakeSnapshot().fabrics;
  store_.Put(SliceOf("dra.net", "1", 8));
  EXPECT_EQ(Told(), Words({"fabric", "capacity"}));
  EXPECT_NE(store_.TakeSnapshot().fabrics, before);
  store_.Put(SliceOf("other.net", "2", 8));
  EXPECT_EQ(Told(), Words());
}

TEST_F(StoreTest, KeepsDetailsOfDevicesThatAreNoAccelerators) {
  const auto read = [](const std::string& driver, const char* version) {
    return *api::DecodeResourceSlice(
        {{"metadata", {{"name", "s"}, {"resourceVersion", version}}},
         {"spec",
          {{"driver", driver},
           {"nodeName", "n"},
           {"pool", {{"name", "n"}, {"generation", 1}, {"resourceSliceCount", 1}}},
           {"devices", {{{"name", "d"}, {"attributes", {{"mac", {{"string", version}}}}}}}}}}},
        "s");
  };
  store_.Put(read("dra.net", "1"));
  EXPECT_TRUE(api::DetailsOf(store_.TakeSnapshot().inputs.resource_slices.front()));
  store_.Remove<api::ResourceSlice>({{"", "s"}});
  store_.Put(read("gpu.nvidia.com", "2"));
  const auto slice = [&] { return store_.TakeSnapshot().inputs.resource_slices.front(); };
  EXPECT_FALSE(api::DetailsOf(slice()));
  store_.Put(read("gpu.nvidia.com", "3"));  // says the same of its accelerators
  EXPECT_EQ(slice().meta.resource_version, "2");
}

TEST_F(StoreTest, AVolumeOrItsClaimTellsOnlyWhatChangesANode) {
  api::VolumeClaim claim;
  claim.meta.key = {"ns", "c"};
  claim.meta.resource_version = "1";
  store_.Put(claim);
  EXPECT_EQ(Told(), Words({"capacity"}));
  claim.meta.resource_version = "2";
  store_.Put(claim);
  EXPECT_EQ(Told(), Words());
  claim.meta.resource_version = "3";
  claim.volume = "v";
  store_.Put(claim);
  EXPECT_EQ(Told(), Words({"capacity"}));
  api::CsiNode node;
  node.meta.key.name = "n";
  node.meta.resource_version = "4";
  store_.Put(node);
  EXPECT_EQ(Told(), Words());
  EXPECT_TRUE(store_.TakeSnapshot().inputs.csi_nodes.empty());  // it limits nothing
  node.meta.resource_version = "5";
  node.limits["disks"] = 2;
  store_.Put(node);
  EXPECT_EQ(Told(), Words({"capacity"}));
  node.meta.resource_version = "6";
  node.limits.clear();
  store_.Put(node);
  EXPECT_EQ(Told(), Words({"capacity"}));
  EXPECT_TRUE(store_.TakeSnapshot().inputs.csi_nodes.front().limits.empty());
}

TEST_F(StoreTest, KnowsWhichKindsWereListed) {
  EXPECT_FALSE(store_.TakeSnapshot().inputs.knows_claims);
  store_.Listed<api::VolumeClaim>();
  const api::Inputs inputs = store_.TakeSnapshot().inputs;
  EXPECT_TRUE(inputs.knows_claims);
  EXPECT_FALSE(inputs.knows_volumes || inputs.knows_classes);
}

TEST_F(StoreTest, AClaimIsACapacityOnceItHasDevices) {
  api::ResourceClaim claim;
  claim.meta.key = {"ns", "c"};
  claim.meta.resource_version = "1";
  store_.Put(claim);
  EXPECT_EQ(Told(), Words());
  claim.meta.resource_version = "2";
  claim.devices = {{"gpu.nvidia.com", "n", "gpu-0"}};
  store_.Put(claim);
  EXPECT_EQ(Told(), Words({"capacity"}));
  claim.meta.resource_version = "3";
  store_.Put(claim);
  EXPECT_EQ(Told(), Words());
  EXPECT_EQ(store_.TakeSnapshot().inputs.resource_claims.size(), 1U);
  store_.Remove<api::ResourceClaim>({{"ns", "c"}});
  EXPECT_EQ(Told(), Words({"capacity"}));
}

// Its pods may claim a channel of a ComputeDomain, of which a node has one.
TEST_F(StoreTest, ATemplateThatAJobNamesMayChangeItsPlan) {
  api::TrainingJob job;
  job.meta.key = {"ns", "job"};
  job.claims = {{"", "cd"}};
  store_.Put(job);
  Told();
  api::ClaimTemplate made;
  made.meta.key = {"ns", "other"};
  store_.Put(made);
  EXPECT_EQ(Told(), Words());
  made.meta.key = {"ns", "cd"};
  store_.Put(made);
  EXPECT_EQ(Told(), Words({"capacity"}));
}

TEST_F(StoreTest, ATemplateThatAWorkloadNamesMayChangeItsPlan) {
  Words told;
  store_.SetHooks({.on_workload = [&](const api::ObjectKey& key) { told.push_back(key.name); },
                   .on_capacity = [&] { told.push_back("capacity"); }});
  api::Workload workload;
  workload.meta.key = {"ns", "w"};
  workload.pod_sets.resize(2);
  workload.pod_sets[1].claims = {{"", "cd"}};
  store_.Put(workload);
  workload.meta.key = {"elsewhere", "v"};
  store_.Put(workload);
  told.clear();
  api::ClaimTemplate made;
  made.meta.key = {"ns", "other"};
  store_.Put(made);
  EXPECT_EQ(told, Words());
  made.meta.key = {"ns", "cd"};
  store_.Put(made);
  EXPECT_EQ(told, Words({"w", "capacity"}));
}

TEST_F(StoreTest, APodThatAsksForPlacementByAClaimWaitsForItsTemplate) {
  std::vector<api::ObjectKey> gangs;
  store_.SetHooks({.on_gang = [&](const api::ObjectKey& gang) { gangs.push_back(gang); }});
  api::Pod pod;
  pod.meta.key = {"ns", "p"};
  pod.meta.labels = {{"weft.dev/place", "true"}};
  pod.claims = {{"", "gpus"}};
  store_.Put(pod);
  EXPECT_TRUE(store_.PodsToPlace({"ns", ""}).empty());
  api::DeviceClass of;
  of.meta.key.name = "gpu.nvidia.com";
  of.driver = "gpu.nvidia.com";
  store_.Put(of);
  gangs.clear();
  api::ClaimTemplate made;
  made.meta.key = {"ns", "gpus"};
  made.requests = {{"gpu.nvidia.com", 4, false}};
  store_.Put(made);
  EXPECT_EQ(gangs.size(), 1U);
  const auto pods = store_.PodsToPlace({"ns", ""});
  ASSERT_EQ(pods.size(), 1U);
  EXPECT_EQ(pods.front()->pod.requests, (fabric::Resources{{"nvidia.com/gpu", 4}}));
}

std::vector<std::string> NamesOf(const auto& objects) {
  std::vector<std::string> names;
  for (const auto& object : objects) names.push_back(object->meta.key.name);
  return names;
}

// A gang is found by its pods' labels, which may change; Placements by hand are of no gang.
TEST_F(StoreTest, PodsAndPlacementsOfAGangFindEachOther) {
  const auto put = [&](const char* name, fabric::LabelSelector selector, const char* gang) {
    api::Placement placement;
    placement.meta.key = {"ns", name};
    placement.pod_selector = std::move(selector);
    if (*gang != '\0') placement.meta.labels = {{"weft.dev/gang", gang}};
    store_.Put(placement);
    return placement;
  };
  api::Pod pod;
  pod.meta.key = {"ns", "p"};
  pod.meta.labels = {{"batch.kubernetes.io/controller-uid", "u"}, {"weft.dev/place", "true"}};
  pod.meta.owners = {{"batch/v1", "Job", "train", "u", true}};
  store_.Put(pod);
  const std::string base = cluster::ForeignGangOf(pod)->base;
  const std::map<std::string, std::string> labels = {{"batch.kubernetes.io/controller-uid", "u"},
                                                     {"weft.dev/place", "true"}};
  const auto made = put("made", {labels, {}}, base.c_str());
  const auto named = put("named", {{{"weft.dev/placement", "named"}}, {}}, "");
  const auto by_hand = put("hand", {{{"app", "x"}}, {}}, "");
  EXPECT_EQ(NamesOf(store_.PodsToPlace({"ns", base})), Words({"p"}));
  EXPECT_EQ(NamesOf(store_.Selecting({"ns", base})), (Words{"made", "hand"}));
  EXPECT_EQ(NamesOf(store_.PodsOf(made)), Words({"p"}));
  EXPECT_TRUE(store_.PodsOf(named).empty());
  EXPECT_TRUE(store_.PodsOf(by_hand).empty());

  std::vector<std::string> told;
  store_.SetHooks({.on_placement = [&](const auto& key) { told.push_back(key.name); }});
  pod.meta.labels.Set("weft.dev/placement", "named");
  pod.meta.labels.Set("app", "x");
  store_.Put(pod);
  EXPECT_EQ(told, (Words{"named", "hand", "made"}));  // those that selected it before are told last
  EXPECT_TRUE(store_.PodsToPlace({"ns", base}).empty());
  EXPECT_EQ(NamesOf(store_.PodsOf(named)), Words({"p"}));
  EXPECT_EQ(NamesOf(store_.PodsOf(by_hand)), Words({"p"}));
  store_.Remove<api::Pod>({{"ns", "p"}});
  EXPECT_TRUE(store_.PodsOf(named).empty());
}

TEST_F(StoreTest, AResourceThatAJobNamesChangesTheFabrics) {
  const auto names = [this] { return store_.SnapshotFabrics().inputs.accelerator_resources; };
  const std::uint64_t before = store_.SnapshotFabrics().fabrics;
  store_.Put(Job("known"));
  EXPECT_EQ(store_.SnapshotFabrics().fabrics, before);
  api::TrainingJob job = Job("own");
  job.accelerator.resource_name = "example.com/x1";
  store_.Put(api::TrainingJob(job));
  const std::uint64_t with = store_.SnapshotFabrics().fabrics;
  EXPECT_NE(with, before);
  EXPECT_EQ(names(), std::vector<std::string>{"example.com/x1"});
  job.meta.key.name = "second";
  store_.Put(api::TrainingJob(job));
  EXPECT_EQ(store_.SnapshotFabrics().fabrics, with);
  store_.Remove<api::TrainingJob>({.key = {"ns", "own"}});
  EXPECT_EQ(names().size(), 1U);
  store_.Remove<api::TrainingJob>({.key = {"ns", "second"}});
  EXPECT_TRUE(names().empty());
  EXPECT_NE(store_.SnapshotFabrics().fabrics, with);
}

TEST(Store, ResourcesOfTheSettingsAreNamedWhateverJobsDo) {
  Store store([] { return UnixSeconds{}; }, {"example.com/x1", "nvidia.com/gpu"});
  api::TrainingJob job;
  job.meta.key = {"ns", "own"};
  job.accelerator.resource_name = "example.com/x1";
  store.Put(api::TrainingJob(job));
  store.Remove<api::TrainingJob>({.key = job.meta.key});
  for (const api::Inputs& inputs : {store.SnapshotFabrics().inputs, store.TakeSnapshot().inputs}) {
    EXPECT_EQ(inputs.accelerator_settings,
              (std::vector<std::string>{"example.com/x1", "nvidia.com/gpu"}));
    EXPECT_TRUE(inputs.accelerator_resources.empty());
  }
}

}  // namespace
}  // namespace weft::watch
