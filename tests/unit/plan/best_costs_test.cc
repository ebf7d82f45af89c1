#include "operator/plan/best_costs.h"
#include "operator/cluster/build_cluster.h"

#include <gtest/gtest.h>

#include "operator/cluster/problem.h"
#include "operator/plan/plan.h"
#include "tests/support/scene.h"

namespace weft::plan {
namespace {

// Plans of one operator: jobs and pods change between them, the fabric only on request.
class BestCostsTest : public ::testing::Test {
 protected:
  BestCostsTest() : scene_(testing::FourNodes()) { BuildNewFabric(); }

  void BuildNewFabric() { fabrics_ = *cluster::BuildFabrics(scene_.inputs); }

  // Plans with the memory, checks that the answers are those without, and returns how many answers
  // were added.
  std::size_t Added() {
    const std::size_t before = known_.size();
    const cluster::Cluster cluster = cluster::BuildCluster(scene_.inputs, fabrics_);
    PlanOptions remembering;
    remembering.best_costs = &known_;
    const auto with = Plan(cluster, remembering);
    const auto without = Plan(cluster);
    EXPECT_EQ(with->entries.size(), without->entries.size());
    for (std::size_t i = 0; i < with->entries.size(); ++i) {
      const Placed* a = with->entries[i].placed();
      const Placed* b = without->entries[i].placed();
      EXPECT_EQ(a == nullptr, b == nullptr);
      if (a == nullptr || b == nullptr) continue;
      EXPECT_TRUE(a->best.has_value());
      EXPECT_EQ(a->best, b->best);
    }
    return known_.size() - std::min(before, known_.size());
  }

  testing::Scene scene_;
  cluster::Fabrics fabrics_;
  BestCosts known_;
};

TEST_F(BestCostsTest, ASecondPlanDoesNotSearchAgain) {
  scene_.Job("a", 2);
  EXPECT_EQ(Added(), 1U);
  EXPECT_EQ(Added(), 0U);
}

TEST_F(BestCostsTest, JobsOfOneTemplateShareAnAnswer) {
  for (const char* name : {"a", "b", "c", "d"}) scene_.Job(name, 1);
  EXPECT_EQ(Added(), 1U);
}

TEST_F(BestCostsTest, AnswersDoNotDependOnWhatRuns) {
  scene_.Job("a", 2);
  EXPECT_EQ(Added(), 1U);
  scene_.Pod("p", "n1");  // now the job spans two leaves and costs more than the best
  EXPECT_EQ(Added(), 0U);
}

TEST_F(BestCostsTest, AnotherQuestionIsAnotherAnswer) {
  struct Case {
    const char* name;
    void (*change)(api::TrainingJob&);
  };
  const Case cases[] = {
      {"workers", [](api::TrainingJob& job) { job.replicas = 3; }},
      {"accelerators", [](api::TrainingJob& job) { job.accelerator.per_worker = 4; }},
      {"the pods' requests", [](api::TrainingJob& job) { job.pod.requests[testing::kGpu] = 7; }},
      {"parallelism", [](api::TrainingJob& job) { job.parallelism.tensor = 2; }},
      {"a model",
       [](api::TrainingJob& job) {
         job.model.emplace();
         job.model->measured = {{traffic::Axis::kData, 1'000'000}};
       }},
      {"a level", [](api::TrainingJob& job) { job.topology.required = "spine"; }},
      {"a preferred level", [](api::TrainingJob& job) { job.topology.preferred = "leaf"; }},
      {"a group",
       [](api::TrainingJob& job) {
         api::GroupSpec group;
         group.axes = {traffic::Axis::kData};
         group.preferred = "leaf";
         job.topology.groups = {group};
       }},
      {"excluded nodes", [](api::TrainingJob& job) { job.wait.excluded_nodes = {"n0"}; }},
      {"previous nodes",
       [](api::TrainingJob& job) {
         job.wait.previous_nodes = {"n2", "n3"};
       }},
  };
  for (const Case& c : cases) {
    scene_ = testing::Scene(testing::FourNodes());
    known_ = BestCosts();
    scene_.Job("a", 2);
    EXPECT_EQ(Added(), 1U) << c.name;
    c.change(scene_.inputs.jobs.Edit(0));
    EXPECT_EQ(Added(), 1U) << c.name;
  }
}

TEST_F(BestCostsTest, AnotherFabricForgetsTheAnswers) {
  scene_.Job("a", 2);
  EXPECT_EQ(Added(), 1U);
  BuildNewFabric();
  (void)Added();
  EXPECT_EQ(known_.size(), 1U);
  known_.DropOtherFabrics(cluster::BuildCluster(scene_.inputs, fabrics_));
  EXPECT_EQ(known_.size(), 1U);  // the answer is one on the new fabric
}

TEST_F(BestCostsTest, KeepsTheAnswersThatWereUsedLast) {
  scene_.Job("a", 1);
  const cluster::Cluster cluster = cluster::BuildCluster(scene_.inputs, fabrics_);
  const cluster::ClusterFabric& on = cluster.fabrics.front();
  const cluster::WorkloadView workload = cluster::WorkloadOf(cluster.inputs->jobs[0]);
  cluster::Problem problem = *cluster::MakeProblem(on, workload);
  for (std::uint32_t i = 0; i <= BestCosts::kMost; ++i) {
    problem.request.workers = 1;
    EXPECT_EQ(known_.Find(on, workload, problem) != nullptr, i > 0);
    problem.request.workers = i + 1;
    known_.Add(on, workload, problem, BestCost{i, 0});
  }
  EXPECT_EQ(known_.size(), BestCosts::kMost);
  const auto found = [&](std::uint32_t workers) {
    problem.request.workers = workers;
    return known_.Find(on, workload, problem) != nullptr;
  };
  EXPECT_TRUE(found(1));
  EXPECT_FALSE(found(2));
  EXPECT_TRUE(found(3));
}

}  // namespace
}  // namespace weft::plan
