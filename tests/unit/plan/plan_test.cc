#include "operator/plan/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "operator/cluster/choose_fabric.h"
#include "operator/plan/plan_report.h"
#include "tests/support/scene.h"

namespace weft::plan {
namespace {

std::string Answer(const cluster::Cluster& cluster, const PlanEntry& entry) {
  std::string text = entry.workload.PlacementName() + ":";
  if (const Refused* refused = entry.refused()) return text + " " + refused->reason;
  for (const auto node : entry.placed()->plan.nodes) {
    text += " " + cluster.fabrics[*entry.fabric].fabric->node(node).name;
  }
  return text;
}

struct QueueCase {
  const char* name;
  std::function<void(testing::Scene&)> arrange;
  std::vector<std::string> answers;
  cluster::Order order = cluster::Order::kFile;
};

class QueueTest : public ::testing::TestWithParam<QueueCase> {};

TEST_P(QueueTest, EachTakesWhatTheEarlierLeft) {
  testing::Scene scene(testing::FourNodes());
  GetParam().arrange(scene);
  const cluster::Cluster cluster = scene.Build();
  PlanOptions options;
  options.order = GetParam().order;
  const auto report = Plan(cluster, options);
  ASSERT_TRUE(report) << report.error().message;
  std::vector<std::string> answers;
  for (const PlanEntry& entry : report->entries) answers.push_back(Answer(cluster, entry));
  EXPECT_EQ(answers, GetParam().answers);
}

void Classes(testing::Scene& s) {
  api::PriorityClass high;
  high.meta.key.name = "high";
  high.value = 100;
  s.inputs.priority_classes.push_back(high);
}

// A job that prefers one leaf and waits 600 s for it; of these, `waited` have passed, if any began.
void WaitingJob(testing::Scene& s, std::uint32_t replicas, std::optional<std::int64_t> waited) {
  api::TrainingJob& job = s.Job("a", replicas);
  job.topology.preferred = "leaf";
  job.topology.wait_for_preferred_seconds = 600;
  job.wait.waited_seconds = waited;
}

// One node of each leaf is taken, so that two nodes are free, but not in one leaf.
void TakeANodeOfEachLeaf(testing::Scene& s) {
  s.Pod("p", "n1");
  s.Pod("q", "n3");
}

const QueueCase kQueueCases[] = {
    {"NoJobGivesNoEntry", [](testing::Scene&) {}, {}},
    {"JobsTakeLeavesInTurn",
     [](testing::Scene& s) {
       s.Job("a", 2);
       s.Job("b", 2);
     },
     {"a-1: n0 n1", "b-1: n2 n3"}},
    {"SkipsAJobThatDoesNotFitAndPlacesTheRest",
     [](testing::Scene& s) {
       s.Job("big", 5);
       s.Job("small", 1);
     },
     {"big-1: InsufficientCapacity", "small-1: n0"}},
    {"SuspendedFinishedAndPlacedJobsAreNotPlanned",
     [](testing::Scene& s) {
       s.Job("suspended", 1).suspend = true;
       s.Job("done", 1).conditions = {{"Complete", "True", "", "", ""}};
       s.Job("placed", 1);
       s.Placement("placed-1", 1, {"n0"});
       s.Job("new", 1).attempt = 3;
     },
     {"new-4: n1"}},
    {"ARestartKeepsTheNodesThatAreLeft",
     [](testing::Scene& s) {
       s.Job("a", 2).attempt = 1;
       s.inputs.jobs.Edit(0).wait.previous_nodes = {"gone", "n3"};
     },
     {"a-2: n2 n3"}},
    {"AvoidedNodesAreLeftOutWhereOthersDo",
     [](testing::Scene& s) { s.Job("a", 2).wait.avoided_nodes = {"n0"}; },
     {"a-1: n2 n3"}},
    {"AvoidedNodesAreUsedWhereNoOthersDo",
     [](testing::Scene& s) { s.Job("a", 4).wait.avoided_nodes = {"n0"}; },
     {"a-1: n0 n1 n2 n3"}},
    {"AvoidedNodesAreUsedBeforeAPreferredLevelIsMissed",
     [](testing::Scene& s) {
       api::TrainingJob& job = s.Job("a", 2);
       job.wait.avoided_nodes = {"n0"};
       job.topology.preferred = "leaf";
       s.Pod("p", "n3");
     },
     {"a-1: n0 n1"}},
    {"APlacementIsPlacedLikeAJob",
     [](testing::Scene& s) {
       s.Placement("mine", 2);
       s.Job("a", 1);
     },
     {"mine: n0 n1", "a-1: n2"}},
    {"APlacementWithASelectorWaitsForItsPods",
     [](testing::Scene& s) {
       s.Placement("p", 2).pod_selector = fabric::LabelSelector{{{"a", "b"}}, {}};
       s.Pod("x", "", {{"a", "b"}}).scheduling_gates = {api::kGate};
     },
     {"p: WaitingForPods"}},
    {"APodThatWaitsForAnotherGateTooIsNotYetThere",
     [](testing::Scene& s) {
       s.Placement("p", 1).pod_selector = fabric::LabelSelector{{{"a", "b"}}, {}};
       s.Pod("x", "", {{"a", "b"}}).scheduling_gates = {api::kGate, "test/other"};
     },
     {"p: WaitingForPods"}},
    {"PodsThatCannotBeItsWorkersAreRefused",
     [](testing::Scene& s) {
       s.Placement("p", 1).pod_selector = fabric::LabelSelector{{{"a", "b"}}, {}};
       s.Pod("x", "", {{"a", "b"}}).scheduling_gates = {api::kGate};
       s.Pod("y", "", {{"a", "b"}}).scheduling_gates = {api::kGate};
     },
     {"p: WorkerIndexInvalid"}},
    {"APlacementWithASelectorTakesWhatItsPodsAsk",
     [](testing::Scene& s) {
       s.Placement("p", 1).pod_selector = fabric::LabelSelector{{{"a", "b"}}, {}};
       api::Pod& pod = s.Pod("x", "", {{"a", "b"}});
       pod.scheduling_gates = {api::kGate};
       pod.pod.node_selector = {{"test/leaf", "l1"}};
     },
     {"p: n2"}},
    {"TheOperatorsOrderIsPriorityThenAge",
     [](testing::Scene& s) {
       Classes(s);
       s.Job("young", 2).meta.creation_timestamp = "2026-02-01T00:00:00Z";
       s.Job("old", 2).meta.creation_timestamp = "2026-01-01T00:00:00Z";
       s.Job("high", 1).priority_class_name = "high";
     },
     {"young-1: InsufficientCapacity", "old-1: n2 n3", "high-1: n0"},
     cluster::Order::kOperator},
    {"ExcludedNodesAreNotUsed",
     [](testing::Scene& s) {
       s.Job("a", 1).wait.excluded_nodes = {"n0", "n1", "gone"};
     },
     {"a-1: n2"}},
    {"RequiredTooNarrowIsRefusedByThatLevel",
     [](testing::Scene& s) { s.Job("a", 3).topology.required = "leaf"; },
     {"a-1: RequiredLevel"}},
    {"WhileItWaitsForThePreferredLevelItTakesNoWiderOne",
     [](testing::Scene& s) {
       TakeANodeOfEachLeaf(s);
       WaitingJob(s, 2, 599);
     },
     {"a-1: WaitingForPreferred"}},
    {"ALevelThatCouldNeverHoldItIsNotWaitedFor",
     [](testing::Scene& s) { WaitingJob(s, 3, 0); },
     {"a-1: n0 n1 n2"}},
    {"AfterTheWaitItSettlesForAWiderLevel",
     [](testing::Scene& s) { WaitingJob(s, 3, 600); },
     {"a-1: n0 n1 n2"}},
    {"AfterTheWaitItIsRefusedLikeAnyOther",
     [](testing::Scene& s) {
       TakeANodeOfEachLeaf(s);
       WaitingJob(s, 3, 600);
     },
     {"a-1: InsufficientCapacity"}},
    {"WithoutAStartOfItsWaitItIsRefusedLikeAnyOther",
     [](testing::Scene& s) { WaitingJob(s, 5, std::nullopt); },
     {"a-1: InsufficientCapacity"}},
};
INSTANTIATE_TEST_SUITE_P(Queues, QueueTest, ::testing::ValuesIn(kQueueCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(ClaimsBefore, HoldWhatEarlierEntriesGot) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("a", 2);
  scene.Job("big", 5);
  scene.Job("b", 1);
  const cluster::Cluster cluster = scene.Build();
  const auto report = Plan(cluster);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->entries.size(), 3U);
  const auto free_before = [&](std::size_t entry) {
    const fabric::Claims claims = ClaimsBefore(cluster, *report, entry);
    std::vector<std::int64_t> free;
    for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(4))
      free.push_back(claims.free_accelerators(n));
    return free;
  };
  EXPECT_EQ(free_before(0), (std::vector<std::int64_t>{8, 8, 8, 8}));
  EXPECT_EQ(free_before(2), (std::vector<std::int64_t>{0, 0, 8, 8}));
}

struct ErrorCase {
  const char* name;
  std::function<void(testing::Scene&)> arrange;
  const char* message;
};

class PlanErrorTest : public ::testing::TestWithParam<ErrorCase> {};

TEST_P(PlanErrorTest, NamesThePlaceAndTheField) {
  testing::Scene scene(testing::FourNodes());
  GetParam().arrange(scene);
  const cluster::Cluster cluster = scene.Build();
  const auto report = Plan(cluster);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, GetParam().message);
}

const ErrorCase kErrorCases[] = {
    {"UnknownLevel", [](testing::Scene& s) { s.Job("x", 1).topology.required = "rack"; },
     "jobs.yaml: TrainingJob ns/x: spec.topology.required: unknown level \"rack\"; this fabric has "
     "spine, leaf, node"},
    {"OutsideIsNoLevelToRequire",
     [](testing::Scene& s) { s.Job("x", 1).topology.preferred = "outside"; },
     "jobs.yaml: TrainingJob ns/x: spec.topology.preferred: unknown level \"outside\"; this fabric "
     "has spine, leaf, node"},
    {"PreferredWiderThanRequired",
     [](testing::Scene& s) {
       s.Job("x", 1).topology = {"leaf", "spine", std::nullopt, {}};
     },
     "jobs.yaml: TrainingJob ns/x: spec.topology.preferred: \"spine\" is wider than required "
     "\"leaf\""},
    {"GroupPreferredWiderThanRequired",
     [](testing::Scene& s) {
       s.Job("x", 1).topology.groups = {{{traffic::Axis::kData}, "leaf", "spine"}};
     },
     "jobs.yaml: TrainingJob ns/x: spec.topology.groups[0].preferred: \"spine\" is wider than "
     "required \"leaf\""},
    {"UnknownFabric", [](testing::Scene& s) { s.Job("x", 1).fabric_name = "b"; },
     "jobs.yaml: TrainingJob ns/x: spec.fabricName: unknown Fabric \"b\"; known: default"},
    {"TwoPlacementsOfOneName",
     [](testing::Scene& s) {
       s.Job("x", 1);
       s.Placement("x-1", 1);
     },
     "placements.yaml: Placement ns/x-1: metadata.name: Placement ns/x-1 would also belong to "
     "jobs.yaml: TrainingJob ns/x"},
};
// Anybody may give a Placement such a name: the other jobs of the cluster are placed all the same.
TEST(Plan, AJobWhosePlacementSomebodyElseHasMadeIsRefusedAlone) {
  testing::Scene scene(testing::FourNodes());
  scene.Placement("x-1", 1);
  scene.Job("x", 1);
  scene.Job("y", 1);
  const cluster::Cluster cluster = scene.Build();
  PlanOptions options;
  options.refuse_invalid = true;
  const auto report = Plan(cluster, options);
  ASSERT_TRUE(report);
  ASSERT_EQ(report->entries.size(), 3u);
  EXPECT_NE(report->entries[0].placed(), nullptr);
  ASSERT_NE(report->entries[1].refused(), nullptr);
  EXPECT_EQ(report->entries[1].refused()->reason, "Invalid");
  EXPECT_NE(report->entries[2].placed(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Errors, PlanErrorTest, ::testing::ValuesIn(kErrorCases),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Refusal, SaysWhatIsShortWhatToRelaxAndWhenItFits) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("first", 1).expected_duration_seconds = 7200;
  scene.Job("second", 2).topology.required = "leaf";
  scene.Job("third", 2).topology.required = "leaf";
  const cluster::Cluster cluster = scene.Build();
  const auto report = Plan(cluster);
  ASSERT_TRUE(report);
  const Refused* refused = report->entries[2].refused();
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->message,
            "Fabric \"default\" has room for 1 of 2 workers: 8 nvidia.com/gpu are missing. 3 of 4 "
            "nodes lack free nvidia.com/gpu. It would fit within 2 h, when ns/first ends.");
}

TEST(Refusal, NamesTheOneConstraintToRelax) {
  testing::Scene scene(testing::FourNodes());
  scene.Pod("p", "n0");
  scene.Pod("q", "n2");
  scene.Job("a", 2).topology.required = "leaf";
  const auto report = Plan(scene.Build());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->entries[0].refused()->message,
            "No single leaf has room for all 2 workers, as topology.required demands. The leaf l0 "
            "comes closest with room for 1 of 2 workers: 8 nvidia.com/gpu are missing there. 2 of "
            "4 nodes lack free nvidia.com/gpu. To start now, relax one of: topology.required: leaf "
            "-> spine. Its start time is unknown: too few of the running jobs state "
            "expectedDurationSeconds.");
}

TEST(Refusal, NamesGatesOfOtherControllers) {
  testing::Scene scene(testing::FourNodes());
  scene.Placement("p", 3).pod_selector = fabric::LabelSelector{{{"a", "b"}}, {}};
  const auto message = [&](const char* pod, std::vector<std::string> gates) {
    scene.Pod(pod, "", {{"a", "b"}}).scheduling_gates = std::move(gates);
    return Plan(testing::Scene(scene).Build())->entries[0].refused()->message;
  };
  EXPECT_EQ(message("x", {api::kGate}),
            "spec.podSelector matches 1 of 3 pods with the scheduling gate weft.dev/placement; "
            "nothing is placed before all of them exist.");
  EXPECT_EQ(message("y", {api::kGate, "kueue.x-k8s.io/admission"}),
            "spec.podSelector matches 2 of 3 pods with the scheduling gate weft.dev/placement, and "
            "1 of them also has the gate kueue.x-k8s.io/admission; nothing is placed before all of "
            "them exist without other gates.");
  EXPECT_EQ(message("z", {"test/other", api::kGate}),
            "spec.podSelector matches 3 of 3 pods with the scheduling gate weft.dev/placement, and "
            "2 of them also have the gates kueue.x-k8s.io/admission, test/other; nothing is placed "
            "before all of them exist without other gates.");
}

// Placements of Workloads of Kueue, whose pods do not exist yet.
struct QueuedScene : testing::Scene {
  QueuedScene() : testing::Scene(testing::FourNodes()) {}
  api::Proposal& Add(const std::string& name, std::uint32_t workers, const char* bundle) {
    api::Placement& one = Placement(name, workers);
    one.pod_selector = fabric::LabelSelector{{{"weft.dev/placement", name}}, {}};
    one.meta.owners = {{"kueue.x-k8s.io/v1beta2", "Workload", bundle, bundle, true}};
    api::Proposal& proposal = one.proposal.emplace();
    proposal.pod.requests = {{testing::kGpu, 8}};
    proposal.bundle = bundle;
    return proposal;
  }
};

TEST(Bundle, GetsNodesAllTogetherOrNotAtAll) {
  QueuedScene scene;
  scene.Add("a1", 2, "a");
  scene.Add("a2", 3, "a");
  scene.Add("a3", 1, "a");
  scene.Add("b1", 3, "b");
  scene.Add("b2", 1, "b");
  const cluster::Cluster cluster = scene.Build();
  const auto report = Plan(cluster, {});
  ASSERT_TRUE(report);
  std::vector<std::string> answers;
  for (const PlanEntry& entry : report->entries) answers.push_back(Answer(cluster, entry));
  EXPECT_EQ(answers,
            (std::vector<std::string>{"a1: InsufficientCapacity", "a2: InsufficientCapacity",
                                      "a3: InsufficientCapacity", "b1: n0 n1 n2", "b2: n3"}));
}

TEST(Bundle, IsPlannedByItsPriorityAndByWhatItsPodsWillRequest) {
  QueuedScene scene;
  scene.Add("low", 4, "a");
  scene.Add("high", 1, "b").pod.node_name = "n2";
  scene.inputs.placements.Edit(1).proposal->priority = 5;
  const cluster::Cluster cluster = scene.Build();
  PlanOptions options;
  options.order = cluster::Order::kOperator;
  const auto report = Plan(cluster, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(Answer(cluster, report->entries[1]), "high: n2");
  EXPECT_EQ(Answer(cluster, report->entries[0]), "low: InsufficientCapacity");
}

// The record is on the Workload and says nothing of its pod sets, of which others have some too.
TEST(Bundle, IsRefusedForTheCrashesOfAnEqualOneOnlyIfAllPartsAreEqual) {
  QueuedScene scene;
  const auto add = [&](const std::string& bundle, std::uint32_t launchers, std::uint32_t trainers) {
    scene.Add(bundle + "-l", launchers, bundle.c_str());
    scene.Add(bundle + "-t", trainers, bundle.c_str());
  };
  add("crashed", 1, 2);
  for (const std::size_t part : {0U, 1U, 0U, 1U}) {  // twice
    RecordCrash(scene.inputs.placements.Edit(part).conditions, 0, {"0.1.0", 11}, 1'800'000'000);
  }
  add("healthy", 1, 1);  // the same launcher
  add("equal", 2, 1);    // the same parts, in another order
  CrashedKinds kinds;
  PlanOptions options;
  options.crashes = {.version = "0.1.0", .now = 1'800'000'000};
  options.crashed_kinds = &kinds;
  const cluster::Cluster cluster = scene.Build();
  const auto report = Plan(cluster, options);
  ASSERT_TRUE(report);
  std::vector<std::string> answers;
  for (const PlanEntry& entry : report->entries) answers.push_back(Answer(cluster, entry));
  EXPECT_EQ(answers, (std::vector<std::string>{"crashed-l: SolverFailed", "crashed-t: SolverFailed",
                                               "healthy-l: n0", "healthy-t: n1",
                                               "equal-l: SolverFailed", "equal-t: SolverFailed"}));
  EXPECT_EQ(kinds.size(), 1U);
  EXPECT_TRUE(NeverFits(*report->entries[0].refused()));
  EXPECT_FALSE(NeverFits(*report->entries[4].refused()));  // it is tried in an hour
}

TEST(NeverFits, UnlessNodesMayComeBack) {
  Refused refused;
  refused.reason = "Invalid";
  EXPECT_TRUE(NeverFits(refused));
  refused.reason = "FabricAmbiguous";
  EXPECT_FALSE(NeverFits(refused));
  refused.why.emplace();
  EXPECT_FALSE(NeverFits(refused));
  refused.why->ever = false;
  EXPECT_FALSE(NeverFits(refused));
  refused.why->ever_when_healthy = false;
  EXPECT_TRUE(NeverFits(refused));
  refused.why->reason = placement::Reason::kNoCompleteNode;
  EXPECT_FALSE(NeverFits(refused));
}

// n3 lacks a label that its labeller may still write.
TEST(NeverFits, WhereNodesThatLackLabelsCouldHoldWhatIsMissing) {
  const auto never = [](std::uint32_t workers, bool cordoned) {
    testing::Scene scene(testing::FourNodes());
    scene.inputs.nodes.Edit(3).facts.labels = {};
    scene.inputs.nodes.Edit(0).facts.unschedulable = cordoned;
    scene.Job("a", workers);
    const auto report = Plan(scene.Build());
    return NeverFits(*report->entries[0].refused());
  };
  EXPECT_FALSE(never(4, false));
  EXPECT_TRUE(never(5, false));
  EXPECT_FALSE(never(4, true));
  EXPECT_TRUE(never(5, true));
}

// Capacity 8; n0 offers none of them, n1 seven.
TEST(Refusal, WaitsForAcceleratorsThatComeBack) {
  const auto plan = [](std::uint32_t workers, std::uint32_t gpus) {
    testing::Scene scene(testing::FourNodes());
    for (const auto& [n, offers] : {std::pair{0, 0}, {1, 7}}) {
      fabric::NodeFacts& facts = scene.inputs.nodes.Edit(static_cast<std::size_t>(n)).facts;
      facts.allocatable[testing::kGpu] = offers;
      facts.capacity = {{testing::kGpu, 8}};
    }
    scene.Job("a", workers, gpus);
    const auto report = Plan(scene.Build());
    const Refused* refused = report->entries[0].refused();
    return refused == nullptr ? "placed" : std::to_string(refused->ever) + " " + refused->message;
  };
  EXPECT_EQ(plan(2, 8), "placed");
  EXPECT_EQ(plan(3, 7), "placed");
  EXPECT_NE(
      plan(3, 8).find("It can start once nodes offer all that they have: n0 "
                      "offers 0 of its 8 nvidia.com/gpu, and 1 more node too few of its own."),
      std::string::npos)
      << plan(3, 8);
  EXPECT_EQ(plan(3, 8).substr(0, 1), "1");
  EXPECT_EQ(plan(4, 8).substr(0, 1), "1") << plan(4, 8);
  EXPECT_NE(plan(4, 8).find("It cannot fit before more nodes are usable."), std::string::npos);
  EXPECT_EQ(plan(5, 8).substr(0, 1), "0") << plan(5, 8);
  EXPECT_EQ(plan(1, 16).substr(0, 1), "0") << plan(1, 16);
}

TEST(Refusal, SaysThatNoNodeHasRoom) {
  testing::Scene scene(testing::FourNodes());
  for (const char* node : {"n0", "n1", "n2", "n3"}) scene.Pod(std::string("p-") + node, node);
  scene.Job("a", 1);
  const auto report = Plan(scene.Build());
  ASSERT_TRUE(report);
  EXPECT_EQ(
      report->entries[0].refused()->message,
      "Fabric \"default\" has room for 0 of 1 worker: 8 nvidia.com/gpu are missing. No node has "
      "room: 4 of 4 lack free nvidia.com/gpu. Its start time is unknown: too few of "
      "the running jobs state expectedDurationSeconds.");
}

TEST(Refusal, NamesTheGroupThatCannotHold) {
  testing::Scene scene(testing::Leaves({{6, 6, 6, 6}}, 6));
  api::TrainingJob& job = scene.Job("a", 8, 2);
  job.parallelism.tensor = 2;
  job.parallelism.context = 4;
  using traffic::Axis;
  job.topology.groups = {{{Axis::kTensor, Axis::kContext, Axis::kData}, "leaf", ""},
                         {{Axis::kTensor, Axis::kContext}, "node", ""}};
  const auto report = Plan(scene.Build());
  ASSERT_TRUE(report);
  EXPECT_EQ(
      report->entries[0].refused()->message,
      "topology.groups[1] (Tensor, Context) demands one node for each set of 4 workers. "
      "0 of 8 workers fit in complete sets; the node n0 comes closest with room for 3 workers. To "
      "start now, relax one of: topology.groups[1].required: node -> leaf. Unchanged, it never "
      "fits this fabric, not even with nothing else running.");
}

// Of a job that was not applied it is not known which tolerations admission adds.
TEST(Refusal, DoesNotSayNeverOfATaintThatAdmissionMayTolerate) {
  const auto message = [](const char* uid, const char* taint) {
    testing::FabricShape shape = testing::FourNodes();
    for (auto& node : shape.nodes) node.taints = {{taint, "present", "NoSchedule"}};
    testing::Scene scene(shape);
    scene.Job("a", 1).meta.uid = uid;
    return Plan(scene.Build())->entries[0].refused()->message;
  };
  const std::string never = " never fits this fabric, not even with nothing else running.";
  const std::string unapplied = message("", "nvidia.com/gpu");
  EXPECT_NE(unapplied.find("(ExtendedResourceToleration, GKE): apply the job"), std::string::npos)
      << unapplied;
  EXPECT_TRUE(unapplied.ends_with("Without the toleration it never fits this fabric."))
      << unapplied;
  EXPECT_TRUE(message("u", "nvidia.com/gpu").ends_with(never));
  EXPECT_TRUE(message("", "team").ends_with(never));
}

TEST(Refusal, SaysThatSickNodesMayComeBack) {
  testing::FabricShape shape = testing::FourNodes();
  for (auto& node : shape.nodes) node.unschedulable = true;
  testing::Scene scene(shape);
  scene.Job("a", 1);
  const std::string message = Plan(scene.Build())->entries[0].refused()->message;
  EXPECT_TRUE(message.ends_with("It cannot fit before more nodes are usable.")) << message;
}

TEST(Refusal, NamesAResourceThatNoNodeOffers) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("a", 1).pod.requests["example.com/fpga"] = 1;
  const auto report = Plan(scene.Build());
  ASSERT_TRUE(report);
  const Refused* refused = report->entries[0].refused();
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->why->short_resource, "example.com/fpga");
  EXPECT_FALSE(refused->why->ever);
}

TEST(ChooseFabric, TheNamespaceNamesAFabricElseTwoThatFitAreAmbiguous) {
  testing::Scene scene(testing::FourNodes());
  scene.inputs.fabrics[0].spec.node_selector = {{{"test/leaf", "l0"}}, {}};
  scene.inputs.fabrics.push_back(scene.inputs.fabrics[0]);
  scene.inputs.fabrics[1].meta.key.name = "other";
  scene.inputs.fabrics[1].spec.node_selector = {{{"test/leaf", "l1"}}, {}};
  scene.Job("a", 1);
  const cluster::Cluster ambiguous = scene.Build();
  EXPECT_EQ(Answer(ambiguous, Plan(ambiguous)->entries[0]), "a-1: FabricAmbiguous");

  api::Namespace space;
  space.meta.key.name = "ns";
  space.meta.labels = {{api::kDefaultFabricLabel, "other"}};
  scene.inputs.namespaces.push_back(space);
  const cluster::Cluster named = scene.Build();
  EXPECT_EQ(Answer(named, Plan(named)->entries[0]), "a-1: n2");
}

TEST(Plan, TheOrderOfNodesAndPodsInTheInputDoesNotMatter) {
  testing::Scene scene(testing::Leaves({{8, 8, 8}, {8, 8, 8}, {8, 8}}));
  scene.Pod("p", "n1");
  scene.Pod("q", "n5");
  scene.Job("a", 3).model = testing::MeasuredData(1'000'000);
  scene.Job("b", 2).topology.required = "leaf";
  testing::Scene turned = scene;
  turned.inputs.nodes = testing::Reversed(turned.inputs.nodes);
  turned.inputs.pods = testing::Reversed(turned.inputs.pods);
  const cluster::Cluster one = scene.Build(), other = turned.Build();
  const auto first = Plan(one), second = Plan(other);
  ASSERT_TRUE(first && second);
  for (std::size_t e = 0; e < first->entries.size(); ++e) {
    EXPECT_EQ(Answer(one, first->entries[e]), Answer(other, second->entries[e]));
  }
}

TEST(Timings, ComeFromTheClockThatIsGiven) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("a", 1);
  PlanOptions options;
  std::int64_t now = 0;
  options.microseconds = [&] { return now += 5; };
  EXPECT_EQ(Plan(scene.Build(), options)->entries[0].solve_microseconds, 5);
}

}  // namespace
}  // namespace weft::plan
