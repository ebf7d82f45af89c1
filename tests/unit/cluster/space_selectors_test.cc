#include "operator/cluster/space_selectors.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "operator/rules/pod_domains.h"
#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

using fabric::LabelSelector;
using fabric::PodTerm;

PodTerm TermOf(LabelSelector spaces, std::vector<std::string> names = {}) {
  return {"zone", LabelSelector{}, std::move(names), false, std::move(spaces)};
}

api::Inputs WithSpaces(const PodTerm& term) {
  testing::Scene scene(testing::FourNodes());
  for (const auto& [name, team] : {std::pair{"a", "red"}, {"b", "blue"}, {"c", "blue"}}) {
    api::Namespace space;
    space.meta.key.name = name;
    space.meta.labels = {{"team", team}};
    scene.inputs.namespaces.push_back(space);
  }
  scene.Job("job", 1).pod.terms = fabric::PodTerms{.anti_affinity = {term}};
  return scene.inputs;
}

const PodTerm& TermOfJob(const api::Inputs& inputs) {
  return inputs.jobs[0].pod.terms->anti_affinity[0];
}

TEST(ResolveSpaceSelectors, NamesTheNamespaces) {
  struct Case {
    const char* name;
    PodTerm term;
    std::vector<std::string> spaces;  // none: no namespace at all
  };
  const LabelSelector blue = {{{"team", "blue"}}, {}};
  const Case cases[] = {
      {"by label", TermOf(blue), {"b", "c"}},
      {"and by name", TermOf(blue, {"x"}), {"x", "b", "c"}},
      {"by the label of the name", TermOf({{{"kubernetes.io/metadata.name", "a"}}, {}}), {"a"}},
      {"the namespace of a job, which no Namespace tells of",
       TermOf({{{"kubernetes.io/metadata.name", "ns"}}, {}}),
       {"ns"}},
      {"without the label", TermOf({{}, {{"team", "DoesNotExist", {}}}}), {"ns"}},
      {"none", TermOf({{{"team", "green"}}, {}}), {}},
  };
  for (const Case& c : cases) {
    api::Inputs inputs = WithSpaces(c.term);
    const std::string assumed = ResolveSpaceSelectors(inputs);
    EXPECT_EQ(assumed,
              "no Namespace is given for ns: for a namespaceSelector it counts as without labels "
              "but kubernetes.io/metadata.name");
    EXPECT_EQ(TermOfJob(inputs).namespaces, c.spaces) << c.name;
    EXPECT_EQ(TermOfJob(inputs).space_selector.has_value(), c.spaces.empty()) << c.name;
    EXPECT_FALSE(TermOfJob(inputs).all_namespaces) << c.name;
  }
}

TEST(ResolveSpaceSelectors, ANamespaceThatIsGivenIsNotAssumed) {
  api::Inputs inputs = WithSpaces(TermOf({{{"team", "blue"}}, {}}));
  api::Namespace space;
  space.meta.key.name = "ns";
  inputs.namespaces.push_back(space);
  EXPECT_EQ(ResolveSpaceSelectors(inputs), "");
}

TEST(ResolveSpaceSelectors, NothingIsAssumedWithoutASelector) {
  api::Inputs inputs = WithSpaces({"zone", LabelSelector{}, {}, false});
  EXPECT_EQ(ResolveSpaceSelectors(inputs), "");
  EXPECT_EQ(TermOfJob(inputs), (PodTerm{"zone", LabelSelector{}, {}, false}));
}

TEST(ResolveSpaceSelectors, OfPodsPlacementsAndWishesToo) {
  testing::Scene scene(testing::FourNodes());
  const PodTerm by_name = TermOf({{{"kubernetes.io/metadata.name", "ns"}}, {}});
  scene.Pod("p", "n0").pod.terms = fabric::PodTerms{.preferred = {{3, by_name}}};
  scene.Placement("q", 1).proposal.emplace().pod.terms = fabric::PodTerms{.affinity = {by_name}};
  api::Inputs inputs = scene.inputs;
  ResolveSpaceSelectors(inputs);
  const std::vector<std::string> ns = {"ns"};
  EXPECT_EQ(inputs.pods[0].pod.terms->preferred[0].term.namespaces, ns);
  EXPECT_EQ(inputs.placements[0].proposal->pod.terms->affinity[0].namespaces, ns);
  EXPECT_TRUE(scene.inputs.pods[0].pod.terms->preferred[0].term.namespaces.empty())
      << "the watched object is shared";
}

// A selector of no namespace is about no pod, not about those of the job's own namespace.
TEST(BuildCluster, ResolvesSpaceSelectors) {
  for (const char* team : {"red", "green"}) {
    testing::Scene scene(testing::FourNodes());
    scene.inputs = WithSpaces(TermOf({{{"team", team}}, {}}));
    const Cluster cluster = scene.Build();
    const PodTerm& term = TermOfJob(*cluster.inputs);
    EXPECT_EQ(rules::Selects(term, "ns", "a", {}), std::string(team) == "red") << team;
    EXPECT_FALSE(rules::Selects(term, "ns", "ns", {})) << team;
    ASSERT_FALSE(cluster.notes.empty());
    EXPECT_EQ(cluster.notes[0].reason, "NamespacesAssumed");
  }
}

}  // namespace
}  // namespace weft::cluster
