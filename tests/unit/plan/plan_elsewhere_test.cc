#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "operator/plan/plan.h"
#include "operator/plan/plan_report.h"
#include "tests/support/scene.h"

namespace weft::plan {
namespace {

constexpr const char* kLeaf = "test/leaf";

fabric::PodTerm InLeafOf(const std::string& app) {
  return {kLeaf, fabric::LabelSelector{{{"app", app}}, {}}, {}, false};
}

// Leaves l0 (n0, n1) and l1 (n2, n3), a node without GPUs in the leaf with a pod of the app cache
// in the namespace `space`, and a job of two workers of the app train in the namespace ns.
struct Beside {
  testing::Scene scene{testing::FourNodes()};
  api::TrainingJob* job;
  api::Pod* pod;

  explicit Beside(const std::string& leaf, const std::string& space = "ns") {
    api::Node node;
    node.meta.key.name = node.facts.name = "cpu";
    node.facts.labels = {{kLeaf, leaf}};
    scene.inputs.nodes.push_back(node);
    pod = &scene.Pod("cache", "cpu", {{"app", "cache"}});
    pod->meta.key.space = space;
    pod->pod.requests = {};
    job = &scene.Job("a", 2);
    job->pod.labels = {{"app", "train"}};
  }

  std::vector<std::string> Nodes() {
    const cluster::Cluster cluster = scene.Build();
    const auto report = Plan(cluster);
    if (!report || report->entries[0].placed() == nullptr) return {};
    std::vector<std::string> nodes;
    for (const auto node : report->entries[0].placed()->plan.nodes) {
      nodes.push_back(cluster.fabrics[0].fabric->node(node).name);
    }
    return nodes;
  }
};

const std::vector<std::string> kFirst = {"n0", "n1"}, kSecond = {"n2", "n3"};

TEST(Plan, IsBesideAPodOnANodeWithoutAccelerators) {
  for (const char* leaf : {"l0", "l1", "l2"}) {
    Beside beside(leaf);
    beside.job->pod.terms = fabric::PodTerms{.affinity = {InLeafOf("cache")}};
    const std::string in = leaf;
    EXPECT_EQ(beside.Nodes(), in == "l0"   ? kFirst
                              : in == "l1" ? kSecond
                                           : std::vector<std::string>())
        << leaf;
  }
}

TEST(Plan, IsApartFromAPodOnANodeWithoutAccelerators) {
  Beside beside("l0");
  EXPECT_EQ(beside.Nodes(), kFirst) << "without a rule";
  beside.job->pod.terms = fabric::PodTerms{.anti_affinity = {InLeafOf("cache")}};
  EXPECT_EQ(beside.Nodes(), kSecond);
}

TEST(Plan, IsApartFromAPodThatWantsIt) {
  Beside beside("l0");
  beside.pod->pod.terms = fabric::PodTerms{.anti_affinity = {InLeafOf("train")}};
  EXPECT_EQ(beside.Nodes(), kSecond);
}

TEST(Plan, IsApartFromPodsOfNamespacesWithALabel) {
  for (const char* team : {"red", "blue"}) {
    Beside beside("l0", "other");
    api::Namespace space;
    space.meta.key.name = "other";
    space.meta.labels = {{"team", "red"}};
    beside.scene.inputs.namespaces.push_back(space);
    fabric::PodTerm term = InLeafOf("cache");
    term.space_selector = fabric::LabelSelector{{{"team", team}}, {}};
    beside.job->pod.terms = fabric::PodTerms{.anti_affinity = {term}};
    EXPECT_EQ(beside.Nodes(), std::string(team) == "red" ? kSecond : kFirst) << team;
  }
}

}  // namespace
}  // namespace weft::plan
