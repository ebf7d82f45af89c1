#include "operator/cluster/volumes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "operator/cluster/workload.h"
#include "operator/fabric/node_facts.h"
#include "operator/rules/volumes.h"
#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

using rules::VolumeRules;

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kOldZone = "failure-domain.beta.kubernetes.io/zone";

std::vector<rules::NodeSelectorTerm> In(const char* key, std::vector<std::string> values) {
  return {{{{key, "In", std::move(values)}}, {}}};
}

// A job of two workers that name the claim data of class fast, and whose objects are all known.
struct StorageScene : testing::Scene {
  StorageScene() : testing::Scene(testing::FourNodes()) {
    Job("job", 2).pod.terms = fabric::PodTerms{.volumes = {{.claim = "data"}}};
    inputs.knows_claims = inputs.knows_volumes = inputs.knows_classes = true;
  }

  api::VolumeClaim& Claim(const std::string& name, const std::string& volume = "") {
    api::VolumeClaim claim;
    claim.meta.key = {"ns", name};
    claim.storage_class = "fast";
    claim.bytes = 10;
    claim.access_modes = {"ReadWriteMany"};
    claim.volume = volume;
    claim.served = true;
    claim.bound = !volume.empty();
    inputs.volume_claims.push_back(std::move(claim));
    return inputs.volume_claims.Edit(inputs.volume_claims.size() - 1);
  }

  // Free, unless a claim is bound to it.
  api::PersistentVolume& Volume(const std::string& name, std::int64_t bytes = 10) {
    api::PersistentVolume volume;
    volume.meta.key.name = name;
    volume.storage_class = "fast";
    volume.bytes = bytes;
    volume.access_modes = {"ReadWriteMany", "ReadWriteOncePod"};
    volume.available = true;
    inputs.volumes.push_back(std::move(volume));
    return inputs.volumes.Edit(inputs.volumes.size() - 1);
  }

  api::StorageClass& Class(bool waits, const char* provisioner = "disks") {
    api::StorageClass one;
    one.meta.key.name = "fast";
    one.provisioner = provisioner;
    one.waits = waits;
    return inputs.storage_classes.emplace_back(std::move(one));
  }

  void Limit(const std::string& node, std::int64_t volumes) {
    api::CsiNode limits;
    limits.meta.key.name = node;
    limits.limits["disks"] = volumes;
    inputs.csi_nodes.push_back(std::move(limits));
  }

  VolumeRules Rules() const {
    const Cluster cluster = Build();
    const auto pending = PendingWorkloads(cluster, Order::kFile);
    EXPECT_TRUE(pending && pending->size() == 1);
    EXPECT_TRUE(pending->front().pod.terms->volumes.empty());  // only what restricts is left
    return *pending->front().pod.volumes;
  }
};

struct Case {
  const char* name;
  std::function<void(StorageScene&)> make;
  const char* blocked = "";
  std::vector<std::string> places = {};  // their texts
};

const Case kCases[] = {
    {"a claim that does not exist", [](StorageScene&) {}, "its claim data does not exist"},
    {"a claim of another namespace",
     [](StorageScene& s) { s.Claim("data").meta.key.space = "other"; },
     "its claim data does not exist"},
    {"claims that may not be read", [](StorageScene& s) { s.inputs.knows_claims = false; }},
    {"a claim that is being deleted",
     [](StorageScene& s) { s.Claim("data", "pv").meta.deleting = true; },
     "its claim data is being deleted"},
    {"a claim that has lost its volume", [](StorageScene& s) { s.Claim("data", "pv").lost = true; },
     "its claim data has lost its volume pv"},
    {"a volume that does not exist", [](StorageScene& s) { s.Claim("data", "pv"); },
     "its claim data is bound to volume pv, which does not exist"},
    {"volumes that may not be read",
     [](StorageScene& s) {
       s.Claim("data", "pv");
       s.inputs.knows_volumes = false;
     }},
    {"a volume without affinity",
     [](StorageScene& s) {
       s.Claim("data", "pv");
       s.Volume("pv");
     }},
    {"a volume of a zone",
     [](StorageScene& s) {
       s.Claim("data", "pv");
       s.Volume("pv").affinity = In(kZone, {"a", "b"});
     },
     "",
     {"its claim data is bound to volume pv in zone a, b"}},
    {"a local volume",
     [](StorageScene& s) {
       s.Claim("data", "pv");
       s.Volume("pv").affinity = In(fabric::kHostNameLabel, {"n1"});
     },
     "",
     {"its claim data is bound to volume pv on node n1"}},
    {"a volume with another label",
     [](StorageScene& s) {
       s.Claim("data", "pv");
       s.Volume("pv").affinity = In("disk", {"ssd"});
     },
     "",
     {"its claim data is bound to volume pv on nodes with disk In (ssd)"}},
    {"a volume's zone label",
     [](StorageScene& s) {
       s.Claim("data", "pv");
       s.Volume("pv").meta.labels.Set(kOldZone, "a__b");
     },
     "",
     {"its claim data is bound to volume pv in zone a, b"}},
    {"a zone label with an empty part does not count",
     [](StorageScene& s) {
       s.Claim("data", "pv");
       s.Volume("pv").meta.labels.Set(kZone, "a__");
     }},
    {"an unbound claim without a class",
     [](StorageScene& s) { s.Claim("data").storage_class = ""; },
     "its claim data is not bound to a volume yet"},
    {"an unbound claim of a class that does not exist", [](StorageScene& s) { s.Claim("data"); },
     "its claim data is not bound to a volume yet"},
    {"classes that may not be read",
     [](StorageScene& s) {
       s.Claim("data");
       s.inputs.knows_classes = false;
     }},
    {"a claim that names its volume, and classes that may not be read",
     [](StorageScene& s) {
       s.Claim("data").volume = "pv";
       s.inputs.knows_classes = false;
     },
     "its claim data is not bound to a volume yet"},
    {"an unbound Immediate claim",
     [](StorageScene& s) {
       s.Claim("data");
       s.Class(false);
     },
     "its claim data is not bound to a volume yet"},
    {"an Immediate claim of a file",
     [](StorageScene& s) {
       s.Claim("data").served = false;
       s.Class(false);
     }},
    {"a claim that waits for its first pod",
     [](StorageScene& s) {
       s.Claim("data");
       s.Class(true);
     }},
    {"one of a class with allowedTopologies",
     [](StorageScene& s) {
       s.Claim("data");
       s.Class(true).topologies = In(kZone, {"a"});
     },
     "",
     {"its claim data gets a volume of class fast in zone a"}},
    {"one for which a volume is being made",
     [](StorageScene& s) {
       s.Claim("data").selected_node = "n2";
       s.Class(true);
     },
     "",
     {"its claim data gets a volume on node n2"}},
    {"one whose class makes no volumes, and none is free",
     [](StorageScene& s) {
       s.Claim("data");
       s.Class(true, api::kNoProvisioner);
     },
     "its claim data finds no free volume of class fast"},
};

TEST(Volumes, SayWhereClaimsLetAWorkerRun) {
  for (const Case& c : kCases) {
    StorageScene scene;
    c.make(scene);
    const VolumeRules rules = scene.Rules();
    EXPECT_EQ(rules.blocked, c.blocked) << c.name;
    std::vector<std::string> places;
    for (const VolumeRules::Place& place : rules.places) places.push_back(place.text);
    EXPECT_EQ(places, c.places) << c.name;
    EXPECT_TRUE(rules.soles.empty() && rules.unbound.empty() && rules.attached.empty()) << c.name;
  }
}

TEST(Volumes, WithAZoneLabelLetNodesWithoutLabelsPass) {
  StorageScene scene;
  scene.Claim("data", "pv");
  scene.Volume("pv").meta.labels.Set(kOldZone, "a");
  const VolumeRules rules = scene.Rules();
  ASSERT_EQ(rules.places.size(), 1U);
  const auto passes = [&](TextMap labels) {
    fabric::NodeFacts node;
    node.labels = std::move(labels);
    rules::PodRequirements pod;
    pod.volumes = rules;
    return rules::MissedPlace(pod, node) == nullptr;
  };
  EXPECT_TRUE(passes({}));
  EXPECT_TRUE(passes({{kOldZone, "a"}}));
  EXPECT_TRUE(passes({{kZone, "a"}}));
  EXPECT_FALSE(passes({{kZone, "b"}}));
  EXPECT_FALSE(passes({{kOldZone, "b"}, {kZone, "a"}}));
  EXPECT_FALSE(passes({{"topology.kubernetes.io/region", "a"}}));
}

TEST(Volumes, OfferAClaimTheSmallestFreeOnesFirst) {
  StorageScene scene;
  scene.Claim("data");
  scene.Class(true, api::kNoProvisioner);
  scene.Volume("large", 20).affinity = In(fabric::kHostNameLabel, {"n1"});
  scene.Volume("fits");
  scene.Volume("too-small", 5);
  scene.Volume("taken").claim = {"ns", "other"};
  scene.Volume("bound").available = false;
  scene.Volume("slow").storage_class = "slow";
  scene.Volume("raw").block = true;
  scene.Volume("one-pod").access_modes = {"ReadWriteOncePod"};
  scene.Volume("ending").meta.deleting = true;
  const VolumeRules::Unbound want{
      "data", true, {{"fits", {}}, {"large", In(fabric::kHostNameLabel, {"n1"})}}, false, {}};
  EXPECT_EQ(scene.Rules().unbound, std::vector<VolumeRules::Unbound>{want});
  scene.Volume("named", 30).claim = {"ns", "data"};
  scene.inputs.volumes.Edit(scene.inputs.volumes.size() - 1).available = false;
  const VolumeRules rules = scene.Rules();
  ASSERT_EQ(rules.unbound.size(), 1U);
  EXPECT_EQ(rules.unbound.front().volumes, (std::vector<rules::FreeVolume>{{"named", {}}}));
}

TEST(Volumes, OfOnePodAreSeenWhereverThePodRuns) {
  StorageScene scene;
  scene.Claim("data", "pv").access_modes = {"ReadWriteOncePod"};
  scene.Volume("pv");
  EXPECT_EQ(scene.Rules().soles, (std::vector<VolumeRules::Sole>{{"data", true}}));
  EXPECT_EQ(scene.Rules().blocked, "");
  scene.Pod("reader", "elsewhere").pod.terms = fabric::PodTerms{.volumes = {{.claim = "data"}}};
  EXPECT_EQ(scene.Rules().blocked,
            "its claim data allows one pod (ReadWriteOncePod), and pod reader uses it");
}

TEST(Volumes, OfDriversWithLimitsAreCounted) {
  StorageScene scene;
  scene.inputs.jobs.Edit(0).pod.terms = fabric::PodTerms{
      .volumes = {{.claim = "data"},
                  {.claim = "scratch", .own = true, .storage_class = "fast", .bytes = 1}}};
  scene.Claim("data", "pv");
  scene.Class(true);
  api::PersistentVolume& volume = scene.Volume("pv");
  volume.driver = "disks";
  volume.handle = "v1";
  EXPECT_TRUE(scene.Rules().attached.empty());
  scene.Limit("n1", 2);
  const VolumeRules rules = scene.Rules();
  ASSERT_EQ(rules.attached.size(), 1U);
  const VolumeRules::Attached& attached = rules.attached.front();
  EXPECT_EQ(attached.driver, "disks");
  EXPECT_EQ(attached.shared, std::vector<std::string>{"v1"});
  EXPECT_EQ(attached.own, 1U);
  EXPECT_EQ(attached.of->limits.at("n1"), 2);
  EXPECT_EQ(attached.of->handles.at({"ns", "data"}), "v1");
  EXPECT_EQ(rules, scene.Rules());  // equal in the next pass, too
}

TEST(Volumes, OfPodsThatDifferLimitTheGangAsFarAsAllDo) {
  StorageScene scene;
  for (const char* name : {"a", "b"}) {
    scene.Claim(std::string("own-") + name, std::string("pv-") + name);
    scene.Volume(std::string("pv-") + name).affinity = In(kZone, {"a"});
  }
  scene.inputs.volumes.Edit(1).meta.labels.Set(kZone, "b");
  scene.Claim("data", "pv");
  scene.Volume("pv").affinity = In("disk", {"ssd"});
  const Cluster cluster = scene.Build();
  const fabric::PodTerms first{.volumes = {{.claim = "own-a"}, {.claim = "data"}}};
  const fabric::PodTerms second{.volumes = {{.claim = "data"}, {.claim = "own-b"}}};
  const fabric::PodTerms* const pods[] = {&first, &second};
  rules::PodRequirements pod;
  pod.terms = first;
  Volumes(cluster).Resolve("ns", pods, pod);
  std::vector<std::string> places;
  for (const VolumeRules::Place& place : pod.volumes->places) places.push_back(place.text);
  EXPECT_EQ(places, (std::vector<std::string>{
                        "its claim data is bound to volume pv on nodes with disk In (ssd)",
                        "its claim own-a is bound to volume pv-a in zone a"}));
  EXPECT_FALSE(pod.terms.present());
}

}  // namespace
}  // namespace weft::cluster
