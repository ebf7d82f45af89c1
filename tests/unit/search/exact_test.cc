// The exact search is limited by what may hold the job, not by the size of the fabric.
#include "operator/search/exact.h"

#include <gtest/gtest.h>

#include "operator/placement/place.h"
#include "tests/support/fabric_builder.h"

namespace weft::search {
namespace {

constexpr int kNodesPerLeaf = 32;

// Spines of 10 leaves of 32 nodes of 8 GPUs. `free(leaf, node)`: free GPUs.
template <typename Free>
testing::Cluster MakeLeaves(std::size_t leaves, Free free) {
  testing::FreePerFabric spines;
  for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
    if (leaf % 10 == 0) spines.emplace_back();
    testing::FreePerNode nodes;
    for (int n = 0; n < kNodesPerLeaf; ++n) nodes.push_back(free(leaf, n));
    spines.back().push_back({nodes});
  }
  return testing::MakeCluster(testing::Spines(spines, false));
}

// A job with two axes inside one leaf: rings of two, four workers apart, and of four.
struct Job {
  Job(const testing::Cluster& cluster, std::uint32_t workers, std::uint32_t per_worker) {
    traffic::Parallelism shape;
    shape.context = 4 * std::int64_t{per_worker};
    const traffic::Model model{std::nullopt,
                               {{traffic::Axis::kContext, 3000}, {traffic::Axis::kData, 1000}}};
    graph.emplace(*traffic::ComputeTraffic(model, shape, workers, per_worker));
    request.job = "test/job";
    request.workers = workers;
    request.pod.requests = {{"nvidia.com/gpu", per_worker}};
    request.required = cluster.fabric->FindTier("leaf");
  }
  objective::Request request;
  std::optional<traffic::WorkerGraph> graph;
};

TEST(Exact, IsProvenInsideARequiredDomainOf32NodesWhateverTheFabric) {
  // Nodes with one, two, three and four slots of two GPUs, in every seventh leaf room for the job.
  const auto free = [](std::size_t leaf, int n) {
    return leaf % 7 == 0 ? 2 * (n % 5) : n % 8 == 0 ? 2 : 0;
  };
  for (const std::size_t leaves : {1u, 20u, 400u}) {
    const testing::Cluster cluster = MakeLeaves(leaves, free);
    const Job job(cluster, 8, 2);
    const auto plan = placement::Solve(cluster.claims, job.request, *job.graph);
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->exact) << leaves << " leaves";
    EXPECT_EQ(plan->cost == plan->lower_bound, true) << leaves << " leaves";
  }
}

TEST(Exact, TriesEveryHomeThatDiffers) {
  // Leaf 3 holds the job on two nodes, all others on more.
  const auto free = [](std::size_t leaf, int n) {
    const int slots = leaf == 3 ? (n < 2 ? 4 : 0) : (n < 6 + static_cast<int>(leaf) % 4 ? 2 : 0);
    return 2 * slots;
  };
  const testing::Cluster cluster = MakeLeaves(40, free);
  const Job job(cluster, 8, 2);
  const objective::Instance instance(cluster.claims, job.request, *job.graph);
  const ExactResult result = SearchExactly(instance, {}, 0, 0, {1'000'000, 1'000'000});
  ASSERT_TRUE(result.finished);
  const auto& of_node = cluster.fabric->domains(*job.request.required).of_node;
  for (const fabric::NodeIndex n : result.best->nodes)
    EXPECT_EQ(of_node[n], fabric::DomainIndex{3});
}

}  // namespace
}  // namespace weft::search
