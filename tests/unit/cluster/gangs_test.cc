#include "operator/cluster/gangs.h"

#include <gtest/gtest.h>

namespace weft::cluster {
namespace {

using Labels = std::map<std::string, std::string>;

api::Pod Named(const std::string& name, const Labels& labels = {},
               const std::string& controller = "") {
  api::Pod pod;
  pod.meta.key = {"ns", name};
  pod.meta.labels = labels;
  if (!controller.empty()) {
    const std::size_t slash = controller.find('/');
    pod.meta.owners = {{"v1", "Kind", "no controller", "", false},
                       {"v1", controller.substr(0, slash), controller.substr(slash + 1), "", true}};
  }
  return pod;
}

const Labels kJobSet = {{"jobset.sigs.k8s.io/jobset-name", "set"}};
const Labels kKubeflow = {{"training.kubeflow.org/job-name", "job"}};
const Labels kLeaderWorkerSet = {{"leaderworkerset.sigs.k8s.io/name", "lws"}};

Labels With(Labels labels, const Labels& more) {
  labels.insert(more.begin(), more.end());
  return labels;
}

struct OwnerCase {
  const char* name;
  api::Pod pod;
  const char* want;  // kind, key
};

TEST(OwnerOf, IsTheGangsControllerByLabelElseByReference) {
  const Labels operated =
      With(kKubeflow, {{"training.kubeflow.org/operator-name", "mpi-operator"}});
  const Labels strange = With(kKubeflow, {{"training.kubeflow.org/operator-name", "other"}});
  const OwnerCase cases[] = {
      {"a pod alone", Named("p"), " ns/p"},
      {"any controller", Named("p", {}, "ReplicaSet/rs"), "ReplicaSet ns/rs"},
      {"a Job by its label", Named("p", {{"batch.kubernetes.io/job-name", "j"}}), "Job ns/j"},
      {"a controller before a Job's label",
       Named("p", {{"batch.kubernetes.io/job-name", "j"}}, "Workflow/w"), "Workflow ns/w"},
      {"a TrainingJob by its label", Named("p", {{"weft.dev/job-name", "j"}}), "TrainingJob ns/j"},
      {"a JobSet before its Job", Named("p", kJobSet, "Job/set-0"), "JobSet ns/set"},
      {"a JobSet of Kubeflow's trainer",
       Named("p", With(kJobSet, {{"trainer.kubeflow.org/trainjob-ancestor-step", "trainer"}})),
       "TrainJob ns/set"},
      {"a label that sorts behind the trainer's",
       Named("p", With(kJobSet, {{"training.kubeflow.org/x", "y"}})), "JobSet ns/set"},
      {"a LeaderWorkerSet", Named("p", kLeaderWorkerSet), "LeaderWorkerSet ns/lws"},
      {"a group of a LeaderWorkerSet",
       Named("p", With(kLeaderWorkerSet, {{"leaderworkerset.sigs.k8s.io/group-index", "3"}})),
       "LeaderWorkerSet ns/lws-3"},
      {"a RayCluster's worker group, which is a gang of its own",
       Named("p", {{"ray.io/cluster", "ray"}, {"ray.io/group", "b"}}, "RayCluster/ray"),
       "RayCluster ns/ray-b"},
      {"a pod of a RayCluster without its group", Named("p", {}, "RayCluster/ray"),
       "RayCluster ns/ray"},
      {"a Kubeflow job by its operator", Named("p", operated, "Job/x"), "MPIJob ns/job"},
      {"a Kubeflow job by its controller", Named("p", strange, "NovelJob/x"), "NovelJob ns/job"},
      {"a Kubeflow job of a plain Job", Named("p", kKubeflow, "Job/x"), "PyTorchJob ns/job"},
      {"a Kubeflow job without a controller", Named("p", kKubeflow), "PyTorchJob ns/job"},
      {"a group of coscheduling", Named("p", {{"scheduling.x-k8s.io/pod-group", "g"}}),
       "PodGroup ns/g"},
      {"its label of earlier releases", Named("p", {{"pod-group.scheduling.sigs.k8s.io", "g"}}),
       "PodGroup ns/g"},
      {"a group of Volcano", Named("p", {{"scheduling.k8s.io/group-name", "g"}}), "PodGroup ns/g"},
      {"a group of KAI", Named("p", {{"pod-group-name", "g"}}), "PodGroup ns/g"},
      {"a group without a name", Named("p", {{"scheduling.x-k8s.io/pod-group", ""}}), " ns/p"},
      {"a controller before a scheduler's group",
       Named("p", {{"scheduling.x-k8s.io/pod-group", "g"}}, "ReplicaSet/rs"), "ReplicaSet ns/rs"},
  };
  for (const OwnerCase& one : cases) {
    const PodOwner owner = OwnerOf(one.pod);
    EXPECT_EQ(owner.kind + " " + api::Show(owner.key), one.want) << one.name;
  }
}

TEST(OwnerOf, TellsTheApiGroupOfTheKind) {
  api::Pod volcano = Named("p", {}, "Job/j");
  volcano.meta.owners.back().api_version = "batch.volcano.sh/v1alpha1";
  const std::pair<api::Pod, const char*> cases[] = {
      {volcano, "batch.volcano.sh"},
      {Named("p", {{"batch.kubernetes.io/job-name", "j"}}), "batch"},
      {Named("p", {}, "ReplicationController/rc"), ""},
      {Named("p", kJobSet, "Job/set-0"), "jobset.x-k8s.io"},
      {Named("p", kLeaderWorkerSet, "StatefulSet/lws"), "leaderworkerset.x-k8s.io"},
      {Named("p", kKubeflow, "Job/x"), "kubeflow.org"},
      {Named("p", {{"kueue.x-k8s.io/pod-group-name", "g"}}), ""},
  };
  for (const auto& [pod, want] : cases) EXPECT_EQ(OwnerOf(pod).group, want) << want;
  EXPECT_EQ(KindText("Job", "batch.volcano.sh", true), "Job.batch.volcano.sh");
  EXPECT_EQ(KindText("Job", "batch", false), "Job");
  EXPECT_EQ(KindText("Pod", "", true), "Pod");
}

TEST(OwnerOf, AnAnnotationCountsAsALabel) {
  api::Pod pod = Named("p");
  pod.meta.annotations = {{"batch.kubernetes.io/job-name", "j"}};
  EXPECT_EQ(OwnerOf(pod).kind, "Job");
}

// Volcano and KAI write a group on every pod that they schedule.
TEST(OwnerOf, AGroupThatASchedulerMadeForOnePodIsNone) {
  api::Pod pod = Named("p", {{"pod-group-name", "pg-p-u1"}});
  EXPECT_EQ(OwnerOf(pod).kind, "PodGroup");
  pod.meta.uid = "u1";
  EXPECT_EQ(OwnerOf(pod).kind, "");
  pod.meta.labels = {{"scheduling.k8s.io/group-name", "podgroup-u1"}};
  EXPECT_EQ(OwnerOf(pod).kind, "");
  pod.meta.labels = {{"scheduling.x-k8s.io/pod-group", "g-u1"}};
  EXPECT_EQ(OwnerOf(pod).kind, "PodGroup");
}

TEST(SchedulersGroup, CountsWhateverTheOwner) {
  api::Pod pod =
      Named("p", {{"batch.kubernetes.io/job-name", "j"}, {"scheduling.x-k8s.io/pod-group", "g"}});
  pod.meta.owners = {{"batch/v1", "Job", "j", "u2", true}};
  EXPECT_EQ(OwnerOf(pod).kind, "Job");
  EXPECT_EQ(SchedulersGroup(pod), "g");
  pod.meta.labels = {{"scheduling.k8s.io/group-name", "podgroup-u2"}};
  EXPECT_EQ(SchedulersGroup(pod), std::nullopt) << "made for the Job";
  pod.meta.labels = {};
  EXPECT_EQ(SchedulersGroup(pod), std::nullopt);
}

struct MembersCase {
  const char* name;
  std::vector<api::Pod> pods;
  const char* want;  // "+ c a b" by index, "- a b c" by name
};

std::string Members(const std::vector<api::Pod>& pods) {
  const SharedList<api::Pod> list(pods);
  std::vector<std::size_t> all;
  for (std::size_t p = 0; p < list.size(); ++p) all.push_back(p);
  std::string text;
  for (const Gang& gang : FindGangs(list, all)) {
    text += (text.empty() ? "" : " | ") + std::string(gang.indexed ? "+" : "-");
    for (const std::size_t p : gang.pods) text += " " + list[p].meta.key.name;
  }
  return text;
}

api::Pod Of(const char* name, const Labels& owner, const Labels& index) {
  return Named(name, With(owner, index));
}

TEST(FindGangs, OrdersMembersByTheirIndex) {
  const auto completion = [](const char* n) {
    return Labels{{"batch.kubernetes.io/job-completion-index", n}};
  };
  const auto replica = [](const char* type, const char* n) {
    return Labels{{"training.kubeflow.org/replica-type", type},
                  {"training.kubeflow.org/replica-index", n}};
  };
  const Labels job = {{"batch.kubernetes.io/job-name", "j"}};
  const Labels first = {{"jobset.sigs.k8s.io/job-global-index", "0"},
                        {"jobset.sigs.k8s.io/job-index", "9"}};
  const Labels second = {{"jobset.sigs.k8s.io/job-index", "1"}};
  const char* const lws_index = "leaderworkerset.sigs.k8s.io/worker-index";
  const MembersCase cases[] = {
      {"a Job", {Of("a", job, completion("10")), Of("b", job, completion("2"))}, "+ b a"},
      {"a JobSet by job and completion",
       {Of("a", kJobSet, With(second, completion("0"))),
        Of("b", kJobSet, With(first, completion("1"))),
        Of("c", kJobSet, With(first, completion("0")))},
       "+ c b a"},
      {"a JobSet of one job",
       {Of("a", kJobSet, completion("1")), Of("b", kJobSet, completion("0"))},
       "+ b a"},
      {"a JobSet without completions",
       {Of("b", kJobSet, first), Of("a", kJobSet, second)},
       "- a b"},
      {"a LeaderWorkerSet",
       {Of("a", kLeaderWorkerSet, {{lws_index, "1"}}),
        Of("b", kLeaderWorkerSet, {{lws_index, "0"}})},
       "+ b a"},
      {"a StatefulSet",
       {Named("a", {{"apps.kubernetes.io/pod-index", "1"}}, "StatefulSet/s"),
        Named("b", {{"apps.kubernetes.io/pod-index", "0"}}, "StatefulSet/s")},
       "+ b a"},
      {"the pods of a TrainingJob",
       {Of("a", {{"weft.dev/job-name", "j"}}, {{"weft.dev/worker-index", "1"}}),
        Of("b", {{"weft.dev/job-name", "j"}}, {{"weft.dev/worker-index", "0"}})},
       "+ b a"},
      {"a master before the workers",
       {Of("a", kKubeflow, replica("worker", "0")), Of("b", kKubeflow, replica("worker", "1")),
        Of("c", kKubeflow, replica("Master", "0"))},
       "+ c a b"},
      {"a chief by the older labels",
       {Of("a", kKubeflow, {{"replica-type", "worker"}, {"replica-index", "0"}}),
        Of("b", kKubeflow, {{"replica-type", "chief"}, {"replica-index", "0"}})},
       "+ b a"},
      {"a launcher, which has no index",
       {Of("a", kKubeflow, replica("worker", "0")),
        Of("b", kKubeflow, {{"training.kubeflow.org/job-role", "launcher"}})},
       "+ b a"},
      {"a worker without an index", {Of("b", kKubeflow, {}), Of("a", kKubeflow, {})}, "- a b"},
      {"two of one index",
       {Of("w-10", job, completion("1")), Of("w-2", job, completion("1"))},
       "- w-2 w-10"},
      {"one without an index", {Of("b", job, completion("0")), Of("a", job, {})}, "- a b"},
      {"an index that is no number",
       {Of("b", job, completion("0x")), Of("a", job, completion("1"))},
       "- a b"},
      {"a negative index",
       {Of("b", job, completion("-1")), Of("a", job, completion("1"))},
       "- a b"},
      {"gangs by kind and key, and no pod alone",
       {Named("z"), Named("b", {}, "StatefulSet/s"), Named("a", {}, "ReplicaSet/t"),
        Named("c", {}, "ReplicaSet/r")},
       "- c | - a | - b"},
  };
  for (const MembersCase& one : cases) EXPECT_EQ(Members(one.pods), one.want) << one.name;
}

TEST(FindGangs, APodGroupOfKueueIsAGang) {
  const Labels group = {{"kueue.x-k8s.io/pod-group-name", "g"}};
  EXPECT_EQ(Members({Of("a", group, {{"kueue.x-k8s.io/pod-group-pod-index", "1"}}),
                     Of("b", group, {{"kueue.x-k8s.io/pod-group-pod-index", "0"}}), Named("c")}),
            "+ b a");
}

TEST(FindGangs, BarePodsOfASchedulersGroupAreAGang) {
  const Labels group = {{"scheduling.x-k8s.io/pod-group", "g"}};
  const Labels other = {{"scheduling.x-k8s.io/pod-group", "h"}};
  EXPECT_EQ(Members({Named("a-10", group), Named("a-2", group), Named("b", other), Named("c")}),
            "- a-2 a-10 | - b");
}

api::Pod OwnedBy(const char* name, const char* version, const char* kind, const char* uid,
                 const Labels& labels = {}) {
  api::Pod pod = Named(name, labels);
  pod.meta.owners = {{version, kind, "llm", uid, true}};
  return pod;
}

TEST(FindGangs, TellsOwnersOfOneNameApart) {
  const std::vector<api::Pod> volcano = {OwnedBy("a", "batch/v1", "Job", "u1"),
                                         OwnedBy("b", "batch.volcano.sh/v1alpha1", "Job", "u2"),
                                         OwnedBy("c", "batch.volcano.sh/v1alpha1", "Job", "u2")};
  EXPECT_EQ(Members(volcano), "- a | - b c");
  std::vector<api::Pod> again = {OwnedBy("a", "batch/v1", "Job", "u1"),
                                 OwnedBy("b", "batch/v1", "Job", "u2"),
                                 OwnedBy("c", "batch/v1", "Job", "u2")};
  EXPECT_EQ(Members(again), "- a | - b c");
  again[0].meta.deleting = true;
  EXPECT_EQ(Members(again), "- b c");
  const Labels set = {{"jobset.sigs.k8s.io/jobset-name", "set"}};
  const Labels uid1 = With(set, {{"jobset.sigs.k8s.io/jobset-uid", "s1"}});
  const Labels uid2 = With(set, {{"jobset.sigs.k8s.io/jobset-uid", "s2"}});
  EXPECT_EQ(Members({OwnedBy("a", "batch/v1", "Job", "u1", uid1),
                     OwnedBy("b", "batch/v1", "Job", "u2", uid1),
                     OwnedBy("c", "batch/v1", "Job", "u3", uid2)}),
            "- a b | - c");
}

TEST(FindGangs, KubeflowJobsOfOneNameAreApart) {
  EXPECT_EQ(Members({OwnedBy("a", "kubeflow.org/v1", "PyTorchJob", "u1", kKubeflow),
                     OwnedBy("b", "kubeflow.org/v1", "MPIJob", "u2", kKubeflow),
                     OwnedBy("c", "kubeflow.org/v1", "PyTorchJob", "u3", kKubeflow)}),
            "- b | - a | - c");
}

TEST(FindGangs, WorkersOfAnEarlierGroupAreNotWithTheNewLeader) {
  const auto of = [](const char* name, const char* index, const char* created) {
    api::Pod pod =
        Named(name, With(kLeaderWorkerSet, {{"leaderworkerset.sigs.k8s.io/group-index", "0"},
                                            {"leaderworkerset.sigs.k8s.io/worker-index", index}}));
    pod.meta.creation_timestamp = created;
    return pod;
  };
  EXPECT_EQ(
      Members({of("l-0", "0", "2026-01-01T00:01:00Z"), of("l-0-1", "1", "2026-01-01T00:00:00Z")}),
      "+ l-0 | + l-0-1");
  EXPECT_EQ(
      Members({of("l-0", "0", "2026-01-01T00:01:00Z"), of("l-0-1", "1", "2026-01-01T00:01:00Z")}),
      "+ l-0 l-0-1");
}

TEST(FindGangs, ALauncherIsWithItsWorkers) {
  const Labels mpi = With(kKubeflow, {{"training.kubeflow.org/operator-name", "mpi-operator"}});
  EXPECT_EQ(Members({OwnedBy("l", "batch/v1", "Job", "u1", mpi),
                     OwnedBy("w", "kubeflow.org/v2beta1", "MPIJob", "u2", mpi)}),
            "- l w");
}

TEST(FindGangs, LooksAtTheChosenPodsAlone) {
  const SharedList<api::Pod> pods = {Named("a", {}, "Job/j"), Named("b", {}, "Job/j")};
  const std::vector<Gang> gangs = FindGangs(pods, {1});
  ASSERT_EQ(gangs.size(), 1u);
  EXPECT_EQ(gangs[0].pods, (std::vector<std::size_t>{1}));
  EXPECT_EQ(gangs[0].kind, "Job");
  EXPECT_EQ(api::Show(gangs[0].key), "ns/j");
}

}  // namespace
}  // namespace weft::cluster
