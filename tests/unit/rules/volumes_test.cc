#include "operator/rules/volumes.h"

#include "gtest/gtest.h"
#include "operator/rules/between_pods.h"
#include "operator/rules/node_filter.h"
#include "operator/rules/node_judge.h"

namespace weft::rules {
namespace {

using fabric::NodeIndex;
using Slots = std::vector<std::uint32_t>;

constexpr const char* kZone = "topology.kubernetes.io/zone";

// Nodes of eight GPUs: two in zone a, two in zone b, one without a zone.
fabric::Fabric FiveNodes() {
  SharedList<fabric::NodeFacts> nodes;
  for (const char* zone : {"a", "a", "b", "b", ""}) {
    fabric::NodeFacts node;
    node.name = "n" + std::to_string(nodes.size());
    node.labels.Set(fabric::kHostNameLabel, node.name);
    if (*zone != '\0') node.labels.Set(kZone, zone);
    node.conditions = {{"Ready", "True"}};
    node.allocatable = {{"nvidia.com/gpu", 8}};
    nodes.push_back(std::move(node));
  }
  auto fabric = fabric::Fabric::Build({}, std::move(nodes), {});
  EXPECT_TRUE(fabric.has_value()) << (fabric ? "" : fabric.error().message);
  return std::move(*fabric);
}

std::vector<NodeSelectorTerm> In(const char* key, std::vector<std::string> values) {
  return {{{{key, "In", std::move(values)}}, {}}};
}

FreeVolume Local(const std::string& name, const std::string& node) {
  return {name, In(fabric::kHostNameLabel, {node})};
}

// A pod that runs.
struct Running {
  std::uint32_t node = 0;
  std::string claim, space = "team";
  std::string own_class = "";  // of an ephemeral volume, whose claim does not exist yet
};

VolumeRules Places(std::vector<VolumeRules::Place> places) {
  VolumeRules rules;
  rules.places = std::move(places);
  return rules;
}

VolumeRules Blocked(const char* why) {
  VolumeRules rules;
  rules.blocked = why;
  return rules;
}

VolumeRules Sole(bool shared) {
  VolumeRules rules;
  rules.soles = {{"data", shared}};
  return rules;
}

VolumeRules Waiting(VolumeRules::Unbound unbound) {
  VolumeRules rules;
  rules.unbound = {std::move(unbound)};
  return rules;
}

// Of a driver that lets n0 have two volumes, n1 three and n2 none; the claims one and two of the
// namespace team are volumes of it, and one of them has two claims.
VolumeRules Attached(std::vector<std::string> shared, std::uint32_t own) {
  DriverVolumes driver;
  driver.limits = {{"n0", 2}, {"n1", 3}, {"n2", 0}};
  driver.handles = {{{"team", "one"}, "v1"}, {{"team", "again"}, "v1"}, {{"team", "two"}, "v2"}};
  driver.classes = {"fast"};
  VolumeRules rules;
  rules.attached = {
      {"disks", std::move(shared), own, std::make_shared<const DriverVolumes>(driver)}};
  return rules;
}

// Workers of two GPUs in the namespace team.
struct Case {
  const char* name;
  VolumeRules rules;
  std::vector<Running> running;
  Slots slots, empty_slots;
  const char* why_of_last = "";  // of the last node without slots
  std::uint32_t cap = 100;
};

const Case kCases[] = {
    {"no rule", {}, {{0, "data"}}, {4, 4, 4, 4, 4}, {4, 4, 4, 4, 4}},
    {"a volume of one zone",
     Places({{In(kZone, {"b"}), "data is in zone b"}}),
     {},
     {0, 0, 4, 4, 0},
     {0, 0, 4, 4, 0},
     "data is in zone b"},
    {"two volumes, of a zone and of a node",
     Places({{In(kZone, {"b"}), "zone b"}, {In(fabric::kHostNameLabel, {"n3"}), "node n3"}}),
     {},
     {0, 0, 0, 4, 0},
     {0, 0, 0, 4, 0},
     "zone b"},
    {"a claim that does not exist",
     Blocked("its claim data does not exist"),
     {},
     {0, 0, 0, 0, 0},
     {4, 4, 4, 4, 4},
     "its claim data does not exist"},
    {"ReadWriteOncePod, used by a pod",
     Sole(false),
     {{1, "data"}},
     {0, 0, 0, 0, 0},
     {4, 4, 4, 4, 4},
     "its claim data allows one pod (ReadWriteOncePod), and a running pod uses it"},
    {"ReadWriteOncePod, a claim of that name in another namespace",
     Sole(true),
     {{1, "data", "other"}},
     {1, 1, 1, 1, 1},
     {1, 1, 1, 1, 1},
     "",
     1},
    {"ReadWriteOncePod, for all workers",
     Sole(true),
     {{1, "other"}},
     {1, 0, 0, 0, 0},
     {1, 0, 0, 0, 0},
     "its claim data allows one pod (ReadWriteOncePod)"},
    {"ReadWriteOncePod, of one worker", Sole(true), {}, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, "", 1},
    {"a shared volume of a driver with limits counts once",
     Attached({"v9"}, 0),
     {{0, "one"}, {0, "two"}, {1, "two"}},
     {0, 4, 0, 4, 4},
     {4, 4, 0, 4, 4},
     "its claims exceed the limit of volumes of disks"},
    {"a shared volume that the node has already",
     Attached({"v1"}, 0),
     {{0, "one"}, {0, "two"}},
     {4, 4, 0, 4, 4},
     {4, 4, 0, 4, 4},
     "its claims exceed the limit of volumes of disks"},
    {"two claims of one volume count once",
     Attached({"v9"}, 0),
     {{0, "one"}, {0, "again"}},
     {4, 4, 0, 4, 4},
     {4, 4, 0, 4, 4},
     "its claims exceed the limit of volumes of disks"},
    {"a volume for each worker",
     Attached({}, 1),
     {{1, "one"}, {1, "none"}},
     {2, 2, 0, 4, 4},
     {2, 3, 0, 4, 4},
     "its claims exceed the limit of volumes of disks"},
    {"two volumes for each worker and a shared one",
     Attached({"v9"}, 2),
     {},
     {0, 1, 0, 4, 4},
     {0, 1, 0, 4, 4},
     "its claims exceed the limit of volumes of disks"},
    {"volumes to come of a worker that was placed before",
     Attached({}, 1),
     {{1, "scratch", "team", "fast"}, {1, "scratch", "team", "slow"}},
     {2, 2, 0, 4, 4},
     {2, 3, 0, 4, 4},
     "its claims exceed the limit of volumes of disks"},
    {"a local volume for each worker",
     Waiting(
         {"scratch", false, {Local("p1", "n0"), Local("p2", "n0"), Local("p3", "n3")}, false, {}}),
     {},
     {2, 0, 0, 1, 0},
     {4, 4, 4, 4, 4},
     "its claim scratch finds no free volume there"},
    {"a local volume for each worker, else one that is made in zone b",
     Waiting({"scratch", false, {Local("p1", "n0"), Local("p3", "n3")}, true, In(kZone, {"b"})}),
     {},
     {1, 0, 4, 4, 0},
     {4, 4, 4, 4, 4},
     "its claim scratch finds no free volume there"},
    {"volumes that any node reaches",
     Waiting({"scratch", false, {{"p1", {}}, {"p2", {}}, {"p3", {}}}, false, {}}),
     {},
     {3, 0, 0, 0, 0},
     {4, 4, 4, 4, 4},
     "its claim scratch finds no free volume there"},
    {"a local volume for all workers",
     Waiting({"scratch", true, {Local("p1", "n1"), Local("p2", "n3")}, false, {}}),
     {},
     {0, 4, 0, 0, 0},
     {4, 4, 4, 4, 4},
     "its claim scratch finds no volume there"},
    {"a local volume for the only worker",
     Waiting({"scratch", true, {Local("p1", "n1"), Local("p2", "n3")}, false, {}}),
     {},
     {0, 1, 0, 1, 0},
     {1, 1, 1, 1, 1},
     "its claim scratch finds no volume there",
     1},
    {"a volume of a zone for all workers, where the smallest is taken",
     Waiting({"scratch",
              true,
              {{"small", In(kZone, {"a"})}, {"large", In(kZone, {"a", "b"})}},
              false,
              {}}),
     {},
     {4, 4, 0, 0, 0},
     {4, 4, 4, 4, 4},
     "its claim scratch finds no volume there"},
};

TEST(Volumes, LeaveTheseSlots) {
  const fabric::Fabric fabric = FiveNodes();
  for (const Case& c : kCases) {
    fabric::Claims claims(fabric);
    std::vector<fabric::PodTerms> terms(c.running.size());
    const TextMap labels;
    for (std::size_t r = 0; r < c.running.size(); ++r) {
      terms[r].volumes = {{.claim = c.running[r].claim,
                           .own = !c.running[r].own_class.empty(),
                           .storage_class = c.running[r].own_class}};
      claims.Add(NodeIndex{c.running[r].node}, {}, "", {&c.running[r].space, &labels, &terms[r]});
    }
    PodRequirements pod;
    pod.requests = {{"nvidia.com/gpu", 2}};
    pod.volumes = c.rules;
    SlotQuery query{.pod = &pod, .job = "team/job", .excluded = {}, .cap = c.cap};
    fabric::ByNode<std::uint32_t> slots;
    CountSlots(claims, query, slots);
    EXPECT_EQ(Slots(slots.begin(), slots.end()), c.slots) << c.name;
    const NodeJudge judge(claims, query);
    std::string why;
    for (const NodeIndex n : slots.Indices()) {
      const Verdict verdict = judge.Judge(n);
      EXPECT_EQ(verdict.rejection == Rejection::kNone, slots[n] > 0) << c.name << " " << n.Raw();
      if (slots[n] > 0) continue;
      EXPECT_EQ(verdict.rejection, Rejection::kVolume) << c.name;
      why = verdict.detail;
    }
    EXPECT_EQ(why, c.why_of_last) << c.name;
    query.ignore_claims = true;
    CountSlots(claims, query, slots);
    EXPECT_EQ(Slots(slots.begin(), slots.end()), c.empty_slots) << c.name;
  }
}

TEST(Volumes, SayWhyFewWorkersFit) {
  struct Words {
    VolumeRules rules;
    std::uint32_t cap;
    const char* want;
  };
  const Words cases[] = {
      {Sole(true), 2,
       "all workers name the claim data, which one pod at a time can use (ReadWriteOncePod)"},
      {Sole(true), 1, ""},
      {Sole(false), 2, ""},
      {Waiting({"scratch", true, {Local("p", "n0")}, false, {}}), 2,
       "all workers must be where one volume for the claim scratch is"},
      {Waiting({"scratch", false, {Local("p", "n0")}, false, {}}), 2,
       "each worker needs a free volume for its claim scratch"},
      {Waiting({"scratch", false, {Local("p", "n0")}, true, {}}), 2, ""},
  };
  for (const Words& c : cases) {
    PodRequirements pod;
    pod.volumes = c.rules;
    const SlotQuery query{.pod = &pod, .job = "team/job", .excluded = {}, .cap = c.cap};
    EXPECT_EQ(BetweenWorkersText(query), c.want);
  }
}

}  // namespace
}  // namespace weft::rules
