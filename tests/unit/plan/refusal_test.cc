// What a job that has no place is told, reason by reason.
#include <gtest/gtest.h>

#include <functional>

#include "operator/placement/relax.h"
#include "operator/plan/plan.h"
#include "operator/plan/refusal.h"
#include "tests/support/scene.h"

namespace weft::plan {
namespace {

using placement::Reason;
using placement::Unplaceable;
using rules::Rejection;

struct RefusalCase {
  const char* name;
  std::function<void(Unplaceable&, api::TrainingJob&)> arrange;  // of 4 workers, 2 of which fit
  const char* want;
};

class RefusalByReasonTest : public ::testing::TestWithParam<RefusalCase> {};

// On two leaves of two nodes of 8 GPUs, in one spine.
std::string Told(const std::function<void(Unplaceable&, api::TrainingJob&)>& arrange,
                 const std::vector<placement::Relaxation>& relaxations = {}) {
  testing::Scene scene(testing::FourNodes());
  Unplaceable no;
  no.wanted_workers = 4;
  no.found_workers = 2;
  arrange(no, scene.Job("a", 4));
  const cluster::Cluster cluster = scene.Build();
  const auto pending = cluster::PendingWorkloads(cluster, cluster::Order::kFile);
  return RefusalText(cluster.fabrics[0], pending->front(), no, relaxations);
}

TEST_P(RefusalByReasonTest, SaysWhatIsMissingAndWhere) {
  EXPECT_EQ(Told(GetParam().arrange), GetParam().want);
}

const RefusalCase kCases[] = {
    {"NoCompleteNode", [](auto& no, auto&) { no.reason = Reason::kNoCompleteNode; },
     "Fabric \"default\" has no node: none matches its nodeSelector."},
    {"NoMatchingProduct",
     [](auto& no, auto& job) {
       no.reason = Reason::kNoMatchingProduct;
       job.accelerator.models = {"H100", "H200"};
     },
     "No node of fabric \"default\" that offers nvidia.com/gpu matches accelerator.models "
     "[H100, H200]. The fabric has unlabelled nodes."},
    {"NoMatchingCapacityType",
     [](auto& no, auto& job) {
       no.reason = Reason::kNoMatchingProduct;
       job.accelerator.capacity_types = {"Spot"};
     },
     "No node of fabric \"default\" that offers nvidia.com/gpu is of accelerator.capacityTypes "
     "[Spot]. The fabric has unlabelled nodes."},
    {"NoMatchingProductOfACapacityType",
     [](auto& no, auto& job) {
       no.reason = Reason::kNoMatchingProduct;
       job.accelerator.models = {"H100"};
       job.accelerator.capacity_types = {"Spot", "OnDemand"};
     },
     "No node of fabric \"default\" that offers nvidia.com/gpu matches accelerator.models "
     "[H100] and is of accelerator.capacityTypes [Spot, OnDemand]. The fabric has unlabelled "
     "nodes."},
    {"NoEligibleNode",
     [](auto& no, auto&) {
       no.reason = Reason::kNoEligibleNode;
       no.rejections = {{Rejection::kTaint, "taint sick:NoSchedule", 3}};
     },
     "No node of fabric \"default\" may run a worker of this job: 3 of 4 have the taint "
     "sick:NoSchedule, which is not tolerated."},
    {"InsufficientCapacity",
     [](auto& no, auto&) {
       no.reason = Reason::kInsufficientCapacity;
       no.short_resource = "nvidia.com/gpu";
       no.short_amount = 16;
     },
     "Fabric \"default\" has room for 2 of 4 workers: 16 nvidia.com/gpu are missing."},
    {"OneOfAResourceIsMissing",
     [](auto& no, auto&) {
       no.reason = Reason::kInsufficientCapacity;
       no.short_resource = "nvidia.com/gpu";
       no.short_amount = 1;
     },
     "Fabric \"default\" has room for 2 of 4 workers: 1 nvidia.com/gpu is missing."},
    {"NoResourceIsShort", [](auto& no, auto&) { no.reason = Reason::kInsufficientCapacity; },
     "Fabric \"default\" has room for 2 of 4 workers."},
    {"InsufficientCapacityOfEachProduct",
     [](auto& no, auto&) {
       no.reason = Reason::kInsufficientCapacity;
       no.choices = {{"A100", 3}, {"H100", 2}, {"H200", 1}};
     },
     "No product of fabric \"default\" has room for all 4 workers: A100 has room for 3, H100 "
     "for 2, H200 for 1."},
    {"RequiredLevel",
     [](auto& no, auto&) {
       no.reason = Reason::kRequiredLevel;
       no.tier = fabric::Tier{2};
       no.best_domain = "l1";
       no.short_resource = "cpu";
       no.short_amount = 1500;
     },
     "No single leaf has room for all 4 workers, as topology.required demands. The leaf l1 "
     "comes closest with room for 2 of 4 workers: 1500m cpu are missing there."},
    {"RequiredLevelOfOneProduct",
     [](auto& no, auto&) {
       no.reason = Reason::kRequiredLevel;
       no.tier = fabric::Tier{1};
       no.best_domain = "s0";
       no.choices = {{"A100", 3}, {"H100", 2}, {"H200", 1}};
       no.choice = 1;
     },
     "No single spine has room for all 4 workers, as topology.required demands. The spine s0 "
     "comes closest with room for 2 of 4 workers. These numbers are for H100; A100 has room for "
     "3, H200 for 1."},
    {"RequiredGroup",
     [](auto& no, auto& job) {
       no.reason = Reason::kRequiredGroup;
       no.tier = fabric::Tier{2};
       no.group = 0;
       no.group_workers = 3;
       no.best_domain = "l0";
       no.best_domain_workers = 1;
       job.topology.groups = {{{traffic::Axis::kTensor, traffic::Axis::kContext}, "leaf", ""}};
     },
     "topology.groups[0] (Tensor, Context) demands one leaf for each set of 3 workers. 2 of 4 "
     "workers fit in complete sets; the leaf l0 comes closest with room for 1 worker."},
    {"RequiredGroupsTogether", [](auto& no, auto&) { no.reason = Reason::kRequiredGroup; },
     "Each entry of topology.groups can be met alone, but not all of them together: 2 of 4 "
     "workers fit in complete sets."},
    {"SearchExhausted", [](auto& no, auto&) { no.reason = Reason::kSearchExhausted; },
     "There is room for all 4 workers, but the search found no placement that meets every "
     "topology rule; one may still exist."},
};

INSTANTIATE_TEST_SUITE_P(Table, RefusalByReasonTest, ::testing::ValuesIn(kCases),
                         [](const auto& row) { return row.param.name; });

struct RejectionCase {
  Rejection rejection;
  const char* detail;
  const char* of_one;
  const char* of_two;
};

TEST(RefusalText, SaysOfOneNodeAndOfSeveralWhyTheyAreOut) {
  const RejectionCase cases[] = {
      {Rejection::kUnusable, "not Ready", "is unusable (not Ready)", "are unusable (not Ready)"},
      {Rejection::kNodeName, "spec.nodeName n9", "is ruled out (spec.nodeName n9)",
       "are ruled out (spec.nodeName n9)"},
      {Rejection::kTaint, "taint a:NoExecute", "has the taint a:NoExecute, which is not tolerated",
       "have the taint a:NoExecute, which is not tolerated"},
      {Rejection::kNodeSelector, "node selector a=b", "does not match node selector a=b",
       "do not match node selector a=b"},
      {Rejection::kNodeAffinity, "node affinity", "does not match node affinity",
       "do not match node affinity"},
      {Rejection::kPool, "A100", "is A100", "are A100"},
      {Rejection::kResource, "cpu", "lacks free cpu", "lack free cpu"},
      {Rejection::kUnschedulable, "cordoned", "is cordoned", "are cordoned"},
      {Rejection::kExcluded, "excluded", "is excluded", "are excluded"},
      {Rejection::kComputeDomain, "held by x", "is held by x", "are held by x"},
      {Rejection::kPower, "x may draw 1W", "lacks power (x may draw 1W)",
       "lack power (x may draw 1W)"}};
  for (const RejectionCase& c : cases) {
    const auto told = [&](std::uint32_t nodes) {
      return Told([&](Unplaceable& no, api::TrainingJob&) {
        no.reason = Reason::kNoEligibleNode;
        no.rejections = {{c.rejection, c.detail, nodes}};
      });
    };
    const std::string head = "No node of fabric \"default\" may run a worker of this job: ";
    EXPECT_EQ(told(1), head + "1 of 4 " + c.of_one + ".");
    EXPECT_EQ(told(2), head + "2 of 4 " + c.of_two + ".");
  }
}

TEST(RefusalText, NamesFourRejectionsAndCountsTheRest) {
  const auto told = [](Reason reason, std::vector<rules::RejectionCount> rejections) {
    return Told([&](Unplaceable& no, api::TrainingJob&) {
      no.reason = reason;
      no.rejections = rejections;
    });
  };
  std::vector<rules::RejectionCount> five(5, {Rejection::kResource, "cpu", 1});
  EXPECT_TRUE(told(Reason::kNoEligibleNode, five)
                  .ends_with("1 of 4 lacks free cpu; 1 of 4 has another "
                             "reason."));
  five.push_back({Rejection::kResource, "cpu", 2});
  EXPECT_TRUE(told(Reason::kNoEligibleNode, five).ends_with("; 3 of 4 have other reasons."));
  EXPECT_EQ(told(Reason::kInsufficientCapacity, {{Rejection::kResource, "cpu", 3}}),
            "Fabric \"default\" has room for 2 of 4 workers. 3 of 4 nodes lack free cpu.");
  EXPECT_EQ(
      told(Reason::kInsufficientCapacity, {{Rejection::kResource, "cpu", 4}}),
      "Fabric \"default\" has room for 2 of 4 workers. No node has room: 4 of 4 lack free cpu.");
}

TEST(RefusalText, EndsInWhatCouldBeRelaxedAndWhatThatCosts) {
  const std::vector<placement::Relaxation> relaxations = {
      {"topology.required", "leaf -> spine", 2'000'000'000'000, {}, {}},
      {"nodeSelector", "removed", 0, {}, {}}};
  const auto full = [](Unplaceable& no, api::TrainingJob&) {
    no.reason = Reason::kInsufficientCapacity;
  };
  EXPECT_EQ(Told(full, relaxations),
            "Fabric \"default\" has room for 2 of 4 workers. To start now, relax one of: "
            "topology.required: leaf -> spine; nodeSelector: removed.");
  const auto modelled = [&](Unplaceable& no, api::TrainingJob& job) {
    full(no, job);
    job.model = testing::MeasuredData(1000);
  };
  EXPECT_EQ(Told(modelled, {relaxations[0]}),
            "Fabric \"default\" has room for 2 of 4 workers. To start now, relax one of: "
            "topology.required: leaf -> spine (2 ms of link time a step).");
}

// n3 has a taint; all four nodes are needed.
TEST(NeverFits, WhereATaintPassesByItself) {
  const auto never = [](const std::string& key, std::uint32_t workers) {
    testing::Scene scene(testing::FourNodes());
    scene.inputs.nodes.Edit(3).facts.taints = {{key, "", "NoSchedule"}};
    scene.Job("a", workers);
    const auto report = Plan(scene.Build());
    return NeverFits(*report->entries[0].refused());
  };
  for (const char* key :
       {"node.kubernetes.io/disk-pressure", "node.cloudprovider.kubernetes.io/uninitialized",
        "karpenter.sh/unregistered", "node.cilium.io/agent-not-ready",
        "node.cluster.x-k8s.io/uninitialized",
        "startup-taint.cluster-autoscaler.kubernetes.io/driver"}) {
    EXPECT_FALSE(never(key, 4)) << key;
    EXPECT_TRUE(never(key, 5)) << key;
  }
  for (const char* key : {"dedicated", "karpenter.sh/registered", "nvidia.com/gpu",
                          "node.kubernetes.io/exclude-gpu"}) {
    EXPECT_TRUE(never(key, 4)) << key;
  }
}

// A taint that stays is not forgotten beside one that passes.
TEST(NeverFits, WhereATaintStaysBesideOneThatPasses) {
  testing::Scene scene(testing::FourNodes());
  scene.inputs.nodes.Edit(3).facts.taints = {{"node.kubernetes.io/not-ready", "", "NoExecute"},
                                             {"dedicated", "other", "NoSchedule"}};
  scene.Job("a", 4);
  const auto report = Plan(scene.Build());
  EXPECT_TRUE(NeverFits(*report->entries[0].refused()));
}

// Each node takes a worker, and the processors of none suffice for two.
TEST(Refusal, NamesTheResourceThatBoundsTheWorkers) {
  testing::Scene scene(testing::FourNodes());
  for (std::size_t n = 0; n < 4; ++n) scene.inputs.nodes.Edit(n).facts.allocatable["cpu"] = 8000;
  scene.Job("a", 5, 2).pod.requests = {{testing::kGpu, 2}, {"cpu", 6000}};
  const auto report = Plan(scene.Build());
  ASSERT_TRUE(report);
  EXPECT_NE(report->entries[0].refused()->message.find("room for 4 of 5 workers: 6 cpu"),
            std::string::npos)
      << report->entries[0].refused()->message;
}

}  // namespace
}  // namespace weft::plan
