#include "operator/plan/pinned.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/cluster/placement_pods.h"
#include "operator/plan/plan.h"
#include "operator/plan/status.h"
#include "tests/support/scene.h"

namespace weft::plan {
namespace {

constexpr const char* kHost = "kubernetes.io/hostname";

// A Placement of gated pods, each pinned to a host ("": not pinned).
testing::Scene Pinned(const std::vector<std::string>& hosts) {
  testing::Scene scene(testing::FourNodes());
  for (std::size_t n = 0; n < scene.inputs.nodes.size(); ++n) {
    fabric::NodeFacts& facts = scene.inputs.nodes.Edit(n).facts;
    facts.labels.Set(kHost, facts.name);
  }
  api::Placement& placement = scene.Placement("gang", static_cast<std::uint32_t>(hosts.size()));
  placement.pod_selector = fabric::LabelSelector{{{"app", "x"}}, {}};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    api::Pod& pod = scene.Pod("p-" + std::to_string(i), "", {{"app", "x"}});
    pod.scheduling_gates = {api::kGate};
    if (!hosts[i].empty()) pod.pod.node_selector = {{kHost, hosts[i]}};
  }
  return scene;
}

nlohmann::json Outcome(const testing::Scene& scene) {
  const cluster::Cluster cluster = scene.Build();
  const auto report = Plan(cluster);
  EXPECT_TRUE(report);
  return PlacementOf(cluster, report->entries.at(0)).at("status");
}

std::string Placed(const nlohmann::json& status) {
  const auto& condition = status.at("conditions").at(0);
  return condition.at("status").get<std::string>() + " " +
         condition.at("reason").get<std::string>() + ": " +
         condition.at("message").get<std::string>();
}

TEST(PinnedHosts, PodsKeepTheNodesThatTheyArePinnedTo) {
  const nlohmann::json status = Outcome(Pinned({"n3", "n0"}));
  EXPECT_EQ(status.at("nodes"), (nlohmann::json{"n3", "n0"}));
  EXPECT_EQ(Placed(status).substr(0, 36), "True PodsPinned: each pod is pinned ");
}

TEST(PinnedHosts, TheNodesAreTakenEvenIfAnotherJobHasThem) {
  testing::Scene scene = Pinned({"n3", "n0"});
  scene.Pod("other", "n3");
  EXPECT_EQ(Outcome(scene).at("nodes"), (nlohmann::json{"n3", "n0"}));
}

// A Job of Kueue that was suspended and resumed makes only the pods that are left.
TEST(PinnedHosts, AWorkerThatHasSucceededKeepsItsNode) {
  testing::Scene scene = Pinned({"n3", "n0", "n2"});
  api::Pod& done = scene.inputs.pods.Edit(0);
  done.scheduling_gates.clear();
  done.node_name = "n3";
  done.phase = api::PodPhase::kSucceeded;
  done.meta.annotations.Set(cluster::kWorkerIndexLabel, "0");
  EXPECT_EQ(Outcome(scene).at("nodes"), (nlohmann::json{"n3", "n0", "n2"}));
}

TEST(PinnedHosts, OneHostForAllIsAWishOfTheTemplate) {
  EXPECT_EQ(Placed(Outcome(Pinned({"n1"}))).substr(0, 12), "True Placed:");
  EXPECT_EQ(Placed(Outcome(Pinned({"n1", "n1"}))).substr(0, 6), "False ");
}

TEST(PinnedHosts, APodThatIsNotPinnedIsNamed) {
  EXPECT_EQ(Placed(Outcome(Pinned({"n1", ""}))),
            "False PodsPinned: pod p-0 is pinned to a node by its nodeSelector "
            "kubernetes.io/hostname, but pod p-1 is not");
}

TEST(PinnedHosts, AHostOutsideTheFabricIsNamed) {
  EXPECT_EQ(Placed(Outcome(Pinned({"n1", "elsewhere"}))),
            "False PodsPinned: A pod is pinned to elsewhere by its own nodeSelector "
            "kubernetes.io/hostname, and Fabric default has no such node.");
}

}  // namespace
}  // namespace weft::plan
