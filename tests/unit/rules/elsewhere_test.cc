#include "operator/fabric/elsewhere.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "operator/rules/node_filter.h"
#include "operator/rules/preferred_pods.h"

namespace weft::rules {
namespace {

using fabric::Elsewhere;
using fabric::PodTerm;
using fabric::PodTerms;
using Slots = std::vector<std::uint32_t>;

constexpr const char* kZoneLabel = "topology.kubernetes.io/zone";

fabric::NodeFacts NodeIn(const std::string& name, const std::string& zone) {
  fabric::NodeFacts node;
  node.name = name;
  if (!zone.empty()) node.labels.Set(kZoneLabel, zone);
  node.conditions = {{"Ready", "True"}};
  return node;
}

// Nodes g0 to g3 with eight GPUs: two in zone a, one in b, one without a zone.
fabric::Fabric FourGpuNodes() {
  SharedList<fabric::NodeFacts> nodes;
  for (const char* zone : {"a", "a", "b", ""}) {
    fabric::NodeFacts node = NodeIn("g" + std::to_string(nodes.size()), zone);
    node.allocatable = {{"nvidia.com/gpu", 8}};
    nodes.push_back(std::move(node));
  }
  auto fabric = fabric::Fabric::Build({}, std::move(nodes), {});
  EXPECT_TRUE(fabric.has_value());
  return std::move(*fabric);
}

fabric::LabelSelector OfApp(const std::string& app) { return {{{"app", app}}, {}}; }
PodTerm InZone(const std::string& app) { return {kZoneLabel, OfApp(app), {}, false}; }

// A pod on a CPU node.
struct Beyond {
  std::string node, app, space = "team";
  PodTerms terms = {};
  bool ending = false;
};

// Workers of four GPUs with the label app=train in the namespace team. The CPU nodes a, b and c are
// in the zones of their names, c with a taint; the node "none" is in no zone.
struct Case {
  const char* name;
  PodTerms terms;
  std::vector<Beyond> pods;
  Slots slots;
  std::uint32_t cap = 100;
};

PodTerms Away(PodTerm term) { return {.anti_affinity = {std::move(term)}}; }
PodTerms Beside(PodTerm term) { return {.affinity = {std::move(term)}}; }
PodTerms Evenly(bool honor_affinity, bool honor_taints, std::int64_t min_domains = 1) {
  return {.spread = {{kZoneLabel, 1, min_domains, OfApp("train"), honor_affinity, honor_taints}}};
}

const Case kBeyondCases[] = {
    {"no rule", {}, {{"a", "web"}}, {2, 2, 2, 2}},
    {"affinity to a pod of the zone", Beside(InZone("web")), {{"b", "web"}}, {0, 0, 2, 0}},
    {"affinity to a pod of a zone without GPUs", Beside(InZone("web")), {{"c", "web"}}, Slots(4)},
    {"affinity to pods of other namespaces",
     Beside({kZoneLabel, OfApp("web"), {"other"}, false}),
     {{"b", "web", "other"}, {"a", "web"}},
     {0, 0, 2, 0}},
    {"affinity to pods of all namespaces",
     Beside({kZoneLabel, OfApp("web"), {}, true}),
     {{"b", "web", "other"}},
     {0, 0, 2, 0}},
    {"the first of a group is not first", Beside(InZone("train")), {{"b", "train"}}, {0, 0, 2, 0}},
    {"a pod on a node without the label is not beside anybody",
     Beside(InZone("train")),
     {{"none", "train"}},
     {2, 2, 0, 0}},
    {"all terms by one pod",
     {.affinity = {InZone("web"), {fabric::kHostNameLabel, OfApp("web"), {}, false}}},
     {{"b", "web"}},
     Slots(4)},
    {"anti-affinity to a pod of the zone", Away(InZone("web")), {{"a", "web"}}, {0, 0, 2, 2}},
    {"a pod that ends still counts",
     Away(InZone("web")),
     {{"a", "web", "team", {}, true}},
     {0, 0, 2, 2}},
    {"another namespace does not", Away(InZone("web")), {{"a", "web", "other"}}, {2, 2, 2, 2}},
    {"their anti-affinity", {}, {{"a", "web", "team", Away(InZone("train"))}}, {0, 0, 2, 2}},
    {"theirs from another namespace",
     {},
     {{"b", "web", "other", Away({kZoneLabel, OfApp("train"), {"team"}, false})}},
     {2, 2, 0, 2}},
    {"theirs from another namespace about their own",
     {},
     {{"b", "web", "other", Away(InZone("train"))}},
     {2, 2, 2, 2}},
    {"theirs about all namespaces",
     {},
     {{"b", "web", "other", Away({kZoneLabel, OfApp("train"), {}, true})}},
     {2, 2, 0, 2}},
    {"theirs by node concerns their node only",
     {},
     {{"a", "web", "team", Away({fabric::kHostNameLabel, OfApp("train"), {}, false})}},
     {2, 2, 2, 2}},
    {"theirs on a node without the label",
     {},
     {{"none", "web", "team", Away(InZone("train"))}},
     {2, 2, 2, 2}},
    {"ports are of nodes",
     {.host_ports = {{"TCP", "", 22}}},
     {{"a", "web", "team", {.host_ports = {{"TCP", "", 22}}}}},
     {1, 1, 1, 1}},
    {"a spread counts pods of the zone", Evenly(true, false), {{"a", "train"}}, {1, 0, 2, 0}, 3},
    {"but none that ends",
     Evenly(true, false),
     {{"a", "train", "team", {}, true}},
     {2, 0, 1, 0},
     3},
    {"with Ignore the empty zone c holds the others down", Evenly(false, false), {}, {1, 0, 1, 0}},
    {"with Honor it is not of the job's kind", Evenly(true, false), {}, {2, 0, 1, 0}, 3},
    {"nor with Ignore, if its taint counts", Evenly(false, true), {}, {2, 0, 1, 0}, 3},
    {"with Ignore c has a pod", Evenly(false, false), {{"c", "train"}}, {2, 0, 1, 0}, 3},
    {"c is the third of minDomains", Evenly(false, false, 3), {{"c", "train"}}, {2, 0, 1, 0}, 3},
};

// The CPU nodes of kBeyondCases with pods.
class BeyondScene {
 public:
  explicit BeyondScene(const std::vector<Beyond>& pods) {
    for (const char* zone : {"a", "b", "c", ""}) {
      const std::string name = *zone == '\0' ? "none" : zone;
      nodes_[name] = NodeIn("cpu-" + name, zone);
    }
    nodes_["c"].taints = {{"only", "web", "NoSchedule"}};
    auto all = std::make_shared<Elsewhere>();
    for (const auto& [name, node] : nodes_) all->AddNode({&node, Elsewhere::kNoFabric});
    for (const Beyond& pod : pods) labels_.push_back({{"app", pod.app}});
    for (std::size_t p = 0; p < pods.size(); ++p) {
      const Beyond& pod = pods[p];
      all->AddPod({&nodes_[pod.node], Elsewhere::kNoFabric},
                  {&pod.space, &labels_[p], &pod.terms, pod.ending});
    }
    elsewhere_ = all;
  }

  Elsewhere::View Seen() const { return {elsewhere_, 0}; }

 private:
  std::map<std::string, fabric::NodeFacts> nodes_;
  std::vector<TextMap> labels_;
  std::shared_ptr<const Elsewhere> elsewhere_;
};

PodRequirements Worker(const PodTerms& terms) {
  PodRequirements pod;
  pod.requests = {{"nvidia.com/gpu", 4}};
  pod.labels = {{"app", "train"}};
  pod.terms = terms;
  return pod;
}

TEST(Elsewhere, CountsInRulesBetweenPods) {
  const fabric::Fabric fabric = FourGpuNodes();
  for (const Case& c : kBeyondCases) {
    const BeyondScene scene(c.pods);
    fabric::Claims claims(fabric);
    claims.See(scene.Seen());
    const PodRequirements pod = Worker(c.terms);
    const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = c.cap};
    fabric::ByNode<std::uint32_t> slots;
    CountSlots(claims, query, slots);
    EXPECT_EQ(slots.Items(), c.slots) << c.name;
  }
}

TEST(Elsewhere, DoesNotCountAsIfNothingElseRan) {
  const fabric::Fabric fabric = FourGpuNodes();
  const std::vector<Beyond> pods = {{"a", "web", "team", Away(InZone("train"))}};
  const BeyondScene scene(pods);
  fabric::Claims claims(fabric);
  claims.See(scene.Seen());
  const PodRequirements pod = Worker(Away(InZone("web")));
  SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 8};
  query.ignore_claims = true;
  fabric::ByNode<std::uint32_t> slots;
  CountSlots(claims, query, slots);
  EXPECT_EQ(slots.Items(), (Slots{2, 2, 2, 2}));
}

// A Fabric does not see its own nodes there, but those of others.
TEST(Elsewhere, IsWhatAnotherFabricHas) {
  const fabric::Fabric fabric = FourGpuNodes();
  const fabric::NodeFacts there = NodeIn("x", "a");
  const std::string space = "team";
  const TextMap web = {{"app", "web"}};
  auto all = std::make_shared<Elsewhere>();
  all->AddNode({&there, 1});
  all->AddPod({&there, 1}, {&space, &web, nullptr, false});
  const PodRequirements pod = Worker(Away(InZone("web")));
  const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 8};
  for (const Elsewhere::Home own : {0U, 1U}) {
    fabric::Claims claims(fabric);
    claims.See({all, own});
    fabric::ByNode<std::uint32_t> slots;
    CountSlots(claims, query, slots);
    EXPECT_EQ(slots.Items(), own == 0 ? (Slots{0, 0, 2, 2}) : (Slots{2, 2, 2, 2})) << own;
  }
}

TEST(Elsewhere, CountsInWishes) {
  const fabric::Fabric fabric = FourGpuNodes();
  const std::vector<Beyond> pods = {
      {"a", "web", "team", {.preferred = {{-5, InZone("train")}}}},
      {"b", "cache", "team", Beside(InZone("train"))},
  };
  const BeyondScene scene(pods);
  fabric::Claims claims(fabric);
  claims.See(scene.Seen());
  const auto wishes = [&](const PodTerms& terms) {
    const PodRequirements pod = Worker(terms);
    const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 8};
    return PreferredPodsBy(claims, query).Items();
  };
  EXPECT_EQ(wishes({}), (std::vector<std::int64_t>{-5, -5, 1, 0}));
  EXPECT_EQ(wishes({.preferred = {{7, InZone("web")}}}), (std::vector<std::int64_t>{2, 2, 1, 0}));

  const PodRequirements pod =
      Worker({.preferred_spread = {{kZoneLabel, 1, 1, OfApp("web"), true, false}}});
  const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 8};
  const auto crowded = CrowdedBy(claims, query);
  EXPECT_GT(crowded[fabric::NodeIndex{0}], crowded[fabric::NodeIndex{2}]);
}

// A pod elsewhere that holds a claim for one pod keeps the workers off all nodes.
TEST(Elsewhere, HoldsAVolumeOfOnePod) {
  const fabric::Fabric fabric = FourGpuNodes();
  for (const char* claim : {"data", "other"}) {
    const std::vector<Beyond> pods = {{"c", "web", "team", {.volumes = {{.claim = claim}}}}};
    const BeyondScene scene(pods);
    fabric::Claims claims(fabric);
    claims.See(scene.Seen());
    PodRequirements pod = Worker({.volumes = {{.claim = "data"}}});
    VolumeRules volumes;
    volumes.soles.push_back({.claim = "data", .shared = true});
    pod.volumes = volumes;
    const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 1};
    fabric::ByNode<std::uint32_t> slots;
    CountSlots(claims, query, slots);
    const bool held = std::string(claim) == "data";
    EXPECT_EQ(slots.Items(), held ? Slots(4) : (Slots{1, 1, 1, 1})) << claim;
  }
}

}  // namespace
}  // namespace weft::rules
