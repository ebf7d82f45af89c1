#include "operator/report/half_gangs.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::report {
namespace {

api::Pod Worker(const std::string& job, int index, const std::string& node) {
  api::Pod pod;
  pod.meta.key = {"team", job + "-" + std::to_string(index)};
  pod.meta.owners = {{"kubeflow.org/v2beta1", "MPIJob", job, "u-" + job, true}};
  pod.meta.labels = {{"training.kubeflow.org/job-name", job},
                     {"training.kubeflow.org/operator-name", "mpi-operator"},
                     {"training.kubeflow.org/replica-index", std::to_string(index)}};
  pod.pod.requests = {{"nvidia.com/gpu", 8}};
  pod.node_name = node;
  return pod;
}

std::vector<std::string> Texts(const std::vector<api::Pod>& pods, const std::string& space = "") {
  api::Inputs inputs;
  inputs.pods = pods;
  std::vector<std::string> texts;
  for (const cluster::Note& note : NotesOf(HalfGangs(inputs, space))) texts.push_back(note.text);
  return texts;
}

TEST(HalfGangs, NamesWhatHoldsNodesAndCannotStart) {
  std::vector<api::Pod> pods = {Worker("a", 0, "n0"), Worker("a", 1, "n1"), Worker("a", 2, ""),
                                Worker("b", 0, "n2"), Worker("b", 1, "n3")};
  pods[2].unscheduled = "0/4 nodes are available";
  const std::vector<std::string> want = {
      "MPIJob team/a holds 16 accelerators with 2 of 3 workers; a-2 has no node: 0/4 nodes are "
      "available"};
  EXPECT_EQ(Texts(pods), want);
  EXPECT_EQ(Texts(pods, "team"), want);
  EXPECT_TRUE(Texts(pods, "other").empty());
}

TEST(HalfGangs, WhatWaitsOrEndsAsAWholeIsNone) {
  EXPECT_TRUE(Texts({Worker("a", 0, ""), Worker("a", 1, "")}).empty());
  std::vector<api::Pod> pods = {Worker("a", 0, "n0"), Worker("a", 1, "")};
  pods[1].meta.deleting = true;
  EXPECT_TRUE(Texts(pods).empty());
  pods[1] = Worker("a", 1, "");
  pods[1].scheduling_gates = {"weft.dev/placement"};
  EXPECT_TRUE(Texts(pods).empty());
  pods[1] = Worker("a", 1, "");
  pods[1].phase = api::PodPhase::kSucceeded;
  EXPECT_TRUE(Texts(pods).empty());
}

// A controller that Weft does not know makes a PodGroup for each of its gangs.
TEST(HalfGangs, PodGroupsOfKubernetesAreGangsOfTheirOwn) {
  api::Inputs inputs;
  for (int p = 0; p < 4; ++p) {
    api::Pod pod;
    pod.meta.key = {"team", "p-" + std::to_string(p)};
    pod.meta.owners = {{"example.com/v1", "Trial", "t", "u", true}};
    pod.pod.requests = {{"nvidia.com/gpu", 8}};
    pod.pod_group = p < 2 ? "g" : "h";
    if (p != 1) pod.node_name = "n" + std::to_string(p);
    inputs.pods.push_back(pod);
  }
  api::PodGroup group;
  group.meta.key = {"team", "g"};
  group.min_count = 2;
  inputs.pod_groups.push_back(group);
  group.meta.key.name = "h";
  inputs.pod_groups.push_back(group);
  const auto texts = [&] {
    std::vector<std::string> all;
    for (const cluster::Note& note : NotesOf(HalfGangs(inputs, ""))) all.push_back(note.text);
    return all;
  };
  EXPECT_EQ(texts(), (std::vector<std::string>{
                         "PodGroup team/g holds 8 accelerators with 1 of 2 workers; p-1 has no "
                         "node"}));
  inputs.pod_groups.Edit(0).min_count = 3;
  EXPECT_EQ(texts().at(0),
            "PodGroup team/g holds 8 accelerators with 1 of 3 workers; p-1 has no node; 1 worker "
            "has no pod");
  inputs.pod_groups.Edit(0).min_count = 0;  // its pods start one by one
  EXPECT_TRUE(texts().empty());
}

// Job.spec.scheduling and the like: the controller's pods are in one PodGroup.
TEST(HalfGangs, APodGroupSaysHowManyPodsOfAJobAreEnough) {
  api::Inputs inputs;
  for (int p = 0; p < 3; ++p) {
    api::Pod pod = Worker("a", p, p < 2 ? "n" + std::to_string(p) : "");
    pod.pod_group = "g";
    inputs.pods.push_back(pod);
  }
  api::PodGroup group;
  group.meta.key = {inputs.pods[0].meta.key.space, "g"};
  inputs.pod_groups.push_back(group);
  const auto with_least = [&](std::int64_t least) {
    inputs.pod_groups.Edit(0).min_count = least;
    return HalfGangs(inputs, "");
  };
  EXPECT_TRUE(with_least(2).empty());
  ASSERT_EQ(with_least(4).size(), 1U);
  EXPECT_EQ(with_least(4)[0].not_created, 1);
  ASSERT_EQ(with_least(0).size(), 1U) << "the PodGroup is no gang, the MPIJob is";
  EXPECT_EQ(with_least(0)[0].workers, 3);
  inputs.pods.Edit(1).pod_group = "";  // groups of parts of the gang say nothing of the whole
  ASSERT_EQ(with_least(2).size(), 1U);
  EXPECT_EQ(with_least(2)[0].workers, 3);
}

TEST(HalfGangs, PodsThatNeedNotRunTogetherAreNone) {
  const auto of = [](const char* kind, const char* node) {
    api::Pod pod;
    pod.meta.key = {"team", std::string("p") + node};
    pod.meta.owners = {{"apps/v1", kind, "x", "u", true}};
    pod.pod.requests = {{"nvidia.com/gpu", 1}};
    pod.node_name = node;
    return pod;
  };
  EXPECT_TRUE(Texts({of("StatefulSet", "n0"), of("StatefulSet", "")}).empty());
  std::vector<api::Pod> job = {of("Job", "n0"), of("Job", "")};
  for (api::Pod& pod : job) pod.meta.labels = {{"batch.kubernetes.io/job-name", "x"}};
  EXPECT_TRUE(Texts(job).empty());
  for (api::Pod& pod : job) {
    pod.meta.labels = {};
    pod.meta.owners[0].api_version = "batch.volcano.sh/v1alpha1";
  }
  EXPECT_EQ(Texts(job).size(), 1U);
}

struct GroupCase {
  const char* name;
  const char* kind;  // of the controller; "" if there is none
  std::map<std::string, std::string> annotations;
  const char* want;  // how the text begins; "" if there is none
};

TEST(HalfGangs, PodsOfAnUnknownOwnerNeedNotRunTogether) {
  for (const auto& [version, kind] : {std::pair{"argoproj.io/v1alpha1", "Workflow"},
                                      {"apps.kruise.io/v1alpha1", "CloneSet"},
                                      {"v1", "Pod"},
                                      {"v1", "ReplicationController"}}) {
    std::vector<api::Pod> pods = {Worker("a", 0, "n0"), Worker("a", 1, "")};
    for (api::Pod& pod : pods) {
      pod.meta.labels = {};
      pod.meta.owners = {{version, kind, "a", "u", true}};
    }
    EXPECT_TRUE(Texts(pods).empty()) << kind;
    for (api::Pod& pod : pods) pod.meta.labels.Set("scheduling.x-k8s.io/pod-group", "g");
    EXPECT_EQ(Texts(pods).size(), 1U) << kind;
  }
}

TEST(HalfGangs, AGroupOfAnotherSchedulerRunsTogetherWhateverItsOwner) {
  const std::string volcano = "scheduling.k8s.io/group-name", kai = "pod-group-name";
  const std::map<std::string, std::string> named = {{"scheduling.x-k8s.io/pod-group", "g"}};
  const GroupCase cases[] = {
      {"a plain Job of coscheduling", "Job", named, "Job team/x holds 8 accelerators with 1 of 2"},
      {"a ReplicaSet of coscheduling", "ReplicaSet", named, "ReplicaSet team/x holds 8"},
      {"a StatefulSet of Volcano", "StatefulSet", {{volcano, "g"}}, "StatefulSet team/x holds 8"},
      {"a plain Job of KAI", "Job", {{kai, "g"}}, "Job team/x holds 8"},
      {"bare pods of coscheduling", "", named, "PodGroup team/g holds 8 accelerators with 1 of 2"},
      {"bare pods of KAI", "", {{kai, "g"}}, "PodGroup team/g holds 8"},
      {"a DaemonSet", "DaemonSet", named, ""},
      {"a group that Volcano made for the owner", "Job", {{volcano, "podgroup-u-x"}}, ""},
      {"its least number of members",
       "Job",
       {{volcano, "podgroup-u-x"}, {"scheduling.volcano.sh/group-min-member", "3"}},
       "Job team/x holds 8 accelerators with 1 of 3 workers; p1 has no node; 1 worker has no pod"},
      {"a least number that has started",
       "Job",
       {{volcano, "g"}, {"scheduling.volcano.sh/group-min-member", "1"}},
       ""},
      {"a group that KAI made for the owner", "StatefulSet", {{kai, "pg-x-u-x"}}, ""},
      {"bare pods with the least number of Koordinator",
       "",
       {{"gang.scheduling.koordinator.sh/name", "g"},
        {"gang.scheduling.koordinator.sh/min-available", "4"}},
       "PodGroup team/g holds 8 accelerators with 1 of 4 workers; p1 has no node; 2 workers"},
  };
  for (const GroupCase& one : cases) {
    std::vector<api::Pod> pods(2);
    for (std::size_t p = 0; p < pods.size(); ++p) {
      pods[p].meta.key = {"team", "p" + std::to_string(p)};
      pods[p].meta.annotations = one.annotations;
      pods[p].pod.requests = {{"nvidia.com/gpu", 8}};
      if (*one.kind == '\0') continue;
      pods[p].meta.owners = {{"v1", one.kind, "x", "u-x", true}};
      pods[p].meta.labels = {{"batch.kubernetes.io/job-name", "x"}};
    }
    pods[0].node_name = "n0";
    const std::vector<std::string> texts = Texts(pods);
    ASSERT_EQ(texts.size(), *one.want == '\0' ? 0U : 1U) << one.name;
    if (texts.empty()) continue;
    EXPECT_TRUE(texts[0].starts_with(one.want)) << one.name << ": " << texts[0];
  }
}

// KAI gives each replica of a Deployment a group of its own.
TEST(HalfGangs, PodsOfSeveralGroupsStartAlone) {
  std::vector<api::Pod> pods(2);
  for (std::size_t p = 0; p < pods.size(); ++p) {
    pods[p].meta.key = {"team", "p" + std::to_string(p)};
    pods[p].meta.owners = {{"apps/v1", "ReplicaSet", "x", "u-x", true}};
    pods[p].meta.annotations = {{"pod-group-name", "pg-" + std::to_string(p)}};
    pods[p].pod.requests = {{"nvidia.com/gpu", 8}};
  }
  pods[0].node_name = "n0";
  EXPECT_TRUE(Texts(pods).empty());
}

TEST(HalfGangs, AnotherSchedulersGateIsWhyAWorkerWaits) {
  std::vector<api::Pod> pods = {Worker("a", 0, "n0"), Worker("a", 1, "")};
  pods[1].scheduling_gates = {"kueue.x-k8s.io/topology"};
  EXPECT_EQ(Texts(pods), std::vector<std::string>{
                             "MPIJob team/a holds 8 accelerators with 1 of 2 workers; a-1 has no "
                             "node: scheduling gate kueue.x-k8s.io/topology"});
}

TEST(HalfGangs, WorkersWithoutAPodAreCounted) {
  const auto of = [](const char* name, const char* node,
                     const std::map<std::string, std::string>& labels,
                     const std::map<std::string, std::string>& annotations) {
    api::Pod pod;
    pod.meta.key = {"team", name};
    pod.meta.labels = labels;
    pod.meta.annotations = annotations;
    pod.pod.requests = {{"nvidia.com/gpu", 8}};
    pod.node_name = node;
    return pod;
  };
  const std::map<std::string, std::string> lws = {{"leaderworkerset.sigs.k8s.io/name", "l"},
                                                  {"leaderworkerset.sigs.k8s.io/group-index", "0"}};
  const std::map<std::string, std::string> lws_size = {{"leaderworkerset.sigs.k8s.io/size", "3"}};
  std::vector<api::Pod> group = {of("l-0", "n0", lws, lws_size), of("l-0-1", "n1", lws, lws_size)};
  EXPECT_EQ(Texts(group), std::vector<std::string>{
                              "LeaderWorkerSet team/l-0 holds 16 accelerators with 2 of 3 workers; "
                              "1 worker has no pod"});
  std::vector<api::Pod> led = group;  // by a pod without accelerators
  led.push_back(of("l-0-leader", "c0", lws, lws_size));
  led.back().pod.requests.clear();
  EXPECT_TRUE(Texts(led).empty());
  led.back().node_name = "";
  led.back().unscheduled = "0/4 nodes are available";
  EXPECT_EQ(Texts(led), std::vector<std::string>{
                            "LeaderWorkerSet team/l-0 holds 16 accelerators with 2 of 3 workers; "
                            "l-0-leader has no node: 0/4 nodes are available"});
  std::vector<api::Pod> two_missing = {group[0], of("l-0-2", "n2", lws, lws_size)};
  two_missing[1].meta.deleting = true;
  EXPECT_EQ(Texts(two_missing).size(), 1U) << "only one of two is made again";
  led = group;
  led.push_back(of("l-0-leader", "c0", lws, lws_size));
  led.back().pod.requests.clear();
  led.back().meta.deleting = true;  // it is made again
  EXPECT_TRUE(Texts(led).empty());
  group.push_back(of("l-0-2", "", lws, lws_size));
  group.back().meta.deleting = true;
  EXPECT_TRUE(Texts(group).empty());

  const std::map<std::string, std::string> kueue = {{"kueue.x-k8s.io/pod-group-name", "g"}};
  const std::map<std::string, std::string> kueue_size = {
      {"kueue.x-k8s.io/pod-group-total-count", "4"}};
  std::vector<api::Pod> pods = {of("a", "n0", kueue, kueue_size), of("b", "", kueue, kueue_size)};
  pods[1].unscheduled = "0/4 nodes are available";
  EXPECT_EQ(Texts(pods), std::vector<std::string>{
                             "PodGroup team/g holds 8 accelerators with 1 of 4 workers; b has no "
                             "node: 0/4 nodes are available; 2 workers have no pod"});
  pods[1].phase = api::PodPhase::kSucceeded;
  for (const char* name : {"c", "d"}) pods.push_back(of(name, "n1", kueue, kueue_size));
  EXPECT_TRUE(Texts(pods).empty());
}

// Of a RayCluster each group is a gang; a scheduler's least number counts all of them, and the
// head.
TEST(HalfGangs, ASchedulersGroupIsCountedWhateverItsOwners) {
  const auto ray = [](const char* name, const char* part, const char* node) {
    api::Pod pod;
    pod.meta.key = {"team", name};
    pod.meta.owners = {{"ray.io/v1", "RayCluster", "r", "u", true}};
    pod.meta.labels = {{"ray.io/cluster", "r"},
                       {"ray.io/group", part},
                       {"gang.scheduling.koordinator.sh/name", "r"}};
    pod.meta.annotations = {{"gang.scheduling.koordinator.sh/min-available", "3"}};
    if (std::string(part) != "headgroup") pod.pod.requests = {{"nvidia.com/gpu", 8}};
    pod.node_name = node;
    return pod;
  };
  std::vector<api::Pod> pods = {ray("r-w-0", "w", "n0"), ray("r-w-1", "w", "n1")};
  EXPECT_EQ(Texts(pods), std::vector<std::string>{"RayCluster team/r-w holds 16 accelerators with "
                                                  "2 of 3 workers; 1 worker has no pod"});
  pods.push_back(ray("r-head", "headgroup", "c0"));
  EXPECT_TRUE(Texts(pods).empty());
  // Of several gangs in the group the first tells of all.
  pods = {ray("r-a-0", "a", "n0"), ray("r-b-0", "b", "n1")};
  EXPECT_EQ(Texts(pods), std::vector<std::string>{"RayCluster team/r-a holds 16 accelerators with "
                                                  "2 of 3 workers; 1 worker has no pod"});
}

// A pod that ends makes room for its like, so fewer are missing, but no more than were told.
TEST(HalfGangs, APodThatEndsIsNotMissedTwice) {
  std::vector<api::Pod> pods = {Worker("a", 0, "n0"), Worker("a", 1, "n1"), Worker("a", 2, ""),
                                Worker("a", 3, "n3")};
  for (api::Pod& pod : pods) {
    pod.meta.annotations = {{"scheduling.volcano.sh/group-min-member", "2"}};
  }
  EXPECT_TRUE(Texts(pods).empty());
  pods[3].meta.deleting = true;
  EXPECT_TRUE(Texts(pods).empty());
}

// The master of an earlier object of the name has succeeded, that of the new one is missing.
TEST(HalfGangs, APodOfAnEarlierObjectOfTheNameIsNoMember) {
  const auto of = [](const char* name, const char* uid) {
    api::Pod pod;
    pod.meta.key = {"team", name};
    pod.meta.owners = {{"kubeflow.org/v1", "PyTorchJob", "j", uid, true}};
    pod.meta.labels = {{"training.kubeflow.org/job-name", "j"}};
    pod.meta.annotations = {{"scheduling.volcano.sh/group-min-member", "3"}};
    pod.meta.creation_timestamp = std::string("2026-01-0") + uid + "T00:00:00Z";
    pod.node_name = "n0";
    return pod;
  };
  std::vector<api::Pod> pods = {of("j-worker-0", "2"), of("j-worker-1", "2"),
                                of("j-master-0", "1")};
  for (int worker : {0, 1}) {
    pods[static_cast<std::size_t>(worker)].pod.requests = {{"nvidia.com/gpu", 8}};
    pods[static_cast<std::size_t>(worker)].meta.labels.Set("training.kubeflow.org/replica-type",
                                                           "worker");
    pods[static_cast<std::size_t>(worker)].meta.labels.Set("training.kubeflow.org/replica-index",
                                                           std::to_string(worker));
  }
  pods[2].meta.labels.Set("training.kubeflow.org/replica-type", "master");
  pods[2].phase = api::PodPhase::kSucceeded;
  EXPECT_EQ(Texts(pods), std::vector<std::string>{"PyTorchJob team/j holds 16 accelerators with 2 "
                                                  "of 3 workers; 1 worker has no pod"});
  pods[2].meta.owners[0].uid = "2";
  EXPECT_TRUE(Texts(pods).empty());
}

TEST(HalfGangs, AGangWithItsLeastNumberOfMembersHasStarted) {
  std::vector<api::Pod> pods = {Worker("a", 0, "n0"), Worker("a", 1, "n1"), Worker("a", 2, "")};
  for (const char* key : {"scheduling.volcano.sh/group-min-member",
                          "pod-group.scheduling.sigs.k8s.io/min-available"}) {
    for (api::Pod& pod : pods) pod.meta.annotations = {{key, "2"}};
    EXPECT_TRUE(Texts(pods).empty()) << key;
    for (api::Pod& pod : pods) pod.meta.annotations = {{key, "4"}};
    EXPECT_EQ(Texts(pods),
              std::vector<std::string>{
                  "MPIJob team/a holds 16 accelerators with 2 of 4 workers; a-2 has no "
                  "node; 1 worker has no pod"})
        << key;
  }
}

// Pods that nobody owns are in a group by a label, and how many it needs stands in its object.
TEST(HalfGangs, ThePodGroupOfAnotherSchedulerTellsHowManyItNeeds) {
  api::Inputs inputs;
  std::vector<api::Pod> pods;
  for (const char* name : {"a", "b"}) {
    pods.push_back(Worker("x", 0, "n0"));
    pods.back().meta.key.name = name;
    pods.back().meta.labels = {{"scheduling.x-k8s.io/pod-group", "g"}};
    pods.back().meta.owners = {};
  }
  inputs.pods = pods;
  EXPECT_TRUE(HalfGangs(inputs, "").empty());
  inputs.least_members[{"team", "g"}] = 3;
  const auto half = HalfGangs(inputs, "");
  ASSERT_EQ(half.size(), 1U);
  EXPECT_EQ(half[0].placed, 2);
  EXPECT_EQ(half[0].workers, 3);
  EXPECT_EQ(half[0].not_created, 1);
  inputs.least_members[{"team", "g"}] = 2;
  EXPECT_TRUE(HalfGangs(inputs, "").empty());
  // KAI names the group that it makes after the owner.
  api::Pod one = Worker("x", 0, "n0");
  one.meta.annotations = {{"pod-group-name", "pg-x-u-x"}};
  inputs.pods = std::vector<api::Pod>{one};
  inputs.least_members[{"team", "pg-x-u-x"}] = 3;
  ASSERT_EQ(HalfGangs(inputs, "").size(), 1U);
  EXPECT_EQ(HalfGangs(inputs, "")[0].workers, 3);
}

TEST(HalfGangs, AResourceThatAPlacementNamesIsAnAccelerator) {
  api::Inputs inputs;
  std::vector<api::Pod> pods = {Worker("a", 0, "n0"), Worker("a", 1, ""), Worker("a", 2, "")};
  for (api::Pod& pod : pods) pod.pod.requests = {{"example.com/x1", 4}};
  inputs.pods = pods;
  EXPECT_TRUE(HalfGangs(inputs, "").empty());
  inputs.accelerator_resources = {"example.com/x1"};
  ASSERT_EQ(HalfGangs(inputs, "").size(), 1U);
  EXPECT_EQ(NotesOf(HalfGangs(inputs, "")).front().text,
            "MPIJob team/a holds 4 accelerators with 1 of 3 workers; a-1 and 1 more pod have no "
            "node");
  EXPECT_EQ(HalfGangsJson(HalfGangs(inputs, "")).dump(),
            R"([{"namespace":"team","name":"a","kind":"MPIJob","accelerators":4,)"
            R"("workersWithNode":1,"workers":3,"withoutNode":["a-1","a-2"],"notCreated":0}])");
}

TEST(HalfGangs, JobsOfOneNameAreToldApartByTheirApiGroup) {
  std::vector<api::Pod> pods;
  for (const char* version : {"batch/v1", "batch.volcano.sh/v1alpha1"}) {
    for (const char* node : {"n0", ""}) {
      api::Pod pod = Worker("llm", static_cast<int>(pods.size()), node);
      pod.meta.labels = {};
      pod.meta.owners = {{version, "Job", "llm", version, true}};
      pods.push_back(std::move(pod));
    }
  }
  const std::string holds = " team/llm holds 8 accelerators with 1 of 2 workers; llm-";
  EXPECT_EQ(Texts(pods),
            (std::vector<std::string>{"Job.batch" + holds + "1 has no node",
                                      "Job.batch.volcano.sh" + holds + "3 has no node"}));
}

}  // namespace
}  // namespace weft::report
