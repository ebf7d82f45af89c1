#include "operator/life/waiting.h"

#include <gtest/gtest.h>

#include <functional>

#include "operator/cluster/workload.h"
#include "operator/life/as_of.h"
#include "tests/support/scene.h"

namespace weft::life {
namespace {

constexpr UnixSeconds kNow = 1'800'000'000;

// Four nodes of 8 GPUs, Weft's check "place", and one Workload of 3 pods with 8 GPUs each that has
// no quota.
struct Queues : testing::Scene {
  Queues() : testing::Scene(testing::FourNodes()) {
    api::AdmissionCheck check;
    check.meta.key.name = "place";
    check.controller = api::kCheckController;
    inputs.admission_checks.push_back(check);
    api::ResourceFlavor flavor;
    flavor.meta.key.name = "h100";
    inputs.resource_flavors.push_back(flavor);
    api::Workload workload;
    workload.meta.key = {"ns", "job-train"};
    workload.meta.uid = "w1";
    workload.meta.creation_timestamp = FormatTime(kNow - 100);
    workload.queue = "team";
    workload.checks = {{"place", api::CheckState::kPending, "no room", "", {}}};
    workload.pod_sets = {PodSet("main", 3)};
    inputs.workloads.push_back(workload);
  }

  static api::PodSet PodSet(const std::string& name, std::uint32_t count) {
    api::PodSet set;
    set.name = name;
    set.count = set.asked = count;
    set.pod.requests = {{testing::kGpu, 8}};
    return set;
  }

  api::Workload& Edit() { return inputs.workloads.Edit(0); }
  void SetCondition(const std::string& type, const std::string& status,
                    const std::string& message = "") {
    Edit().conditions.push_back({type, status, "", message, FormatTime(kNow - 60)});
  }
  void Reserve() {
    SetCondition("QuotaReserved", "True");
    Edit().cluster_queue = "all";
    for (api::PodSet& set : Edit().pod_sets) set.flavors = {"h100"};
  }
  void Place(std::vector<std::string> nodes) {
    const std::string name = CheckedPlacementName(inputs.workloads[0], "main");
    Placement(name, 3, std::move(nodes)).meta.owners = {
        {"kueue.x-k8s.io/v1beta2", "Workload", "job-train", "w1", true}};
  }

  std::vector<WaitingWorkload> Waiting() const { return WaitingWorkloads(inputs, {}); }
  // "QuotaPending: queue team: ...", with the number of Placements that are asked for; "-" if
  // nothing waits.
  std::string Answer() const {
    const auto waiting = Waiting();
    if (waiting.empty()) return "-";
    const WaitingWorkload& one = waiting.front();
    return one.reason + ": " + one.message + " [" + std::to_string(one.asked.size()) + "]";
  }
};

struct Case {
  const char* name;
  std::function<void(Queues&)> change;
  const char* want;
};

const Case kCases[] = {
    {"that Kueue has not looked at waits for quota", [](Queues&) {},
     "QuotaPending: queue team: waits for quota [0]"},
    {"without quota has Kueue's message",
     [](Queues& q) { q.SetCondition("QuotaReserved", "False", "16 more needed"); },
     "QuotaPending: queue team: 16 more needed [0]"},
    {"with quota asks for nodes", [](Queues& q) { q.Reserve(); },
     "AdmissionPending: queue team: ClusterQueue all has reserved quota; waits for the "
     "AdmissionChecks place (Pending: no room) [1]"},
    {"of two pod sets asks for two Placements",
     [](Queues& q) {
       q.Edit().pod_sets.push_back(Queues::PodSet("more", 1));
       q.Reserve();
     },
     "AdmissionPending: queue team: ClusterQueue all has reserved quota; waits for the "
     "AdmissionChecks place (Pending: no room) [2]"},
    {"whose flavor is unknown has the answer of its check",
     [](Queues& q) {
       q.Reserve();
       q.inputs.resource_flavors.clear();
     },
     "AdmissionPending: queue team: ClusterQueue all has reserved quota; waits for the "
     "AdmissionChecks place (Pending: no room) [0]"},
    {"whose Placement has no nodes asks for them",
     [](Queues& q) {
       q.Reserve();
       q.Place({});
     },
     "AdmissionPending: queue team: ClusterQueue all has reserved quota; waits for the "
     "AdmissionChecks place (Pending: no room) [1]"},
    {"that lost its nodes after admission asks for them again",
     [](Queues& q) {
       q.Reserve();
       q.SetCondition("Admitted", "True");
       q.Edit().checks[0] = {"place", api::CheckState::kReady, "", "", {}};
       q.Edit().checks[0].labels["main"].Set("weft.dev/placement", "held");
     },
     "Admitted: queue team: admitted to ClusterQueue all [1]"},
    {"that is evicted waits for its pods",
     [](Queues& q) {
       q.Reserve();
       q.SetCondition("Evicted", "True", "preempted by x");
     },
     "Evicted: queue team: evicted: preempted by x [0]"},
    {"that is deactivated waits for its user",
     [](Queues& q) {
       q.SetCondition("Evicted", "True", "never fits");
       q.Edit().active = false;
     },
     "Deactivated: queue team: Workload job-train is not active: never fits; set its spec.active "
     "to true [0]"},
    {"that cannot be read says so",
     [](Queues& q) {
       q.Edit().pod_sets.clear();
       q.Edit().unreadable = "spec.podSets: must be a list";
     },
     "Queued: queue team: Workload job-train cannot be read: spec.podSets: must be a list [0]"},
    {"whose nodes are chosen does not wait for Weft",
     [](Queues& q) {
       q.Reserve();
       q.Place({"n0", "n1", "n2"});
     },
     "-"},
    {"whose check is Ready waits for other checks",
     [](Queues& q) {
       q.Reserve();
       q.Place({"n0", "n1", "n2"});
       q.Edit().checks[0].state = api::CheckState::kReady;
       q.Edit().checks[0].labels["main"].Set("weft.dev/placement",
                                             q.inputs.placements[0].meta.key.name);
     },
     "-"},
    {"that was admitted before its queue had the check runs",
     [](Queues& q) {
       q.Reserve();
       q.SetCondition("Admitted", "True");
     },
     "-"},
    {"that is finished is over", [](Queues& q) { q.SetCondition("Finished", "True"); }, "-"},
    {"that is being deleted is over", [](Queues& q) { q.Edit().meta.deleting = true; }, "-"},
    {"of a TrainingJob is shown as the job",
     [](Queues& q) {
       q.Edit().meta.owners = {{"weft.dev/v1alpha1", "TrainingJob", "train", "j", true}};
     },
     "-"},
    {"without accelerators needs nothing from Weft",
     [](Queues& q) {
       q.Edit().pod_sets[0].pod.requests = {{"cpu", 8}};
     },
     "-"},
    {"whose checks are others' is not Weft's",
     [](Queues& q) { q.inputs.admission_checks[0].controller = "x"; }, "-"},
};

TEST(WaitingTest, AWorkload) {
  for (const Case& one : kCases) {
    Queues queues;
    one.change(queues);
    EXPECT_EQ(queues.Answer(), one.want) << one.name;
  }
}

TEST(WaitingTest, CountsPodsThatRequestAccelerators) {
  Queues queues;
  queues.Edit().pod_sets.push_back(Queues::PodSet("driver", 1));
  queues.Edit().pod_sets.back().pod.requests = {{"cpu", 8}};
  queues.inputs.admission_checks[0].parameters = {"weft.dev", "Fabric", "default"};
  const auto waiting = queues.Waiting();
  ASSERT_EQ(waiting.size(), 1U);
  EXPECT_EQ(waiting[0].workers, 3U);
  EXPECT_EQ(waiting[0].accelerators, 24);
  EXPECT_EQ(waiting[0].fabric_name, "default");
  EXPECT_FALSE(waiting[0].waited_seconds);
}

TEST(WaitingTest, TimeIsCountedFromKueuesLastAnswer) {
  Queues queues;
  SetTimes(queues.inputs, kNow);
  EXPECT_EQ(queues.Waiting()[0].waited_seconds, 100);
  queues.SetCondition("QuotaReserved", "False");
  SetTimes(queues.inputs, kNow);
  EXPECT_EQ(queues.Waiting()[0].waited_seconds, 60);
}

TEST(WaitingTest, AddsARequestedPlacementOnce) {
  Queues queues;
  queues.Reserve();
  queues.Edit().priority = 7;
  SetTimes(queues.inputs, kNow);
  for (int times = 0; times < 2; ++times) {
    AddAsked(queues.Waiting(), queues.inputs);
    ASSERT_EQ(queues.inputs.placements.size(), 1U);
    ASSERT_EQ(queues.inputs.order.size(), 1U);
    const api::Placement& placement = queues.inputs.placements[0];
    EXPECT_EQ(placement.workers, 3U);
    EXPECT_EQ(placement.proposal->priority, 7);
    EXPECT_EQ(placement.wait.waited_seconds, 60);
    EXPECT_EQ(placement.proposal->pod_set, "main");
  }
  queues.inputs.placements.Edit(0).meta.deleting = true;
  AddAsked(queues.Waiting(), queues.inputs);
  EXPECT_EQ(queues.inputs.order.size(), 1U);
}

}  // namespace
}  // namespace weft::life
