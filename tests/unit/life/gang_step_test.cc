#include "operator/life/gang_step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "operator/cluster/placement_pods.h"
#include "operator/life/exclusion.h"
#include "operator/life/retry.h"

namespace weft::life {
namespace {

constexpr UnixSeconds kStart = 1'800'000'000;
constexpr std::uint32_t kWorkers = 3;
using Trace = std::vector<std::string>;

// A cluster of one gang: carries out steps as an API server, a planner, a controller of pods, a
// scheduler and kubelets would.
class World {
 public:
  World() {
    placement_.meta.key = {"ns", "gang"};
    placement_.meta.uid = "u1";
    placement_.workers = kWorkers;
    placement_.pod_selector.emplace();
    for (std::uint32_t i = 0; i < kWorkers; ++i) NewPod();
    Plan();
  }

  UnixSeconds now = kStart;
  int plans = 9;                 // that the planner has room for
  bool controller = true;        // the pods have one, and it makes a new one for each that goes
  bool ungating = true;          // admission lets gates be removed
  bool kubelets = true;          // pods that are deleted go
  std::set<std::string> full;    // nodes that kube-scheduler does not bind to
  bool silent = false;           // kube-scheduler does not run
  std::uint32_t succeeded = 0;   // as Kueue counts them
  cluster::Completed completed;  // as the Job tells
  std::vector<UnixSeconds> asked;
  std::map<std::string, NodeState> states;  // of nodes that are not well
  Trace trace;

  // Steps and the cluster's answers until nothing is left to do; what the last one waits for.
  Wait Run(int most = 60) {
    for (int i = 0; i < most; ++i) {
      const UngateStep step = NextUngateStep(View(), options);
      const auto* wait = std::get_if<Wait>(&step);
      if (wait && !Plan()) return *wait;
      if (!wait) std::visit([this](const auto& one) { Do(one); }, step);
    }
    ADD_FAILURE() << "no rest after " << most << " steps";
    return {};
  }

  api::Pod& NewPod() {
    auto pod = std::make_unique<api::Pod>();
    pod->meta.key = {"ns", "p-" + std::to_string(made_++)};
    pod->scheduling_gates = {api::kGate};
    pod->phase = api::PodPhase::kPending;
    if (controller) pod->meta.owners.push_back({"batch/v1", "Job", "j", "j1", true});
    pods_.push_back(std::move(pod));
    return *pods_.back();
  }
  std::vector<std::unique_ptr<api::Pod>>& pods() { return pods_; }
  api::Pod& pod(std::size_t i) { return *pods_.at(i); }
  api::Placement& placement() { return placement_; }

  void Remove(api::Pod& pod) {
    std::erase_if(pods_, [&](const auto& one) { return one.get() == &pod; });
    if (controller) NewPod();
  }

  // "Verified=True AsPlaced"
  std::string Condition(const std::string& type) const {
    for (const api::Condition& one : placement_.conditions) {
      if (one.type == type) return one.type + "=" + one.status + " " + one.reason;
    }
    return type + " is absent";
  }
  std::string Message(const std::string& type) const {
    for (const api::Condition& one : placement_.conditions) {
      if (one.type == type) return one.message;
    }
    return "";
  }
  Trace Nodes() const {
    Trace nodes;
    for (const auto& pod : pods_) nodes.push_back(pod->node_name);
    return nodes;
  }

  LifeOptions options;

 private:
  GangView View() const {
    GangView view;
    view.placement = &placement_;
    for (const auto& pod : pods_) view.pods.push_back(pod.get());
    view.succeeded = succeeded;
    view.node_state = [this](const std::string& name) {
      const auto found = states.find(name);
      return found == states.end() ? NodeState{} : found->second;
    };
    view.now = now;
    view.ask_at = ask_at_;
    return view;
  }

  // The planner's part: nodes once enough pods wait, never those that are left out.
  bool Plan() {
    if (!IsPlanned(placement_) || RetryLeft(placement_.retry, now) > 0) return false;
    const auto there = std::count_if(pods_.begin(), pods_.end(), [](const auto& pod) {
      return cluster::IsGated(*pod) || pod->phase == api::PodPhase::kSucceeded;
    });
    if (!placement_.nodes.empty() || there < kWorkers || plans == 0) return false;
    --plans;
    const std::vector<std::string> out = ExcludedAt(placement_.excluded, now);
    for (int i = 0; placement_.nodes.size() < kWorkers; ++i) {
      const std::string node = "n" + std::to_string(i);
      if (std::find(out.begin(), out.end(), node) == out.end()) placement_.nodes.push_back(node);
    }
    placement_.conditions = {{"Placed", "True", "Placed", "", FormatTime(now)}};
    trace.push_back("plan");
    return true;
  }

  void Do(const UngatePods& step) {
    EXPECT_EQ(Condition("Verified"), "Verified=Unknown Binding") << "ungated before it is said";
    if (!ungating) {
      trace.push_back("ungating refused");
      now += options.bind_deadline_seconds;
      return;
    }
    trace.push_back("ungate " + std::to_string(step.pods.size()));
    for (const cluster::WorkerPod& one : step.pods) {
      api::Pod& pod = *std::find_if(pods_.begin(), pods_.end(), [&](const auto& candidate) {
                         return candidate.get() == one.pod;
                       })->get();
      ASSERT_TRUE(cluster::IsGated(pod));
      pod.scheduling_gates.clear();
      pod.meta.annotations = {{kPlacementUidAnnotation, placement_.meta.uid},
                              {cluster::kWorkerIndexLabel, std::to_string(one.worker.Raw())}};
      Schedule(pod);
    }
  }
  void Schedule(api::Pod& pod) {
    const std::string& node =
        placement_
            .nodes[std::stoul(std::string(*pod.meta.annotations.At(cluster::kWorkerIndexLabel)))];
    if (silent) return;
    if (full.contains(node)) {
      pod.unscheduled = "0/9 nodes are available";
    } else {
      pod.node_name = node;
      pod.phase = api::PodPhase::kRunning;
    }
  }
  void Do(const EvictPods& step) {
    trace.push_back("evict " + std::to_string(step.pods.size()));
    const std::vector<const api::Pod*> doomed = step.pods;
    for (const api::Pod* pod : doomed) {
      EXPECT_FALSE(pod->meta.owners.empty()) << "nobody would make it again";
      auto& mine = *const_cast<api::Pod*>(pod);
      mine.meta.deleting = true;
      mine.meta.deletion_timestamp = FormatTime(now + 30);
      if (kubelets || mine.node_name.empty()) Remove(mine);
    }
  }
  void Do(const WritePlacement& step) {
    const bool same = step.status.keeps_nodes && step.status.conditions == placement_.conditions &&
                      step.status.excluded == placement_.excluded &&
                      step.status.retry == placement_.retry;
    EXPECT_FALSE(same) << "a write that changes nothing";
    const std::string placed = Condition("Placed"), verified = Condition("Verified");
    placement_.conditions = step.status.conditions;
    placement_.excluded = step.status.excluded;
    placement_.retry = step.status.retry;
    if (!step.status.keeps_nodes) placement_.nodes.clear();
    if (Condition("Verified") != verified) trace.push_back(Condition("Verified"));
    if (Condition("Placed") != placed) trace.push_back(Condition("Placed"));
  }
  void Do(const AskJob& step) {
    EXPECT_EQ(step.job.uid, "j1");
    asked.push_back(now);
    ask_at_ = now + 60;
    placement_.raw = std::make_shared<const nlohmann::json>(nlohmann::json{
        {"status", {{"completedJob", completed.job}, {"completedIndexes", completed.indexes}}}});
  }
  void Do(const Wait&) {}

  api::Placement placement_;
  std::vector<std::unique_ptr<api::Pod>> pods_;
  int made_ = 0;
  UnixSeconds ask_at_ = 0;
};

// A gang whose pods are all bound.
World Bound() {
  World world;
  world.Run();
  world.trace.clear();
  return world;
}

TEST(UngateTest, PodsAreUngatedForTheirNodesAndThatIsVerified) {
  World world;
  world.Run();
  EXPECT_EQ(world.trace,
            (Trace{"plan", "Verified=Unknown Binding", "ungate 3", "Verified=True AsPlaced"}));
  EXPECT_EQ(world.Nodes(), (Trace{"n0", "n1", "n2"}));
}

TEST(UngateTest, APlacementWithoutNodesOrBeingDeletedIsLeftAlone) {
  World world;
  world.placement().meta.deleting = true;
  world.Run();
  EXPECT_EQ(world.trace, Trace{"plan"});
}

// Anybody may name a job as an owner; only its controller makes it the job's.
TEST(UngateTest, AnOwnerThatDoesNotControlItReservesNothing) {
  World world;
  world.placement().pod_selector.reset();
  world.placement().meta.owners = {{"weft.dev/v1alpha1", "TrainingJob", "mine", "uid", false}};
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"plan", "Placed=False NoPodSelector"}));
  EXPECT_TRUE(world.placement().nodes.empty());
}

TEST(UngateTest, WithoutPodsOrAnOwnerTheOperatorReservesNothing) {
  World world;
  world.placement().pod_selector.reset();
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"plan", "Placed=False NoPodSelector"}));
  EXPECT_TRUE(world.placement().nodes.empty());
  EXPECT_EQ(world.Run().seconds, std::nullopt);  // said once
  for (const auto& [version, kind] : {std::pair{"weft.dev/v1alpha1", "TrainingJob"},
                                      std::pair{"kueue.x-k8s.io/v1beta2", "Workload"}}) {
    World owned;
    owned.placement().pod_selector.reset();
    owned.placement().meta.owners.push_back({version, kind, "one", "o1", true});
    owned.Run();
    EXPECT_EQ(owned.trace, Trace{"plan"});
  }
}

TEST(UngateTest, NodesOfAWorkloadAreHeldUntilItsPodsStart) {
  World world;
  world.placement().meta.owners.push_back({"kueue.x-k8s.io/v1beta2", "Workload", "w", "w1", true});
  auto pods = std::exchange(world.pods(), {});
  EXPECT_EQ(world.Run().seconds, std::nullopt);
  world.now += 86'400;  // another check of Kueue takes its time
  EXPECT_EQ(world.Run().seconds, std::nullopt);
  EXPECT_EQ(world.trace, Trace{"plan"});
  world.pods() = std::move(pods);
  world.Run();
  EXPECT_EQ(world.Condition("Verified"), "Verified=True AsPlaced");
}

TEST(UngateTest, APodThatIsGatedByOthersTooIsNotYetThere) {
  World world;
  world.pod(1).scheduling_gates.push_back("kueue.x-k8s.io/admission");
  EXPECT_EQ(world.Run().seconds, 60);
  world.now += 60;
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"plan", "Placed=False WaitingForPods"}));
  EXPECT_EQ(world.Message("Placed"), "nodes were found, but only 2 of 3 pods waited for them");
  world.pod(1).scheduling_gates.pop_back();
  world.Run();
  EXPECT_EQ(world.Condition("Verified"), "Verified=True AsPlaced");
}

TEST(UngateTest, PodsThatAreNoGangGiveTheNodesBackAndNothingIsUngated) {
  World world;
  world.placement().worker_index_labels = {{"index", 1}};
  for (int i = 0; i < 3; ++i) world.pod(i).meta.labels.Set("index", "1");
  world.plans = 0;
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"plan", "Placed=False WorkerIndexInvalid"}));
  EXPECT_NE(world.Message("Placed").find("both worker 1"), std::string::npos);
}

TEST(UngateTest, ANodeThatRefusesUndoesTheGangWhichIsPlacedElsewhere) {
  World world;
  world.full = {"n1"};
  EXPECT_EQ(world.Run().seconds, 60);
  EXPECT_EQ(world.Condition("Verified"), "Verified=Unknown Binding");
  world.trace.clear();
  world.now += 60;
  world.Run();
  EXPECT_EQ(world.trace,
            (Trace{"Verified=False BindRefused", "evict 3", "Placed=False BindRefused", "plan",
                   "Verified=Unknown Binding", "ungate 3", "Verified=True AsPlaced"}));
  EXPECT_EQ(world.Nodes(), (Trace{"n0", "n2", "n3"}));
  ASSERT_EQ(world.placement().excluded.size(), 1U);
  EXPECT_EQ(world.placement().excluded[0].node, "n1");
}

TEST(UngateTest, WhyAGangWasUndoneIsSaidInTheSchedulersWords) {
  World world;
  world.full = {"n1"};
  world.Run();
  world.now += 60;
  world.controller = false;  // no new pods
  world.Run();
  EXPECT_EQ(world.Condition("Verified"), "Verified=False BindRefused");
  EXPECT_EQ(world.Message("Placed"), "1 worker not bound; n1: 0/9 nodes are available");
}

TEST(UngateTest, APreemptionIsNotAwaited) {
  World world;
  world.full = {"n1"};
  world.Run();
  world.trace.clear();
  world.pod(1).nominated_node = "n1";
  world.Run();
  EXPECT_EQ(world.trace[0], "Verified=False BindRefused");
}

TEST(UngateTest, PlainPodsAreOnlyReported) {
  World world;
  for (const auto& pod : world.pods()) pod->meta.owners.clear();
  world.controller = false;
  world.full = {"n1"};
  world.Run();
  world.now += 60;
  world.trace.clear();
  EXPECT_EQ(world.Run().seconds, std::nullopt);
  EXPECT_EQ(world.trace, Trace{"Verified=False BindRefused"});
  EXPECT_NE(world.Message("Verified").find("must be deleted by hand: p-0, p-1, p-2"),
            std::string::npos);
  while (!world.pods().empty()) world.Remove(world.pod(0));
  world.Run();
  EXPECT_EQ(world.Condition("Placed"), "Placed=False BindRefused");
}

TEST(UngateTest, PlainPodsThatAreBoundTooLateAreTaken) {
  World world;
  for (const auto& pod : world.pods()) pod->meta.owners.clear();
  world.full = {"n1"};
  world.Run();
  world.now += 60;
  world.Run();
  world.pod(1).node_name = "n1";
  world.Run();
  EXPECT_EQ(world.Condition("Verified"), "Verified=True AsPlaced");
}

TEST(UngateTest, ReleasesNodesIfAdmissionRefusesToUngate) {
  World world;
  world.ungating = false;
  world.plans = 0;
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"plan", "Verified=Unknown Binding", "ungating refused",
                                "Verified=False UngateRefused", "Placed=False UngateRefused"}));
  EXPECT_NE(world.Message("Placed").find("past the bind deadline: p-0, p-1, p-2"),
            std::string::npos);
}

TEST(UngateTest, ANewPodForAWorkerThatHasGoneTakesItsNode) {
  World world = Bound();
  world.Remove(world.pod(1));
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"Verified=Unknown Binding", "ungate 1", "Verified=True AsPlaced"}));
  EXPECT_EQ(world.Nodes(), (Trace{"n0", "n2", "n1"}));
}

TEST(UngateTest, NodesStayUntilTheLastPodHasGone) {
  World world = Bound();
  world.controller = false;
  world.Remove(world.pod(0));
  world.Remove(world.pod(0));
  world.Run();
  EXPECT_EQ(world.trace, Trace{});
  world.Remove(world.pod(0));
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"Verified is absent", "Placed=False PodsGone"}));
}

TEST(UngateTest, APodThatIsBeingDeletedHoldsItsNodeUntilItIsGone) {
  World world = Bound();
  world.pod(0).meta.deleting = true;
  world.pod(0).meta.deletion_timestamp = FormatTime(world.now + 30);
  world.NewPod();
  world.now += 3'600;  // its kubelet lives: it will tell
  EXPECT_EQ(world.Run().seconds, 60);
  EXPECT_EQ(world.trace, Trace{});
  world.states["n0"].not_ready_since = world.now;
  EXPECT_EQ(world.Run().seconds, 60);
  world.now += 60;
  world.Run();
  ASSERT_EQ(world.trace.size(), 3U);
  EXPECT_EQ(world.trace[1], "ungate 1");
}

TEST(UngateTest, AGangThatNobodyLookedAtWaitsForKubeScheduler) {
  World world;
  world.silent = true;
  world.Run();
  world.now += 60;
  EXPECT_EQ(world.Run().seconds, std::nullopt);
  world.now += 3'600;
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"plan", "Verified=Unknown Binding", "ungate 3",
                                "Verified=Unknown SchedulerSilent"}));
  EXPECT_TRUE(world.placement().excluded.empty());
  world.pod(0).node_name = "n0";
  EXPECT_EQ(world.Run().seconds, 60);
  EXPECT_EQ(world.Condition("Verified"), "Verified=Unknown Binding");
  world.pod(1).node_name = "n1";
  world.pod(2).node_name = "n2";
  world.Run();
  EXPECT_EQ(world.Condition("Verified"), "Verified=True AsPlaced");
}

TEST(UngateTest, AGangThatIsHalfBoundInSilenceIsUndoneAndTriedLater) {
  World world;
  world.silent = true;
  world.Run();
  world.pod(0).node_name = "n0";
  world.now += 60;
  world.trace.clear();
  world.Run();
  EXPECT_EQ(world.trace,
            (Trace{"Verified=False SchedulerSilent", "evict 3", "Placed=False SchedulerSilent"}));
  EXPECT_TRUE(world.placement().excluded.empty());
  EXPECT_EQ(world.placement().retry.times, 1);
  const std::string message = world.Message("Placed");
  EXPECT_NE(message.find("kube-scheduler reported nothing about them"), std::string::npos)
      << message;
  EXPECT_NE(message.find("the next attempt starts at 2027-01-15T08:01:1"), std::string::npos);
}

TEST(UngateTest, ANodeWhoseKubeletRefusesAPodIsLeftOut) {
  World world = Bound();
  world.pod(1).phase = api::PodPhase::kFailed;
  world.pod(1).reason = "UnexpectedAdmissionError";
  world.NewPod();  // of the controller; it would take the same node
  world.Run();
  EXPECT_EQ(world.trace,
            (Trace{"Verified=False NodeRejected", "evict 2", "Placed=False NodeRejected", "plan",
                   "Verified=Unknown Binding", "ungate 3", "Verified=True AsPlaced"}));
  EXPECT_EQ(ExcludedAt(world.placement().excluded, world.now), Trace{"n1"});
  EXPECT_EQ(world.placement().retry.times, 1);
}

TEST(UngateTest, AGangThatIsRefusedAgainAndAgainIsTriedEverMoreSeldom) {
  World world;
  for (int i = 0; i < 40; ++i) world.full.insert("n" + std::to_string(i));
  world.plans = 1'000;
  int plans = 0;
  for (const UnixSeconds end = world.now + 3'600; world.now < end;) {
    const auto before = world.trace.size();
    world.now += std::clamp<std::int64_t>(world.Run().seconds.value_or(60), 1, 60);
    plans += static_cast<int>(std::count(world.trace.begin() + static_cast<std::ptrdiff_t>(before),
                                         world.trace.end(), "plan"));
  }
  EXPECT_LE(plans, 13);  // the waits double up to ten minutes
  EXPECT_GE(plans, 8);
}

TEST(UngateTest, AGangThatHasEndedKeepsItsNodesAsARecord) {
  World world = Bound();
  for (const auto& pod : world.pods()) pod->phase = api::PodPhase::kSucceeded;
  world.Run();
  EXPECT_EQ(world.trace, Trace{});
  world.controller = false;
  world.Remove(world.pod(0));
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"Verified is absent", "Placed=False PodsGone"}));
}

// A Job that is suspended and resumed makes no pod again for an index that has Succeeded.
TEST(UngateTest, AWorkerThatHasSucceededNeedsNoPod) {
  World world = Bound();
  world.controller = false;
  world.pod(0).phase = world.pod(1).phase = api::PodPhase::kSucceeded;
  world.Remove(world.pod(2));
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"Verified is absent", "Placed=False PodsGone"}));
  world.NewPod();
  world.Run();
  EXPECT_EQ(world.Nodes(), (Trace{"n0", "n1", "n2"}));
  EXPECT_EQ(world.Condition("Verified"), "Verified=True AsPlaced");
}

TEST(UngateTest, AWorkerThatSucceededInAnEarlierReservationNeedsNoPod) {
  World world = Bound();
  world.placement().meta.uid = "u2";
  world.placement().conditions.pop_back();
  world.controller = false;
  world.pod(1).phase = api::PodPhase::kSucceeded;
  world.Remove(world.pod(2));
  world.Remove(world.pod(0));
  world.NewPod();
  EXPECT_EQ(world.Run().seconds, 60);  // the pod of the third worker is still to come
  world.NewPod();
  world.trace.clear();
  world.Run();
  EXPECT_EQ(world.trace, (Trace{"Verified=Unknown Binding", "ungate 2", "Verified=True AsPlaced"}));
  EXPECT_EQ(world.Nodes(), (Trace{"n1", "n0", "n2"}));
}

// Their node left, or an administrator deleted them.
TEST(UngateTest, AWorkerWhosePodIsGoneAfterItSucceededNeedsNone) {
  World world = Bound();
  world.placement().meta.uid = "u2";
  world.placement().meta.owners = {{"kueue.x-k8s.io/v1beta2", "Workload", "job", "w1", true}};
  world.placement().conditions.pop_back();
  world.controller = false;
  world.pod(1).phase = api::PodPhase::kSucceeded;
  world.Remove(world.pod(2));
  world.Remove(world.pod(0));
  world.NewPod();
  world.Run();
  EXPECT_EQ(world.Nodes(), (Trace{"n1", ""}));  // a second pod may still come
  world.succeeded = 2;
  world.Run();
  EXPECT_EQ(world.Nodes(), (Trace{"n1", "n0"}));
  EXPECT_EQ(world.Condition("Verified"), "Verified=True AsPlaced");
}

// A Job's gang of which no pod is there any more, and then some new ones.
World ShortOfPods(int pods) {
  World world = Bound();
  world.controller = false;
  while (!world.pods().empty()) world.Remove(world.pod(0));
  world.Run();
  world.controller = true;
  for (int i = 0; i < pods; ++i) world.NewPod().meta.creation_timestamp = FormatTime(world.now);
  return world;
}

// The program of one pod ended well when the gang was taken down, and nobody has seen that.
TEST(UngateTest, AJobThatIsShortOfPodsIsAskedWhoHasSucceeded) {
  World world = ShortOfPods(2);
  EXPECT_EQ(world.Run().seconds, 10);  // a third may be on its way
  world.now += 10;
  EXPECT_EQ(world.Run().seconds, 60);
  world.now += 60;
  world.completed = {"j1", "1"};
  EXPECT_EQ(world.Run().seconds, std::nullopt);
  EXPECT_EQ(world.asked.size(), 2U);
  world.placement().nodes = {"n0", "n1", "n2"};  // the planner's part, as DoneWorkers tells it
  world.Run();
  EXPECT_EQ(world.Nodes(), (Trace{"n0", "n2"}));
  EXPECT_EQ(world.Condition("Verified"), "Verified=True AsPlaced");
}

TEST(UngateTest, NobodyIsAskedAboutAGangOfTwoJobs) {
  World world = ShortOfPods(2);
  world.pod(1).meta.owners.front().uid = "j2";
  EXPECT_EQ(world.Run().seconds, std::nullopt);
}

TEST(UngateTest, AJobSetThatRestartsMakesAllPodsAnew) {
  World world = Bound();
  for (const auto& pod : world.pods()) {
    pod->phase = api::PodPhase::kSucceeded;
    pod->meta.labels.Set("jobset.sigs.k8s.io/restart-attempt", "0");
  }
  world.NewPod().meta.labels.Set("jobset.sigs.k8s.io/restart-attempt", "1");
  EXPECT_EQ(world.Run().seconds, 60);  // two more are to come
  EXPECT_EQ(world.trace, (Trace{"Verified is absent", "Placed=False PodsGone", "plan"}));
}

TEST(UngateTest, AControllerThatGoesOnAfterAPodHasSucceededGetsItsNode) {
  World world = Bound();
  world.pod(1).phase = api::PodPhase::kSucceeded;
  world.NewPod();
  world.Run();
  EXPECT_EQ(world.Nodes(), (Trace{"n0", "n1", "n2", "n1"}));
}

TEST(UngateTest, PodsOnOtherNodesAreNamed) {
  World world;
  world.Run();
  world.pod(2).node_name = "n7";
  world.Run();
  EXPECT_EQ(world.Condition("Verified"), "Verified=False Elsewhere");
  EXPECT_EQ(world.Message("Verified"), "pods not on their worker's node: p-2");
}

TEST(UngateTest, AnotherPlacementsPodsAreNotOurs) {
  World world = Bound();
  world.placement().meta.uid = "u2";  // deleted, and made again by the same name
  world.placement().conditions.pop_back();
  EXPECT_EQ(world.Run().seconds, 60);
  world.now += 60;
  world.Run();
  EXPECT_EQ(world.Condition("Placed"), "Placed=False WaitingForPods");
}

}  // namespace
}  // namespace weft::life
