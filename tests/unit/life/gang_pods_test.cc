#include "operator/life/gang_pods.h"

#include <gtest/gtest.h>

#include <memory>

namespace weft::life {
namespace {

// The pods of a JobSet with the label weft.dev/place, and Placements.
class World {
 public:
  api::Pod& Pod(const std::string& name, const std::string& attempt, bool gated = true) {
    auto pod = std::make_unique<api::Pod>();
    pod->meta.key = {"ns", name};
    pod->meta.uid = name;
    pod->meta.labels = {{"weft.dev/place", "true"},
                        {"jobset.sigs.k8s.io/jobset-name", "set"},
                        {"jobset.sigs.k8s.io/jobset-uid", "set-1"},
                        {"jobset.sigs.k8s.io/replicatedjob-name", "w"},
                        {"jobset.sigs.k8s.io/restart-attempt", attempt}};
    pod->meta.owners = {{"batch/v1", "Job", "set-w-0", "job-" + attempt, true}};
    pod->pod.requests = {{"nvidia.com/gpu", 8}};
    pod->phase = gated ? api::PodPhase::kPending : api::PodPhase::kRunning;
    if (gated) pod->scheduling_gates = {api::kGate};
    if (!gated) pod->node_name = "n";
    pods_.push_back(std::move(pod));
    return *pods_.back();
  }

  // The Placement that was made for this pod.
  api::Placement& Made(const api::Pod& pod) {
    const cluster::ForeignGang gang = *cluster::ForeignGangOf(pod);
    api::Placement& placement = Placement(gang.placement_name, gang.selector);
    placement.meta.labels = {{cluster::kGangLabel, gang.base}};
    placement.meta.annotations = {{cluster::kRequestHashAnnotation, cluster::RequestHash(pod)}};
    placement.meta.owners = {cluster::GangOwner(gang, {&pod})};
    return placement;
  }

  api::Placement& Placement(const std::string& name,
                            const std::map<std::string, std::string>& selector) {
    auto placement = std::make_unique<api::Placement>();
    placement->meta.key = {"ns", name};
    placement->pod_selector = fabric::LabelSelector{selector, {}};
    placements_.push_back(std::move(placement));
    return *placements_.back();
  }

  // "create set-w-…-0 a b", "delete NAME", "free a", "wait"
  std::vector<std::string> named;  // accelerator resources
  std::string Next() const {
    ForeignPods view;
    view.base = cluster::ForeignGangOf(*pods_.front())->base;
    for (const auto& pod : pods_) view.pods.push_back(pod.get());
    for (const auto& placement : placements_) view.placements.push_back(placement.get());
    view.accelerator_resources = named;
    const ForeignStep step = NextForeignStep(view);
    const auto names = [](std::string text, const std::vector<const api::Pod*>& pods) {
      for (const api::Pod* pod : pods) text += " " + pod->meta.key.name;
      return text;
    };
    if (const auto* one = std::get_if<CreateForeign>(&step)) {
      std::string attempt = one->gang.placement_name.substr(one->gang.base.size());
      if (one->before != nullptr) attempt += " after " + one->before->excluded.front().node;
      return names("create " + attempt + " for " + one->keeper.kind, one->pods);
    }
    if (const auto* one = std::get_if<DeleteForeign>(&step)) {
      return "delete " + one->placement->meta.key.name;
    }
    if (const auto* one = std::get_if<FreeForeign>(&step)) return names("free", one->pods);
    return "wait";
  }

 private:
  std::vector<std::unique_ptr<api::Pod>> pods_;
  std::vector<std::unique_ptr<api::Placement>> placements_;
};

TEST(NextForeignStep, AGangThatWaitsGetsOnePlacement) {
  World world;
  world.Pod("w-10", "0");
  const api::Pod& first = world.Pod("w-2", "0");
  EXPECT_EQ(world.Next(), "create -0 for JobSet w-2 w-10");
  world.Made(first);
  EXPECT_EQ(world.Next(), "wait");
}

TEST(NextForeignStep, PodsOfAnotherPlacementAreLeftToIt) {
  World world;
  world.Pod("w", "0");
  world.Placement("by-hand", {{"jobset.sigs.k8s.io/jobset-name", "set"}});
  EXPECT_EQ(world.Next(), "wait");
}

TEST(NextForeignStep, PodsThatDoNotWaitNeedNone) {
  World world;
  world.Pod("bound", "0", false);
  world.Pod("going", "0").meta.deleting = true;
  world.Pod("done", "0").phase = api::PodPhase::kFailed;
  EXPECT_EQ(world.Next(), "wait");
}

TEST(NextForeignStep, ARestartGetsItsOwnAndTheOldOneGoesWithItsPods) {
  World world;
  const api::Pod& before = world.Pod("a", "0", false);
  const std::string old = world.Made(before).meta.key.name;
  const api::Pod& after = world.Pod("b", "1");
  EXPECT_EQ(world.Next(), "create -1 for JobSet b");
  world.Made(after);
  EXPECT_EQ(world.Next(), "wait");
  const_cast<api::Pod&>(before).phase = api::PodPhase::kFailed;
  EXPECT_EQ(world.Next(), "delete " + old);
}

TEST(NextForeignStep, ARestartLearnsWhichNodesRefusedTheAttemptBefore) {
  World world;
  api::Pod& before = world.Pod("a", "0", false);
  world.Made(before).excluded = {{"n3", "2026-01-01T00:00:00Z"}};
  before.phase = api::PodPhase::kFailed;
  world.Pod("b", "1");
  EXPECT_EQ(world.Next(), "create -1 after n3 for JobSet b");
}

TEST(NextForeignStep, TheLastPlacementStaysWithoutPods) {
  World world;
  api::Pod& pod = world.Pod("a", "0", false);
  world.Made(pod);
  pod.phase = api::PodPhase::kSucceeded;
  EXPECT_EQ(world.Next(), "wait");
}

TEST(NextForeignStep, PodsThatAskForSomethingElseGetANewPlacementUntilItHasNodes) {
  World world;
  api::Pod& pod = world.Pod("a", "0");
  api::Placement& made = world.Made(pod);
  pod.meta.annotations.Set("weft.dev/topology", R"({"required": "leaf"})");
  EXPECT_EQ(world.Next(), "delete " + made.meta.key.name);
  made.nodes = {"n"};
  EXPECT_EQ(world.Next(), "wait");
}

TEST(NextForeignStep, APlacementOfAnEarlierObjectOfThatNameGoes) {
  World world;
  api::Pod& pod = world.Pod("a", "0");
  api::Placement& made = world.Made(pod);
  made.meta.owners[0].uid = "another";
  EXPECT_EQ(world.Next(), "delete " + made.meta.key.name);
  made.meta.deleting = true;
  EXPECT_EQ(world.Next(), "wait");
}

// An MPIJob was deleted and made again: its old worker waits on, until it is collected.
TEST(NextForeignStep, PodsOfAnEarlierObjectOfThatNameAreNoWorkers) {
  World world;
  const auto worker = [&world](const char* name, const char* uid, const char* created) -> auto& {
    api::Pod& pod = world.Pod(name, "0");
    pod.meta.labels = {{"weft.dev/place", "true"}, {"training.kubeflow.org/job-name", "x"}};
    pod.meta.owners = {{"kubeflow.org/v2beta1", "MPIJob", "x", uid, true}};
    pod.meta.creation_timestamp = created;
    return pod;
  };
  const api::Pod& old = worker("x-worker-9", "m0", "2026-01-01T00:00:00Z");
  api::Placement& before = world.Made(old);
  worker("x-worker-0", "m1", "2026-01-01T00:00:09Z");
  worker("x-worker-1", "m1", "2026-01-01T00:00:09Z");
  EXPECT_EQ(world.Next(), "delete " + before.meta.key.name);
  before.meta.key.name = "gone";
  before.meta.labels = {};
  before.pod_selector.reset();
  EXPECT_EQ(world.Next(), "create  for MPIJob x-worker-0 x-worker-1");
}

TEST(NextForeignStep, PodsWithoutAnAcceleratorLoseTheirGate) {
  World world;
  world.Pod("gpu", "0");
  world.Pod("cpu", "0").pod.requests = {{"cpu", 1000}};
  EXPECT_EQ(world.Next(), "free cpu");
}

TEST(NextForeignStep, AResourceThatAFabricNamesIsAnAccelerator) {
  World world;
  world.Pod("own", "0").pod.requests = {{"cpu", 1000}, {"example.com/x1", 8}};
  EXPECT_EQ(world.Next(), "free own");
  world.named = {"example.com/x1"};
  EXPECT_EQ(world.Next().substr(0, 7), "create ");
}

}  // namespace
}  // namespace weft::life
