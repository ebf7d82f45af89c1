#include "operator/report/usage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/scene.h"

namespace weft::report {
namespace {

using testing::kGpu;
using testing::Scene;

constexpr const char* kQueue = "kueue.x-k8s.io/queue-name";

// {namespace/queue: {allocated, stranded}} of the only fabric.
std::map<std::string, std::pair<double, double>> UsageOf(const testing::Scene& scene) {
  std::map<std::string, std::pair<double, double>> usage;
  const auto cluster = scene.Build();
  for (const auto& [key, value] : MeasureUsage(cluster.fabrics.front())) {
    EXPECT_EQ(key.resource, testing::kGpu);
    auto& [allocated, stranded] = usage[key.space + "/" + key.queue];
    allocated += value.allocated;
    stranded += value.stranded;
  }
  return usage;
}

api::Pod& PodIn(testing::Scene& scene, const std::string& space, const std::string& name,
                const std::string& node, std::int64_t gpus, const std::string& queue = "") {
  api::Pod& pod = scene.Pod(name, node);
  pod.meta.key.space = space;
  pod.pod.requests = {{testing::kGpu, gpus}, {"cpu", 4}};
  if (!queue.empty()) pod.meta.labels.Set(kQueue, queue);
  return pod;
}

TEST(UsageTest, PodsOfOneNodeShareWhatTheyStrandThere) {
  testing::Scene scene(testing::FourNodes());
  PodIn(scene, "a", "p", "n0", 1, "q");
  PodIn(scene, "b", "p", "n0", 3);
  PodIn(scene, "b", "r", "n1", 8);  // a full node strands nothing
  EXPECT_EQ(UsageOf(scene),
            (std::map<std::string, std::pair<double, double>>{{"a/q", {1, 1}}, {"b/", {11, 3}}}));
}

TEST(UsageTest, FreeAcceleratorsOfACordonedNodeAreNotStrandedByAnybody) {
  testing::Scene scene(testing::FourNodes());
  PodIn(scene, "a", "p", "n0", 1);
  scene.inputs.nodes.Edit(0).facts.unschedulable = true;
  EXPECT_EQ(UsageOf(scene), (std::map<std::string, std::pair<double, double>>{{"a/", {1, 0}}}));
}

TEST(UsageTest, AJobIsInTheQueueOfItsLabelAndWorkersWithoutAPodCount) {
  testing::Scene scene(testing::FourNodes());
  api::TrainingJob& job = scene.Job("big", 2);
  job.meta.labels.Set(kQueue, "team");
  job.attempt = 1;
  api::Placement& placement = scene.Placement("big-1", 2, {"n0", "n1"});
  placement.meta.labels.Set("weft.dev/job-name", "big");
  placement.meta.labels.Set("weft.dev/attempt", "1");
  EXPECT_EQ(UsageOf(scene),
            (std::map<std::string, std::pair<double, double>>{{"ns/team", {16, 0}}}));
}

TEST(UsageTest, TheLabelThatKueueGivesPodsNamesTheirQueueToo) {
  testing::Scene scene(testing::FourNodes());
  PodIn(scene, "a", "p", "n0", 8).meta.labels.Set("kueue.x-k8s.io/local-queue-name", "q");
  EXPECT_EQ(UsageOf(scene), (std::map<std::string, std::pair<double, double>>{{"a/q", {8, 0}}}));
}

TEST(UsageTest, ProductsAndCapacityTypesAreCountedApart) {
  testing::Scene scene(testing::ThreeProducts());
  PodIn(scene, "a", "p", "n2", 8);
  PodIn(scene, "a", "q", "n5", 8);
  std::vector<std::tuple<std::string, std::string>> kinds;
  const auto cluster = scene.Build();
  for (const auto& [key, value] : MeasureUsage(cluster.fabrics.front())) {
    kinds.emplace_back(key.product, fabric::CapacityTypeName(key.capacity));
  }
  EXPECT_EQ(kinds, (std::vector<std::tuple<std::string, std::string>>{
                       {"NVIDIA-H100-80GB-HBM3", "OnDemand"}, {"NVIDIA-H100-80GB-HBM3", "Spot"}}));
}

TEST(UsageTest, PodsAreNamedOnlyInNamespacesWithSeveralQueues) {
  testing::Scene scene(testing::FourNodes());
  PodIn(scene, "one", "p", "n0", 1, "q");
  PodIn(scene, "one", "r", "n0", 1, "q");
  PodIn(scene, "two", "p", "n1", 1, "q");
  PodIn(scene, "two", "r", "n1", 1);
  PodIn(scene, "two", "without", "n2", 0, "other");
  std::vector<std::tuple<std::string, std::string>> queues;
  for (const PodQueue& one : QueuesOfPods(scene.Build())) {
    queues.emplace_back(api::Show(one.pod), one.queue);
  }
  std::sort(queues.begin(), queues.end());
  EXPECT_EQ(queues,
            (std::vector<std::tuple<std::string, std::string>>{{"two/p", "q"}, {"two/r", ""}}));
}

}  // namespace
}  // namespace weft::report
