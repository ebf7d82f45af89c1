#include "operator/rules/between_pods.h"

#include <functional>
#include <map>

#include "gtest/gtest.h"
#include "operator/rules/node_filter.h"
#include "operator/rules/node_judge.h"

namespace weft::rules {
namespace {

using fabric::HostPort;
using fabric::NodeIndex;
using fabric::PodTerm;
using fabric::PodTerms;
using fabric::SpreadRule;
using Slots = std::vector<std::uint32_t>;

constexpr const char* kZone = "topology.kubernetes.io/zone";

// Nodes of eight GPUs: two in zone a, two in zone b, one without a zone.
fabric::Fabric FiveNodes() {
  SharedList<fabric::NodeFacts> nodes;
  for (const char* zone : {"a", "a", "b", "b", ""}) {
    fabric::NodeFacts node;
    node.name = "n" + std::to_string(nodes.size());
    if (*zone != '\0') node.labels.Set(kZone, zone);
    node.conditions = {{"Ready", "True"}};
    node.allocatable = {{"nvidia.com/gpu", 8}};
    nodes.push_back(std::move(node));
  }
  auto fabric = fabric::Fabric::Build({}, std::move(nodes), {});
  EXPECT_TRUE(fabric.has_value()) << (fabric ? "" : fabric.error().message);
  return std::move(*fabric);
}

fabric::LabelSelector App(const std::string& app) { return {{{"app", app}}, {}}; }
PodTerm ByZone(const std::string& app) { return {kZone, App(app), {}, false}; }
PodTerm ByHost(const std::string& app) { return {fabric::kHostNameLabel, App(app), {}, false}; }

// What is required.
struct Terms {
  std::vector<HostPort> host_ports;
  std::vector<PodTerm> affinity, anti_affinity;
  std::vector<SpreadRule> spread;

  PodTerms All() const { return {host_ports, affinity, anti_affinity, spread, {}, {}}; }
};

// A pod that runs.
struct Running {
  std::uint32_t node = 0;
  std::string app, space = "team";
  Terms terms = {};
  bool ending = false;
};

// Workers of two GPUs with the label app=train in the namespace team.
struct Case {
  const char* name;
  Terms terms;
  std::vector<Running> running;
  Slots slots;
  std::uint32_t cap = 100;
  const char* why_of_last = "";  // of the last node without slots
};

const Terms kSsh = {{{"TCP", "", 22}}, {}, {}, {}};

const Case kCases[] = {
    {"no rule", {}, {{0, "other"}}, {4, 4, 4, 4, 4}},
    {"one worker a node by its port", kSsh, {}, {1, 1, 1, 1, 1}},
    {"a port that is taken",
     kSsh,
     {{1, "x", "other", kSsh}},
     {1, 0, 1, 1, 1},
     100,
     "host port 22/TCP is held by another pod"},
    {"another protocol",
     kSsh,
     {{1, "x", "other", {{{"UDP", "", 22}}, {}, {}, {}}}},
     {1, 1, 1, 1, 1}},
    {"one address clashes with all",
     kSsh,
     {{1, "x", "other", {{{"TCP", "10.0.0.1", 22}}, {}, {}, {}}}},
     {1, 0, 1, 1, 1},
     100,
     "host port 22/TCP is held by another pod"},
    {"another address",
     {{{"TCP", "10.0.0.2", 22}}, {}, {}, {}},
     {{1, "x", "other", {{{"TCP", "10.0.0.1", 22}}, {}, {}, {}}}},
     {1, 1, 1, 1, 1}},
    {"apart by node", {{}, {}, {ByHost("train")}, {}}, {}, {1, 1, 1, 1, 1}},
    {"apart by zone; a node without one is free",
     {{}, {}, {ByZone("train")}, {}},
     {},
     {1, 0, 1, 0, 4},
     100,
     "anti-affinity to the other workers, by topology.kubernetes.io/zone"},
    {"away from others",
     {{}, {}, {ByZone("web")}, {}},
     {{1, "web"}},
     {0, 0, 4, 4, 4},
     100,
     "anti-affinity to pods that run there, by topology.kubernetes.io/zone"},
    {"others of another namespace do not count",
     {{}, {}, {ByZone("web")}, {}},
     {{1, "web", "prod"}},
     {4, 4, 4, 4, 4}},
    {"unless the term names it",
     {{}, {}, {{kZone, App("web"), {"prod"}, false}}, {}},
     {{1, "web", "prod"}},
     {0, 0, 4, 4, 4},
     100,
     "anti-affinity to pods that run there, by topology.kubernetes.io/zone"},
    {"or all",
     {{}, {}, {{kZone, App("web"), {}, true}}, {}},
     {{1, "web", "prod"}},
     {0, 0, 4, 4, 4},
     100,
     "anti-affinity to pods that run there, by topology.kubernetes.io/zone"},
    {"others keep away",
     {},
     {{2, "x", "team", {{}, {}, {ByZone("train")}, {}}}},
     {4, 4, 0, 0, 4},
     100,
     "anti-affinity of pods that run there, by topology.kubernetes.io/zone"},
    {"others keep away from their own namespace only",
     {},
     {{2, "x", "prod", {{}, {}, {ByZone("train")}, {}}}},
     {4, 4, 4, 4, 4}},
    {"a pod on a node without the label keeps nobody away",
     {},
     {{4, "x", "team", {{}, {}, {ByZone("train")}, {}}}},
     {4, 4, 4, 4, 4}},
    {"a term without a selector means nobody",
     {{}, {}, {{kZone, {}, {}, false}}, {}},
     {},
     {4, 4, 4, 4, 4}},
    {"beside others",
     {{}, {ByZone("web")}, {}, {}},
     {{3, "web"}},
     {0, 0, 4, 4, 0},
     100,
     "affinity to pods that run, by topology.kubernetes.io/zone"},
    {"beside others that are not there",
     {{}, {ByZone("web")}, {}, {}},
     {},
     {0, 0, 0, 0, 0},
     100,
     "affinity to pods that run, by topology.kubernetes.io/zone"},
    {"together, where most room is",
     {{}, {ByZone("train")}, {}, {}},
     {{0, "x", "team", {}}},
     {4, 4, 0, 0, 0},
     100,
     "affinity to the other workers, by topology.kubernetes.io/zone"},
    {"together, where one runs already",
     {{}, {ByZone("train")}, {}, {}},
     {{2, "train"}},
     {0, 0, 4, 4, 0},
     100,
     "affinity to pods that run, by topology.kubernetes.io/zone"},
    {"spread with one of skew",
     {{}, {}, {}, {{kZone, 1, 1, App("train")}}},
     {},
     {1, 0, 1, 0, 0},
     2,
     "topologySpreadConstraints by topology.kubernetes.io/zone: the node lacks the label"},
    {"spread of eight in two zones",
     {{}, {}, {}, {{kZone, 1, 1, App("train")}}},
     {},
     {4, 0, 4, 0, 0},
     8,
     "topologySpreadConstraints by topology.kubernetes.io/zone: the node lacks the label"},
    {"a pod that runs counts",
     {{}, {}, {}, {{kZone, 1, 1, App("train")}}},
     {{0, "train"}},
     {1, 0, 2, 0, 0},
     3,
     "topologySpreadConstraints by topology.kubernetes.io/zone: the node lacks the label"},
    {"a spread over others' pods only",
     {{}, {}, {}, {{kZone, 1, 1, App("web")}}},
     {{0, "web"}},
     {4, 4, 4, 4, 0},
     100,
     "topologySpreadConstraints by topology.kubernetes.io/zone: the node lacks the label"},
    {"a spread over others' pods, of which one zone has too many",
     {{}, {}, {}, {{kZone, 1, 1, App("web")}}},
     {{0, "web"}, {1, "web"}},
     {0, 0, 4, 4, 0},
     100,
     "topologySpreadConstraints by topology.kubernetes.io/zone: the node lacks the label"},
    {"a pod that is being deleted does not count",
     {{}, {}, {}, {{kZone, 1, 1, App("web")}}},
     {{0, "web"}, {1, "web", "team", {}, true}},
     {4, 4, 4, 4, 0},
     100,
     "topologySpreadConstraints by topology.kubernetes.io/zone: the node lacks the label"},
    {"it does for anti-affinity",
     {{}, {}, {ByZone("web")}, {}},
     {{1, "web", "team", {}, true}},
     {0, 0, 4, 4, 4},
     100,
     "anti-affinity to pods that run there, by topology.kubernetes.io/zone"},
    {"and for ports",
     kSsh,
     {{1, "x", "other", kSsh, true}},
     {1, 0, 1, 1, 1},
     100,
     "host port 22/TCP is held by another pod"},
    {"with minDomains a node of a pinned worker takes no more than the skew",
     {{}, {}, {}, {{kZone, 1, 2, App("train")}}},
     {},
     {1, 1, 1, 1, 0},
     8,
     "topologySpreadConstraints by topology.kubernetes.io/zone: the node lacks the label"},
    {"unless all nodes count",
     {{}, {}, {}, {{kZone, 1, 2, App("train"), false, false}}},
     {},
     {4, 0, 4, 0, 0},
     8,
     "topologySpreadConstraints by topology.kubernetes.io/zone: the node lacks the label"},
    {"too few domains",
     {{}, {}, {}, {{kZone, 1, 3, App("train")}}},
     {},
     {1, 0, 1, 0, 0},
     8,
     "topologySpreadConstraints by topology.kubernetes.io/zone: the node lacks the label"},
};

TEST(KeepApart, KeepsTheRulesBetweenPods) {
  const fabric::Fabric fabric = FiveNodes();
  for (const Case& c : kCases) {
    std::vector<TextMap> labels;
    std::vector<PodTerms> terms;
    for (const Running& pod : c.running) {
      labels.push_back({{"app", pod.app}});
      terms.push_back(pod.terms.All());
    }
    fabric::Claims claims(fabric);
    for (std::size_t p = 0; p < c.running.size(); ++p) {
      const Running& pod = c.running[p];
      claims.Add(NodeIndex{pod.node}, {}, "", {&pod.space, &labels[p], &terms[p], pod.ending});
    }
    PodRequirements pod;
    pod.requests = {{"nvidia.com/gpu", 2}};
    pod.terms = c.terms.All();
    pod.labels = {{"app", "train"}};
    const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = c.cap};
    fabric::ByNode<std::uint32_t> slots;
    CountSlots(claims, query, slots);
    EXPECT_EQ(slots.Items(), c.slots) << c.name;
    const NodeJudge judge(claims, query);
    std::string why;
    for (std::uint32_t n = 0; n < c.slots.size(); ++n) {
      const Verdict verdict = judge.Judge(NodeIndex{n});
      EXPECT_EQ(verdict.rejection == Rejection::kNone, c.slots[n] > 0) << c.name << " n" << n;
      if (!verdict.detail.empty()) why = verdict.detail;
    }
    EXPECT_EQ(why, c.why_of_last) << c.name;
  }
}

// Nodes of eight GPUs with a zone and a rack; an empty one lacks the label.
fabric::Fabric ZonesAndRacks(const std::vector<std::pair<std::string, std::string>>& of_node) {
  SharedList<fabric::NodeFacts> nodes;
  for (const auto& [zone, rack] : of_node) {
    fabric::NodeFacts node;
    node.name = "n" + std::to_string(nodes.size());
    if (!zone.empty()) node.labels.Set(kZone, zone);
    if (!rack.empty()) node.labels.Set("rack", rack);
    node.conditions = {{"Ready", "True"}};
    node.allocatable = {{"nvidia.com/gpu", 8}};
    nodes.push_back(std::move(node));
  }
  auto fabric = fabric::Fabric::Build({}, std::move(nodes), {});
  EXPECT_TRUE(fabric.has_value());
  return std::move(*fabric);
}

// Where each rule after the other would leave too few slots.
TEST(KeepApart, RulesThatMeetLeaveSlotsForAPlacementThatKeepsAll) {
  const PodTerm by_rack = {"rack", App("train"), {}, false};
  const SpreadRule by_zone = {kZone, 1, 1, App("train")};
  const struct {
    const char* name;
    std::vector<std::pair<std::string, std::string>> nodes;
    Terms terms;
    std::uint32_t workers;
    Slots slots;
  } cases[] = {
      {"apart by zone and by rack",
       {{"a", "1"}, {"a", "2"}, {"b", "1"}},
       {{}, {}, {ByZone("train"), by_rack}, {}},
       2,
       {0, 1, 1}},
      {"three workers find no place in two zones",
       {{"a", "1"}, {"a", "2"}, {"b", "1"}},
       {{}, {}, {ByZone("train"), by_rack}, {}},
       3,
       {1, 0, 0}},
      {"apart by rack, in one zone",
       {{"a", "1"}, {"b", "2"}, {"a", "2"}},
       {{}, {ByZone("train")}, {by_rack}, {}},
       2,
       {1, 0, 1}},
      {"a zone with room for all by its GPUs, but with one node for their port",
       {{"a", "1"}, {"b", "2"}, {"b", "2"}, {"a", ""}},
       {{{"TCP", "", 22}}, {ByZone("train")}, {by_rack}, {}},
       2,
       {1, 0, 0, 1}},
      {"apart by rack, spread over zones",
       {{"a", "1"}, {"b", "1"}, {"a", "2"}},
       {{}, {}, {by_rack}, {by_zone}},
       2,
       {0, 1, 1}},
  };
  for (const auto& c : cases) {
    const fabric::Fabric fabric = ZonesAndRacks(c.nodes);
    const fabric::Claims claims(fabric);
    PodRequirements pod;
    pod.requests = {{"nvidia.com/gpu", 4}};
    pod.terms = c.terms.All();
    pod.labels = {{"app", "train"}};
    const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = c.workers};
    fabric::ByNode<std::uint32_t> slots;
    CountSlots(claims, query, slots);
    EXPECT_EQ(slots.Items(), c.slots) << c.name;
    const NodeJudge judge(claims, query);
    for (const NodeIndex n : slots.Indices()) {
      EXPECT_EQ(judge.Judge(n).rejection == Rejection::kNone, slots[n] > 0) << c.name;
    }
  }
}

// So a job that must be beside another's pod waits, and does not hear that it never fits.
TEST(KeepApart, AsIfNothingElseRanThePodsToBeBesideMayComeAnywhere) {
  const fabric::Fabric fabric = FiveNodes();
  const fabric::Claims claims(fabric);
  PodRequirements pod;
  pod.requests = {{"nvidia.com/gpu", 2}};
  pod.terms = Terms{{}, {ByZone("web")}, {}, {}}.All();
  SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 8};
  fabric::ByNode<std::uint32_t> slots;
  CountSlots(claims, query, slots);
  EXPECT_EQ(slots.Items(), Slots({0, 0, 0, 0, 0}));
  query.ignore_claims = true;
  CountSlots(claims, query, slots);
  EXPECT_EQ(slots.Items(), Slots({4, 4, 4, 4, 0})) << "the last node lacks the label";
}

TEST(KeepApart, APodThatIsTakenBackNoLongerCounts) {
  const fabric::Fabric fabric = FiveNodes();
  fabric::Claims claims(fabric);
  const std::string space = "team";
  const TextMap labels;
  const PodTerms ssh = kSsh.All();
  const fabric::Neighbour holder = {&space, &labels, &ssh, false};
  PodRequirements pod;
  pod.requests = {{"nvidia.com/gpu", 8}};
  pod.terms = ssh;
  const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 8};
  const auto on_first = [&] {
    fabric::ByNode<std::uint32_t> slots;
    CountSlots(claims, query, slots);
    return slots[NodeIndex{0}];
  };
  claims.Add(NodeIndex{0}, {}, "", holder);
  claims.Add(NodeIndex{0}, {}, "", holder);
  EXPECT_EQ(on_first(), 0U);
  claims.Remove(NodeIndex{0}, {}, "", holder);
  EXPECT_EQ(on_first(), 0U);
  claims.Remove(NodeIndex{0}, {}, "", holder);
  EXPECT_EQ(on_first(), 1U);
}

TEST(KeepApart, OneComputeDomainChannelANode) {
  const fabric::Fabric fabric = FiveNodes();
  const fabric::Claims claims(fabric);
  PodRequirements pod;
  pod.requests = {{"nvidia.com/gpu", 2}};
  pod.claims_compute_domain = true;
  SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 6};
  fabric::ByNode<std::uint32_t> slots;
  CountSlots(claims, query, slots);
  EXPECT_EQ(slots.Items(), (Slots{1, 1, 1, 1, 1}));
  EXPECT_EQ(BetweenWorkersText(query),
            "a node takes one worker, because it has one ComputeDomain channel");
}

// FiveNodes, of which the last is in zone c: it has a taint, a GPU too few for a worker, and
// another pool. The others have a rack too.
fabric::Fabric ThreeZones() {
  const fabric::Fabric five = FiveNodes();
  SharedList<fabric::NodeFacts> nodes;
  for (const NodeIndex n : Range<NodeIndex>(five.node_count())) {
    fabric::NodeFacts node = five.node(n);
    const bool last = n.Raw() == 4;
    node.labels.Set("pool", last ? "small" : "large");
    if (last) {
      node.labels.Set(kZone, "c");
      node.taints = {{"only", "web", "NoSchedule"}};
      node.allocatable = {{"nvidia.com/gpu", 1}};
    } else {
      node.labels.Set("rack", "r" + std::to_string(n.Raw() / 2));
    }
    nodes.push_back(std::move(node));
  }
  auto fabric = fabric::Fabric::Build({}, std::move(nodes), {});
  EXPECT_TRUE(fabric.has_value()) << (fabric ? "" : fabric.error().message);
  return std::move(*fabric);
}

TEST(KeepApart, CountsTheDomainsThatTheRulesPoliciesName) {
  const SpreadRule plain = {kZone, 1, 1, App("train"), true, false};
  const SpreadRule all = {kZone, 1, 1, App("train"), false, false};
  const SpreadRule tolerated = {kZone, 1, 1, App("train"), false, true};
  const SpreadRule by_rack = {"rack", 9, 1, App("train"), true, false};
  const std::map<std::string, std::string> large = {{"pool", "large"}};
  const std::vector<NodeSelectorTerm> not_small = {{{{"pool", "NotIn", {"small"}}}, {}}};
  struct Policy {
    const char* name;
    std::vector<SpreadRule> spread;
    std::map<std::string, std::string> node_selector;
    std::optional<std::vector<NodeSelectorTerm>> affinity;
    std::vector<Toleration> tolerations;
    Slots slots;
  };
  const Slots one_each = {1, 0, 1, 0, 0}, three_each = {3, 0, 3, 0, 0};
  const Policy cases[] = {
      {"a zone without room counts", {plain}, {}, {}, {}, one_each},
      {"nodes that the nodeSelector leaves out do not", {plain}, large, {}, {}, three_each},
      {"nor nodes that node affinity leaves out", {plain}, {}, not_small, {}, three_each},
      {"unless nodeAffinityPolicy is Ignore", {all}, large, not_small, {}, one_each},
      {"nodes with taints do not with nodeTaintsPolicy Honor", {tolerated}, {}, {}, {}, three_each},
      {"they do if the pod tolerates them",
       {tolerated},
       {},
       {},
       {{"only", "Exists", "", ""}},
       one_each},
      {"a node without the label of another rule does not",
       {plain, by_rack},
       {},
       {},
       {},
       three_each},
  };
  const fabric::Fabric fabric = ThreeZones();
  const fabric::Claims claims(fabric);
  for (const Policy& c : cases) {
    PodRequirements pod;
    pod.requests = {{"nvidia.com/gpu", 2}};
    pod.node_selector = c.node_selector;
    pod.required_affinity = c.affinity;
    pod.tolerations = c.tolerations;
    pod.labels = {{"app", "train"}};
    pod.terms = Terms{{}, {}, {}, c.spread}.All();
    const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 6};
    fabric::ByNode<std::uint32_t> slots;
    CountSlots(claims, query, slots);
    EXPECT_EQ(slots.Items(), c.slots) << c.name;
  }
}

// The last of five nodes, alone in zone c, has no room. Whether its zone counts.
TEST(KeepApart, CountsTheDomainsOfTheJobsKind) {
  struct Kind {
    const char* name;
    std::function<void(fabric::NodeFacts&)> last;
    SpreadRule rule;
    std::function<void(SlotQuery&)> query;
    bool counts;
  };
  const SpreadRule plain = {kZone, 1, 1, App("train"), true, false};
  const SpreadRule all = {kZone, 1, 1, App("train"), false, false};
  const SpreadRule tolerated = {kZone, 1, 1, App("train"), false, true};
  const auto same = [](fabric::NodeFacts&) {};
  const auto cordon = [](fabric::NodeFacts& node) { node.unschedulable = true; };
  const auto down = [](fabric::NodeFacts& node) { node.conditions = {{"Ready", "False"}}; };
  const auto other = [](fabric::NodeFacts& node) {
    node.labels.Set("nvidia.com/gpu.product", "NVIDIA-L40S");
    node.allocatable = {{"amd.com/gpu", 8}};
  };
  const auto cordon_and_taint = [](fabric::NodeFacts& node) {
    node.unschedulable = true;
    node.taints = {{"only", "web", "NoSchedule"}};
  };
  const auto as_is = [](SlotQuery&) {};
  const auto healed = [](SlotQuery& query) { query.ignore_health = true; };
  const auto excluded = [](SlotQuery& query) { query.excluded = {NodeIndex{4}}; };
  const Kind cases[] = {
      {"of the same kind", same, plain, as_is, true},
      {"of a product that does not offer the resource", other, plain, as_is, false},
      {"the same with Ignore", other, all, as_is, true},
      {"cordoned", cordon, plain, as_is, false},
      {"cordoned with Ignore", cordon, all, as_is, true},
      {"cordoned, which passes", cordon, plain, healed, true},
      {"not ready", down, plain, as_is, false},
      {"not ready, which passes", down, plain, healed, true},
      {"excluded", same, plain, excluded, false},
      {"cordoned and the policy is about taints", cordon, tolerated, as_is, false},
      {"the same, which passes", cordon, tolerated, healed, true},
      {"a lasting taint stays", cordon_and_taint, tolerated, healed, false},
  };
  for (const Kind& c : cases) {
    SharedList<fabric::NodeFacts> nodes;
    const fabric::Fabric five = FiveNodes();
    for (const NodeIndex n : Range<NodeIndex>(five.node_count())) {
      fabric::NodeFacts node = five.node(n);
      if (n.Raw() == 4) {
        node.labels.Set(kZone, "c");
        node.allocatable = {{"nvidia.com/gpu", 1}};
        c.last(node);
      }
      nodes.push_back(std::move(node));
    }
    auto fabric = fabric::Fabric::Build({}, std::move(nodes), {});
    ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
    const fabric::Claims claims(*fabric);
    PodRequirements pod;
    pod.requests = {{"nvidia.com/gpu", 2}};
    pod.labels = {{"app", "train"}};
    pod.terms = Terms{{}, {}, {}, {c.rule}}.All();
    SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 6};
    c.query(query);
    fabric::ByNode<std::uint32_t> slots;
    CountSlots(claims, query, slots);
    EXPECT_EQ(slots.Items(), c.counts ? (Slots{1, 0, 1, 0, 0}) : (Slots{3, 0, 3, 0, 0})) << c.name;
  }
}

// Two products in three zones: the zone of the product that the job does not use does not count.
TEST(KeepApart, CountsTheDomainsOfTheQuerysPools) {
  SharedList<fabric::NodeFacts> nodes;
  const fabric::Fabric five = FiveNodes();
  for (const NodeIndex n : Range<NodeIndex>(five.node_count())) {
    fabric::NodeFacts node = five.node(n);
    const bool last = n.Raw() == 4;
    if (last) node.labels.Set(kZone, "c");
    node.labels.Set("nvidia.com/gpu.product", last ? "NVIDIA-L40S" : "NVIDIA-H100-80GB-HBM3");
    nodes.push_back(std::move(node));
  }
  auto fabric = fabric::Fabric::Build({}, std::move(nodes), {});
  ASSERT_TRUE(fabric.has_value()) << fabric.error().message;
  const fabric::Claims claims(*fabric);
  PodRequirements pod;
  pod.requests = {{"nvidia.com/gpu", 2}};
  pod.labels = {{"app", "train"}};
  SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 8};
  query.pools = {fabric->pool(NodeIndex{0})};
  for (const bool honor : {true, false}) {
    pod.terms = Terms{{}, {}, {}, {{kZone, 1, 1, App("train"), honor, false}}}.All();
    fabric::ByNode<std::uint32_t> slots;
    CountSlots(claims, query, slots);
    EXPECT_EQ(slots.Items(), honor ? (Slots{4, 0, 4, 0, 0}) : (Slots{1, 0, 1, 0, 0})) << honor;
  }
}

// Every final placement within the shares has no larger skew, whatever the zones have room for.
TEST(KeepApart, SharesOfASpreadKeepItsSkew) {
  const fabric::Fabric fabric = FiveNodes();
  const std::string space = "team";
  const TextMap labels = {{"app", "train"}};
  for (std::uint32_t running = 0; running < 5; ++running) {
    for (std::uint32_t cap = 1; cap <= 16; ++cap) {
      for (std::int64_t skew = 1; skew <= 3; ++skew) {
        fabric::Claims claims(fabric);
        for (std::uint32_t p = 0; p < running; ++p) {
          claims.Add(NodeIndex{p == 3 ? 2U : 0U}, {{"nvidia.com/gpu", 2}}, "",
                     {&space, &labels, nullptr, false});
        }
        PodRequirements pod;
        pod.requests = {{"nvidia.com/gpu", 2}};
        pod.labels = labels;
        pod.terms = Terms{{}, {}, {}, {{kZone, skew, 1, App("train")}}}.All();
        const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = cap};
        fabric::ByNode<std::uint32_t> slots;
        CountSlots(claims, query, slots);
        const std::int64_t before_b = running == 4 ? 1 : 0, before_a = running - before_b;
        const std::int64_t a = slots[NodeIndex{0}] + slots[NodeIndex{1}];
        const std::int64_t b = slots[NodeIndex{2}] + slots[NodeIndex{3}];
        if (a + b < cap) continue;  // refused
        for (std::int64_t in_a = std::max<std::int64_t>(0, cap - b);
             in_a <= std::min<std::int64_t>(a, cap); ++in_a) {
          EXPECT_LE(std::abs(before_a + in_a - before_b - (cap - in_a)),
                    std::max(skew, before_a - before_b))
              << running << " run, " << cap << " come, skew " << skew;
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::rules
