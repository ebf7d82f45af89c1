#include "operator/rules/unwanted.h"

#include "gtest/gtest.h"
#include "operator/rules/preferred_pods.h"

namespace weft::rules {
namespace {

using Values = std::vector<std::uint32_t>;

constexpr std::uint32_t kCordoned = 1U << 24;

// Three nodes: a is plain, b has a soft taint, c is cordoned.
fabric::Fabric ThreeNodes() {
  SharedList<fabric::NodeFacts> nodes;
  for (const char* name : {"a", "b", "c"}) {
    fabric::NodeFacts node;
    node.name = name;
    node.labels = {{fabric::kHostNameLabel, name}, {"kind", name}};
    node.conditions = {{"Ready", "True"}};
    node.allocatable = {{"nvidia.com/gpu", 8}};
    nodes.push_back(std::move(node));
  }
  SharedList<fabric::NodeFacts> all;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    fabric::NodeFacts node = nodes[i];
    if (node.name == "b") node.taints = {{"suspect", "", "PreferNoSchedule"}};
    node.unschedulable = node.name == "c";
    all.push_back(std::move(node));
  }
  auto fabric = fabric::Fabric::Build({}, std::move(all), {});
  EXPECT_TRUE(fabric.has_value()) << (fabric ? "" : fabric.error().message);
  return std::move(*fabric);
}

NodeSelectorTerm Kind(const char* op, std::vector<std::string> kinds) {
  return {{{"kind", op, std::move(kinds)}}, {}};
}

TEST(Unwanted, CountsTaintsWishesAndCordons) {
  struct Case {
    const char* name;
    std::vector<Toleration> tolerations;
    std::vector<PreferredTerm> preferred;
    Values want;
  };
  const std::vector<Case> cases = {
      {"by taint and cordon", {}, {}, {0, 300, kCordoned}},
      {"a toleration covers a soft taint too",
       {{"suspect", "Exists", "", ""}},
       {},
       {0, 0, kCordoned}},
      {"one for hard taints does not",
       {{"suspect", "Exists", "", "NoSchedule"}},
       {},
       {0, 300, kCordoned}},
      {"a wish is less than a taint", {}, {{100, Kind("In", {"b"})}}, {200, 300, kCordoned + 200}},
      {"wishes by weight",
       {{"", "Exists", "", ""}},
       {{75, Kind("In", {"a"})}, {25, Kind("In", {"a", "b"})}},
       {0, 150, kCordoned + 200}},
      {"a wish that all meet", {}, {{10, Kind("Exists", {})}}, {0, 300, kCordoned}},
  };
  const fabric::Fabric fabric = ThreeNodes();
  const fabric::Claims claims(fabric);
  for (const Case& c : cases) {
    PodRequirements pod;
    pod.tolerations = c.tolerations;
    pod.preferred = c.preferred;
    const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 1};
    EXPECT_EQ(Unwanted(claims, query).Items(), c.want) << c.name;
  }
}

TEST(Unwanted, CountsPreferredPods) {
  const fabric::Fabric fabric = ThreeNodes();
  fabric::Claims claims(fabric);
  const std::string space = "team";
  const TextMap labels = {{"app", "web"}};
  claims.Add(fabric::NodeIndex{0}, {}, "", {&space, &labels, nullptr, false});
  PodRequirements pod;
  pod.tolerations = {{"", "Exists", "", ""}};
  const fabric::PodTerm web = {
      fabric::kHostNameLabel, fabric::LabelSelector{{{"app", "web"}}, {}}, {}, false};
  SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 1};
  pod.terms = fabric::PodTerms{{}, {}, {}, {}, {{10, web}}};
  EXPECT_EQ(Unwanted(claims, query).Items(), (Values{0, 200, kCordoned + 200}));
  pod.terms = fabric::PodTerms{{}, {}, {}, {}, {{-10, web}}};
  EXPECT_EQ(Unwanted(claims, query).Items(), (Values{200, 0, kCordoned}));
  query.ignore_claims = true;
  EXPECT_EQ(Unwanted(claims, query).Items(), (Values{0, 0, kCordoned}));
}

// They count as the pod's own terms do, and required affinity as a weight of 1.
TEST(Unwanted, CountsWhatPodsThatRunPrefer) {
  const fabric::Fabric fabric = ThreeNodes();
  const std::string space = "team", other = "other";
  const TextMap labels = {{"app", "web"}};
  const fabric::PodTerm train = {
      fabric::kHostNameLabel, fabric::LabelSelector{{{"app", "train"}}, {}}, {}, false};
  struct Case {
    const char* name;
    fabric::PodTerms terms;
    const std::string& space;
    Values want;
  };
  const Case cases[] = {
      {"preferred", {.preferred = {{10, train}}}, space, {0, 200, kCordoned + 200}},
      {"kept away", {.preferred = {{-10, train}}}, space, {200, 0, kCordoned}},
      {"required", {.affinity = {train}}, space, {0, 200, kCordoned + 200}},
      {"both, of which the larger weight wins",
       {.affinity = {train}, .preferred = {{-10, train}}},
       space,
       {200, 0, kCordoned}},
      {"of another namespace", {.preferred = {{10, train}}}, other, {0, 0, kCordoned}},
  };
  for (const Case& c : cases) {
    fabric::Claims claims(fabric);
    claims.Add(fabric::NodeIndex{0}, {}, "", {&c.space, &labels, &c.terms, false});
    PodRequirements pod;
    pod.tolerations = {{"", "Exists", "", ""}};
    pod.labels = {{"app", "train"}};
    const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 1};
    EXPECT_EQ(Unwanted(claims, query).Items(), c.want) << c.name;
  }
}

// They would cost a pass over all nodes each.
TEST(Unwanted, SkipsTermsByLabelsThatThePodsNodeLacks) {
  const fabric::Fabric fabric = ThreeNodes();
  const std::string space = "team";
  const TextMap labels = {{"app", "web"}};
  const fabric::PodTerm train = {"zone", fabric::LabelSelector{{{"app", "train"}}, {}}, {}, false};
  const fabric::PodTerm web = {"zone", fabric::LabelSelector{{{"app", "web"}}, {}}, {}, false};
  const fabric::PodTerms terms = {.affinity = {train}, .preferred = {{-10, train}}};
  fabric::Claims claims(fabric);
  claims.Add(fabric::NodeIndex{0}, {}, "", {&space, &labels, &terms, false});
  PodRequirements pod;
  pod.labels = {{"app", "train"}};
  pod.terms = fabric::PodTerms{.preferred = {{10, web}}};
  const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 1};
  EXPECT_TRUE(PreferredPodsBy(claims, query).empty());
}

// The cordoned node is the most crowded. It neither widens the range nor counts as a domain: two
// pods and one are 2 ln 4 and ln 4, which are 3 and 1.
TEST(Unwanted, ASpreadLooksOnlyAtNodesThatWouldTakeAWorker) {
  const fabric::Fabric fabric = ThreeNodes();
  const std::string space = "team";
  const TextMap labels = {{"app", "train"}};
  fabric::Claims claims(fabric);
  for (const std::uint32_t node : {0U, 0U, 1U, 2U, 2U, 2U, 2U, 2U}) {
    claims.Add(fabric::NodeIndex{node}, {}, "", {&space, &labels, nullptr, false});
  }
  PodRequirements pod;
  pod.tolerations = {{"suspect", "Exists", "", ""}};
  const fabric::LabelSelector train = {{{"app", "train"}}, {}};
  pod.terms = fabric::PodTerms{.preferred_spread = {{fabric::kHostNameLabel, 1, 1, train}}};
  const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 1};
  EXPECT_EQ(Unwanted(claims, query).Items(), (Values{133, 0, kCordoned + 200}));
}

TEST(Unwanted, CountsHowCrowdedASpreadsDomainsAre) {
  const fabric::Fabric fabric = ThreeNodes();
  const std::string space = "team";
  const TextMap labels = {{"app", "train"}};
  const fabric::LabelSelector train = {{{"app", "train"}}, {}};
  struct Case {
    const char* name;
    std::vector<fabric::SpreadRule> spread;
    Values want;
  };
  const Case cases[] = {
      // Two pods on a and one on b: 2 ln 5 and ln 5 are 3 and 2.
      {"by node", {{fabric::kHostNameLabel, 1, 1, train}}, {200, 133, kCordoned}},
      // 4 more for each: 7, 6 and 4.
      {"of a larger skew", {{fabric::kHostNameLabel, 5, 1, train}}, {85, 57, kCordoned}},
      {"by a label that no node has", {{"zone", 1, 1, train}}, {200, 200, kCordoned + 200}},
      {"without a selector", {{fabric::kHostNameLabel, 1, 1, {}}}, {0, 0, kCordoned}},
  };
  fabric::Claims claims(fabric);
  for (const std::uint32_t node : {0U, 0U, 1U}) {
    claims.Add(fabric::NodeIndex{node}, {}, "", {&space, &labels, nullptr, false});
  }
  claims.Add(fabric::NodeIndex{2}, {}, "", {&space, &labels, nullptr, true});
  for (const Case& c : cases) {
    PodRequirements pod;
    pod.tolerations = {{"", "Exists", "", ""}};
    pod.terms = fabric::PodTerms{.preferred_spread = c.spread};
    const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 1};
    EXPECT_EQ(Unwanted(claims, query).Items(), c.want) << c.name;
  }
}

TEST(Unwanted, IsEmptyWhereAllNodesAreTheSame) {
  SharedList<fabric::NodeFacts> nodes;
  fabric::NodeFacts node;
  node.name = "n";
  node.taints = {{"suspect", "", "PreferNoSchedule"}};
  nodes.push_back(node);
  const auto fabric = fabric::Fabric::Build({}, std::move(nodes), {});
  ASSERT_TRUE(fabric.has_value());
  const PodRequirements pod;
  const SlotQuery query = {.pod = &pod, .job = "team/job", .excluded = {}, .cap = 1};
  EXPECT_TRUE(Unwanted(fabric::Claims(*fabric), query).empty());
}

}  // namespace
}  // namespace weft::rules
