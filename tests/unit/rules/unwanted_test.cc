#include "operator/rules/unwanted.h"

#include "gtest/gtest.h"

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
  claims.Add(fabric::NodeIndex{0}, {}, "", {&space, &labels, nullptr});
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
