#include "operator/cluster/foreign_gang.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/cluster/gang_shape.h"
#include "operator/cluster/worker_order.h"

namespace weft::cluster {
namespace {

using Json = nlohmann::json;
using Labels = std::map<std::string, std::string>;

struct Made {
  std::string name = "p";
  Labels labels, annotations;
  std::string controller;  // "Kind/name"
};

api::Pod PodOf(const Made& made) {
  api::Pod pod;
  pod.meta.key = {"ns", made.name};
  pod.meta.uid = "uid-of-" + made.name;
  pod.meta.labels = made.labels;
  pod.meta.annotations = made.annotations;
  if (const std::size_t slash = made.controller.find('/'); slash != std::string::npos) {
    const std::string name = made.controller.substr(slash + 1);
    pod.meta.owners = {{"v1", made.controller.substr(0, slash), name, "uid-of-" + name, true}};
  }
  return pod;
}

// The labels of JobSet v0.12.
Labels OfJobSet(const std::string& job, const std::string& pod, const std::string& attempt = "0") {
  return {{"jobset.sigs.k8s.io/jobset-name", "llama"},
          {"jobset.sigs.k8s.io/jobset-uid", "u-1"},
          {"jobset.sigs.k8s.io/replicatedjob-name", "workers"},
          {"jobset.sigs.k8s.io/replicatedjob-replicas", "2"},
          {"jobset.sigs.k8s.io/job-index", job},
          {"jobset.sigs.k8s.io/restart-attempt", attempt},
          {"batch.kubernetes.io/job-completion-index", pod},
          {"batch.kubernetes.io/job-name", "llama-workers-" + job},
          {"batch.kubernetes.io/controller-uid", "job-" + job + "-" + attempt}};
}

ForeignGang GangOf(const Made& made) {
  auto gang = ForeignGangOf(PodOf(made));
  EXPECT_TRUE(gang) << gang.error().message;
  return gang ? *gang : ForeignGang{};
}

struct GangCase {
  const char* name;
  Made pod;
  const char* want;  // kind owner part
  Labels selector;   // without weft.dev/place
};

TEST(ForeignGangOf, EachKindTellsItsGangsApart) {
  const GangCase cases[] = {
      {"a Job",
       {"p",
        {{"batch.kubernetes.io/controller-uid", "u"}, {"batch.kubernetes.io/job-name", "j"}},
        {},
        "Job/j"},
       "Job j ",
       {{"batch.kubernetes.io/controller-uid", "u"}}},
      {"a replicated job and attempt of a JobSet",
       {"p", OfJobSet("1", "0"), {}, "Job/llama-workers-1"},
       "JobSet llama workers",
       {{"jobset.sigs.k8s.io/jobset-uid", "u-1"},
        {"jobset.sigs.k8s.io/replicatedjob-name", "workers"},
        {"jobset.sigs.k8s.io/restart-attempt", "0"}}},
      {"a group of a LeaderWorkerSet",
       {"p",
        {{"leaderworkerset.sigs.k8s.io/name", "lws"},
         {"leaderworkerset.sigs.k8s.io/group-index", "3"}},
        {},
        "StatefulSet/lws-3"},
       "LeaderWorkerSet lws 3",
       {{"leaderworkerset.sigs.k8s.io/name", "lws"},
        {"leaderworkerset.sigs.k8s.io/group-index", "3"}}},
      {"all replicas of a PyTorchJob",
       {"p",
        {{"training.kubeflow.org/job-name", "t"},
         {"training.kubeflow.org/operator-name", "pytorchjob-controller"}},
        {},
        "PyTorchJob/t"},
       "PyTorchJob t ",
       {{"training.kubeflow.org/job-name", "t"},
        {"training.kubeflow.org/operator-name", "pytorchjob-controller"}}},
      {"the nodes of a TrainJob",
       {"p",
        {{"jobset.sigs.k8s.io/jobset-name", "tuned"},
         {"jobset.sigs.k8s.io/jobset-uid", "u-1"},
         {"jobset.sigs.k8s.io/replicatedjob-name", "node"},
         {"jobset.sigs.k8s.io/restart-attempt", "0"},
         {"trainer.kubeflow.org/trainjob-ancestor-step", "trainer"}},
        {},
        "Job/tuned-node-0"},
       "TrainJob tuned ",
       {{"jobset.sigs.k8s.io/jobset-uid", "u-1"}, {"jobset.sigs.k8s.io/restart-attempt", "0"}}},
      {"a worker group of a RayCluster",
       {"p", {{"ray.io/cluster", "ray"}, {"ray.io/group", "gpu"}}, {}, "RayCluster/ray"},
       "RayCluster ray gpu",
       {{"ray.io/cluster", "ray"}, {"ray.io/group", "gpu"}}},
      {"a pod group",
       {"p", {{"kueue.x-k8s.io/pod-group-name", "g"}}, {}, ""},
       "Pod g ",
       {{"kueue.x-k8s.io/pod-group-name", "g"}}},
  };
  for (const GangCase& one : cases) {
    const ForeignGang gang = GangOf(one.pod);
    EXPECT_EQ(gang.kind + " " + gang.owner + " " + gang.part, one.want) << one.name;
    Labels selector = one.selector;
    selector["weft.dev/place"] = "true";
    EXPECT_EQ(gang.selector, selector) << one.name;
  }
}

TEST(ForeignGangOf, NamesAreTheSameForAllPodsAndDifferByAttempt) {
  const ForeignGang first = GangOf({"a", OfJobSet("0", "0"), {}, "Job/llama-workers-0"});
  const ForeignGang same = GangOf({"b", OfJobSet("1", "1"), {}, "Job/llama-workers-1"});
  const ForeignGang next = GangOf({"c", OfJobSet("0", "0", "1"), {}, "Job/llama-workers-0"});
  EXPECT_EQ(first.placement_name, same.placement_name);
  EXPECT_EQ(first.base, next.base);
  EXPECT_EQ(first.placement_name, first.base + "-0");
  EXPECT_EQ(next.placement_name, first.base + "-1");
  EXPECT_EQ(first.base.substr(0, 14), "llama-workers-");
  EXPECT_EQ(first.base.size(), 14U + 8);
}

TEST(ForeignGangOf, ANewObjectOfTheSameNameIsAnotherGang) {
  Labels labels = {{"batch.kubernetes.io/controller-uid", "u"}};
  const ForeignGang before = GangOf({"p", labels, {}, "Job/j"});
  labels["batch.kubernetes.io/controller-uid"] = "v";
  EXPECT_NE(GangOf({"p", labels, {}, "Job/j"}).base, before.base);
}

TEST(ForeignGangOf, KubeflowJobsOfOneNameAreGangsOfTheirOwn) {
  const auto base = [](const char* by, const char* kind, const char* uid) {
    api::Pod pod = PodOf({"p", {{"training.kubeflow.org/job-name", "x"}}, {}, ""});
    if (*by != '\0') pod.meta.labels.Set("training.kubeflow.org/operator-name", by);
    pod.meta.owners = {{"kubeflow.org/v1", kind, "x", uid, true}};
    return ForeignGangOf(pod)->base;
  };
  EXPECT_EQ(base("pytorchjob-controller", "PyTorchJob", "a"), base("", "PyTorchJob", "a"));
  // PresentObject tells the pods of an earlier object apart.
  EXPECT_EQ(base("pytorchjob-controller", "PyTorchJob", "a"),
            base("pytorchjob-controller", "PyTorchJob", "a-old"));
  EXPECT_NE(base("", "PyTorchJob", "a"), base("", "MPIJob", "b"));
  EXPECT_NE(base("tfjob-controller", "TFJob", "a"), base("jaxjob-controller", "JAXJob", "b"));
}

TEST(ForeignGangOf, ALauncherAndTheNodesOfATrainJobAreOneGang) {
  const auto of = [](const char* part, const char* uid, bool labelled) {
    Labels labels = OfJobSet("0", "0");
    labels["jobset.sigs.k8s.io/replicatedjob-name"] = part;
    labels["jobset.sigs.k8s.io/jobset-uid"] = uid;
    if (labelled) labels["trainer.kubeflow.org/trainjob-ancestor-step"] = "trainer";
    return GangOf({"p", labels, {}, "Job/llama-x-0"});
  };
  const ForeignGang node = of("node", "u-1", true);
  EXPECT_EQ(node.part, "");
  EXPECT_EQ(of("launcher", "u-1", true).placement_name, node.placement_name);
  EXPECT_EQ(of("launcher", "u-1", false).placement_name, node.placement_name);
  EXPECT_NE(of("launcher", "u-2", true).placement_name, node.placement_name);
  EXPECT_NE(of("dataset-initializer", "u-1", true).placement_name, node.placement_name);
  EXPECT_EQ(of("dataset-initializer", "u-1", true).part, "dataset-initializer");
}

TEST(ForeignGangOf, LongNamesAreCutAndKeepTheirHash) {
  Labels labels = OfJobSet("0", "0", "12");
  labels["jobset.sigs.k8s.io/jobset-name"] = std::string(50, 'a');
  const ForeignGang a = GangOf({"p", labels, {}, "Job/x"});
  labels["jobset.sigs.k8s.io/jobset-name"] = std::string(50, 'a') + "b";
  const ForeignGang b = GangOf({"p", labels, {}, "Job/x"});
  EXPECT_LE(a.placement_name.size(), 63U);
  EXPECT_EQ(a.placement_name, a.base + "-12");
  EXPECT_NE(a.placement_name, b.placement_name);
}

TEST(ForeignGangOf, SaysWhyAPodHasNone) {
  const std::pair<Made, const char*> cases[] = {
      {{"p", {}, {}, "ReplicaSet/rs"}, "pod p belongs to a ReplicaSet, so Weft cannot tell"},
      {{"p", {}, {}, ""}, "pod p has no controller and no label kueue.x-k8s.io/pod-group-name, so"},
      {{"p", {{"ray.io/cluster", "r"}}, {}, "RayCluster/r"},
       "pod p belongs to a RayCluster, but has no label ray.io/group, so Weft cannot tell"},
  };
  for (const auto& [pod, want] : cases) {
    const auto gang = ForeignGangOf(PodOf(pod));
    ASSERT_FALSE(gang);
    EXPECT_EQ(gang.error().message.substr(0, std::string(want).size()), want);
  }
}

TEST(GangOwner, IsTheObjectThatGoesWithThePods) {
  const api::Pod set = PodOf({"p", OfJobSet("0", "0"), {}, "Job/llama-workers-0"});
  const api::OwnerReference jobset = GangOwner(*ForeignGangOf(set), {&set});
  EXPECT_EQ(jobset.kind + " " + jobset.name + " " + jobset.uid, "JobSet llama u-1");
  Labels group = {{"leaderworkerset.sigs.k8s.io/name", "lws"},
                  {"leaderworkerset.sigs.k8s.io/group-index", "0"},
                  {"leaderworkerset.sigs.k8s.io/worker-index", "1"}};
  const api::Pod worker = PodOf({"lws-0-1", group, {}, "StatefulSet/lws-0"});
  group["leaderworkerset.sigs.k8s.io/worker-index"] = "0";
  const api::Pod leader = PodOf({"lws-0", group, {}, "StatefulSet/lws"});
  EXPECT_EQ(GangOwner(*ForeignGangOf(worker), {&worker, &leader}).name, "lws");
  const Labels mpi = {{"training.kubeflow.org/job-name", "m"}};
  const api::Pod launcher = PodOf({"m-launcher-x", mpi, {}, "Job/m-launcher"});
  const api::Pod rank = PodOf({"m-worker-0", mpi, {}, "MPIJob/m"});
  ForeignGang gang = *ForeignGangOf(rank);
  EXPECT_EQ(gang.kind, "MPIJob");
  EXPECT_EQ(GangOwner(gang, {&launcher, &rank}).kind, "MPIJob");
  const api::Pod alone = PodOf({"p", {{"kueue.x-k8s.io/pod-group-name", "g"}}, {}, ""});
  EXPECT_EQ(GangOwner(*ForeignGangOf(alone), {&alone}).uid, "uid-of-p");
}

std::string Shown(const GangShape& shape) {
  std::string text = std::to_string(shape.workers);
  for (const api::IndexLabel& label : shape.index_labels) {
    text += " " + std::to_string(label.stride) + "x" + label.key.substr(label.key.find('/') + 1);
    for (const auto& [value, number] : label.values) {
      text += "," + value + "=" + std::to_string(number);
    }
  }
  return text;
}

TEST(ShapeOfPod, IsTheSizeThatThePodCarries) {
  struct {
    const char* name;
    Made pod;
    const char* want;
  } const cases[] = {
      {"a group's size",
       {"p",
        {{"leaderworkerset.sigs.k8s.io/name", "l"},
         {"leaderworkerset.sigs.k8s.io/group-index", "0"}},
        {{"leaderworkerset.sigs.k8s.io/size", "4"}},
        "StatefulSet/l"},
       "4 1xworker-index"},
      {"a pod group with indices",
       {"p",
        {{"kueue.x-k8s.io/pod-group-name", "g"}, {"kueue.x-k8s.io/pod-group-pod-index", "0"}},
        {{"kueue.x-k8s.io/pod-group-total-count", "3"}},
        ""},
       "3 1xpod-group-pod-index"},
      {"a pod group without",
       {"p",
        {{"kueue.x-k8s.io/pod-group-name", "g"}},
        {{"kueue.x-k8s.io/pod-group-total-count", "3"}},
        ""},
       "3"},
      {"an annotation on a JobSet's pod",
       {"p", OfJobSet("0", "0"), {{"weft.dev/workers", "8"}}, "Job/llama-workers-0"},
       "8 4xjob-index 1xjob-completion-index"},
      {"an annotation on a PyTorchJob's pod",
       {"p",
        {{"training.kubeflow.org/job-name", "t"}},
        {{"weft.dev/workers", "8"}},
        "PyTorchJob/t"},
       "8"},
  };
  for (const auto& one : cases) {
    const api::Pod pod = PodOf(one.pod);
    const auto shape = ShapeOfPod(*ForeignGangOf(pod), pod);
    ASSERT_TRUE(shape && *shape) << one.name;
    EXPECT_EQ(Shown(**shape), one.want) << one.name;
  }
  const api::Pod silent = PodOf({"p", OfJobSet("0", "0"), {}, "Job/llama-workers-0"});
  const auto unknown = ShapeOfPod(*ForeignGangOf(silent), silent);
  ASSERT_TRUE(unknown);
  EXPECT_FALSE(*unknown);
}

TEST(ShapeOfPod, WorkersMustDivideIntoTheJobs) {
  const api::Pod pod =
      PodOf({"p", OfJobSet("0", "0"), {{"weft.dev/workers", "7"}}, "Job/llama-workers-0"});
  EXPECT_EQ(ShapeOfPod(*ForeignGangOf(pod), pod).error().message,
            "annotation weft.dev/workers: 7 workers do not divide evenly into 2 jobs");
}

struct ExclusiveCase {
  const char* name;
  Made pod;
  const char* size;  // weft.dev/workers, or the group's size
  const char* want;  // of the message; "" if the pods can all wait at once
};

TEST(CheckCreatedAtOnce, RefusesAnExclusiveTopologyThatWaitsForTheFirstPod) {
  const char* const jobset = "alpha.jobset.sigs.k8s.io/exclusive-topology";
  const char* const strategy = "alpha.jobset.sigs.k8s.io/node-selector";
  const char* const lws = "leaderworkerset.sigs.k8s.io/exclusive-topology";
  const Labels group = {{"leaderworkerset.sigs.k8s.io/name", "l"},
                        {"leaderworkerset.sigs.k8s.io/group-index", "0"}};
  const Made two_jobs = {"p", OfJobSet("0", "0"), {{jobset, "rack"}}, "Job/llama-workers-0"};
  Made by_selector = two_jobs;
  by_selector.annotations[strategy] = "true";
  const Made in_group = {"l-0", group, {{lws, "rack"}}, "StatefulSet/l"};
  const Made in_subgroup = {"l-0",
                            group,
                            {{"leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology", "rack"}},
                            "StatefulSet/l"};
  const Made no_wish = {"l-0", group, {}, "StatefulSet/l"};
  const ExclusiveCase cases[] = {
      {"Jobs of four pods", two_jobs, "8",
       "annotation alpha.jobset.sigs.k8s.io/exclusive-topology: with it the other pods of JobSet "
       "llama are created only when the first has a node, but Weft finds nodes for all 8 workers "
       "at once; remove it and put weft.dev/topology: '{\"required\": \"LEVEL\"}' on the pod "
       "template, or use JobSet's node selector strategy (annotation "
       "alpha.jobset.sigs.k8s.io/node-selector)"},
      {"Jobs of one pod", two_jobs, "2", ""},
      {"the node selector strategy", by_selector, "8", ""},
      {"a group of four", in_group, "4",
       "annotation leaderworkerset.sigs.k8s.io/exclusive-topology: with it the other pods of "
       "LeaderWorkerSet l are created only when the first has a node, but Weft finds nodes for all "
       "4 workers at once; remove it and put weft.dev/topology: '{\"required\": \"LEVEL\"}' on the "
       "pod template"},
      {"a group of one", in_group, "1", ""},
      {"subgroups", in_subgroup, "4",
       "annotation leaderworkerset.sigs.k8s.io/subgroup-exclusive-topology: with it the other pods "
       "of LeaderWorkerSet l have other affinity in other subgroups, but Weft finds nodes for all "
       "4 workers by the rules of one pod; remove it and put weft.dev/topology: "
       "'{\"required\": \"LEVEL\"}' on the pod template"},
      {"subgroups of a group of one", in_subgroup, "1", ""},
      {"a group without it", no_wish, "4", ""},
  };
  for (const ExclusiveCase& one : cases) {
    api::Pod pod = PodOf(one.pod);
    pod.meta.annotations.Set("weft.dev/workers", one.size);
    pod.meta.annotations.Set("leaderworkerset.sigs.k8s.io/size", one.size);
    const ForeignGang gang = *ForeignGangOf(pod);
    const auto shape = ShapeOfPod(gang, pod);
    ASSERT_TRUE(shape && *shape) << one.name;
    const Status status = CheckCreatedAtOnce(gang, pod, **shape);
    EXPECT_EQ(status ? "" : status.error().message, one.want) << one.name;
  }
}

struct OwnerCase {
  const char* name;
  const char* kind;
  const char* owner;
  const char* part;
  const char* want;
};

// With TEMPLATE in place of the pod template of workers.
Json Owner(std::string text) {
  const std::string pod_template = R"({"metadata": {"labels": {"weft.dev/place": "true"}}, "spec":
      {"containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}})";
  for (std::size_t at = 0; (at = text.find("TEMPLATE")) != text.npos;) {
    text.replace(at, 8, pod_template);
  }
  return Json::parse(text);
}

const char* const kPyTorchJob = R"({"kind": "PyTorchJob", "metadata": {"name": "t"}, "spec": {
    "pytorchReplicaSpecs": {
      "Worker": {"replicas": 3, "template": TEMPLATE},
      "Master": {"template": TEMPLATE}}}})";
const char* const kTFJob = R"({"kind": "TFJob", "metadata": {"name": "t"}, "spec": {
    "tfReplicaSpecs": {
      "PS": {"replicas": 2},
      "Worker": {"replicas": 3, "template": TEMPLATE}}}})";
const char* const kMpiJob = R"({"kind": "MPIJob", "metadata": {"name": "m"}, "spec": {
    "mpiReplicaSpecs": {
      "Launcher": {"replicas": 1},
      "Worker": {"replicas": 4, "template": TEMPLATE}}}})";
const char* const kRay = R"({"kind": "RayCluster", "metadata": {"name": "r"}, "spec": {
    "workerGroupSpecs": [{"groupName": "cpu", "replicas": 9},
                         {"groupName": "gpu", "replicas": 3, "numOfHosts": 4}]}})";

TEST(ShapeOfOwner, CountsTheWorkersOfEachKind) {
  const OwnerCase cases[] = {
      {"an Indexed Job", "Job",
       R"({"spec": {"parallelism": 4, "completions": 4, "completionMode": "Indexed"}})", "",
       "4 1xjob-completion-index"},
      {"a Job without an index", "Job", R"({"spec": {"parallelism": 4}})", "", "4"},
      {"a Job of one", "Job", R"({"spec": {}})", "", "1"},
      {"a Job of fewer completions than pods", "Job",
       R"({"spec": {"parallelism": 4, "completions": 3}})", "", "3"},
      {"a JobSet", "JobSet",
       R"({"spec": {"replicatedJobs": [{"name": "driver"}, {"name": "workers", "replicas": 2,
         "template": {"spec": {"parallelism": 4, "completions": 4}}}]}})",
       "workers", "8 4xjob-index 1xjob-completion-index"},
      {"a TrainJob by its JobSet", "TrainJob",
       R"({"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"parallelism": 4,
         "completions": 4}}}]}})",
       "node", "4 4xjob-index 1xjob-completion-index"},
      {"a PyTorchJob's master comes first", "PyTorchJob", kPyTorchJob, "",
       "4 1xreplica-type,master=0,worker=1 1xreplica-index"},
      {"one type of a PyTorchJob", "PyTorchJob", kPyTorchJob, "worker", "3 1xreplica-index"},
      {"a TFJob without its parameter servers", "TFJob", kTFJob, "", "3 1xreplica-index"},
      {"an MPIJob without its launcher", "MPIJob", kMpiJob, "", "4 1xreplica-index"},
      {"a worker group", "RayCluster", kRay, "gpu", "12"},
      {"the head", "RayCluster", kRay, "headgroup", "1"},
  };
  for (const OwnerCase& one : cases) {
    const auto shape = ShapeOfOwner(one.kind, Owner(one.owner), one.part);
    ASSERT_TRUE(shape) << one.name << ": " << shape.error().message;
    EXPECT_EQ(Shown(*shape), one.want) << one.name;
  }
}

// TrainJobs of MPI: N - 1 pods of the job "node", and the launcher if it is a node too.
TEST(ShapeOfOwner, ALauncherThatIsANodeOfATrainJobCounts) {
  const char* const owner = R"({"kind": "JobSet", "metadata": {"name": "t"}, "spec": {
      "replicatedJobs": [
        {"name": "dataset-initializer", "template": {"spec": {"template": TEMPLATE}}},
        {"name": "node", "template": {"spec": {"parallelism": 3, "completions": 3,
                                               "template": TEMPLATE}}},
        {"name": "launcher", "template": {"spec": {"template": TEMPLATE}}}]}})";
  Json job = Owner(owner);
  Json& jobs = job["spec"]["replicatedJobs"];
  const auto shape = ShapeOfOwner("TrainJob", job, "");
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(Shown(*shape),
            "4 1xreplicatedjob-name,launcher=0,node=1 3xjob-index 1xjob-completion-index");
  EXPECT_EQ(shape->pods_per_job, 3);
  jobs[2]["dependsOn"] = Json::parse(R"([{"name": "node", "status": "Ready"}])");
  EXPECT_EQ(
      ShapeOfOwner("JobSet", job, "").error().message,
      "owner: JobSet t: spec.replicatedJobs[2].dependsOn[0]: must not be \"node\": the pods of "
      "both jobs are workers of one gang, which get their nodes together; remove the "
      "dependency from the JobSet, or from the TrainJob's runtime");
  jobs[2]["template"]["spec"]["template"]["spec"]["containers"][0].erase("resources");
  EXPECT_EQ(Shown(*ShapeOfOwner("TrainJob", job, "")), "3 3xjob-index 1xjob-completion-index");
  jobs[1]["template"]["spec"]["template"]["metadata"].clear();  // a webhook writes the label
  EXPECT_EQ(Shown(*ShapeOfOwner("TrainJob", job, "")), "3 3xjob-index 1xjob-completion-index");
  jobs.erase(1);
  EXPECT_EQ(ShapeOfOwner("TrainJob", job, "").error().message,
            "owner: JobSet t: spec.replicatedJobs: has no job \"node\"");
}

TEST(ShapeOfOwner, ALauncherThatWorksHasIndexZero) {
  Json job = Owner(kMpiJob);
  Json& launcher = job["spec"]["mpiReplicaSpecs"]["Launcher"];
  launcher["template"] = Owner("TEMPLATE");
  EXPECT_EQ(Shown(*ShapeOfOwner("MPIJob", job, "")), "5");  // by name: launcher, then workers
  job["spec"]["runLauncherAsWorker"] = true;
  EXPECT_EQ(Shown(*ShapeOfOwner("MPIJob", job, "")), "5 1xreplica-index");
  launcher.erase("template");
  EXPECT_EQ(Shown(*ShapeOfOwner("MPIJob", job, "")), "4");  // their indices begin at 1
}

TEST(ShapeOfOwner, AnErrorNamesTheField) {
  const OwnerCase cases[] = {
      {"more completions than pods at once", "Job",
       R"({"kind": "Job", "metadata": {"name": "j"}, "spec": {"parallelism": 4,
         "completions": 16}})",
       "",
       "owner: Job j: spec.completions: 16 must not exceed parallelism, 4: the workers of a gang "
       "run "
       "at once"},
      {"no such part", "JobSet",
       R"({"kind": "JobSet", "metadata": {"name": "j"}, "spec": {"replicatedJobs": [{"name": "x"}]}})",
       "w", "owner: JobSet j: spec.replicatedJobs: has no job \"w\""},
      {"no labelled replicas", "PyTorchJob",
       R"({"kind": "PyTorchJob", "metadata": {"name": "t"}, "spec": {"pytorchReplicaSpecs": {
         "Worker": {"replicas": 3}}}})",
       "",
       "owner: PyTorchJob t: spec: has no replicas whose template has the label weft.dev/place: "
       "\"true\" and requests an accelerator"},
      {"too many workers", "JobSet",
       R"({"kind": "JobSet", "metadata": {"name": "j"}, "spec": {"replicatedJobs": [{"name": "w",
         "replicas": 300, "template": {"spec": {"parallelism": 300}}}]}})",
       "w", "owner: JobSet j: has 90000 workers, must have 1 to 16384"},
  };
  for (const OwnerCase& one : cases) {
    const auto shape = ShapeOfOwner(one.kind, Owner(one.owner), one.part);
    ASSERT_FALSE(shape) << one.name;
    EXPECT_EQ(shape.error().message, one.want) << one.name;
  }
}

TEST(ShapeOfOwner, TheIndexOfAPyTorchJobCountsItsMaster) {
  const GangShape shape = *ShapeOfOwner("PyTorchJob", Owner(kPyTorchJob), "");
  api::Placement placement;
  placement.workers = 4;
  placement.worker_index_labels = shape.index_labels;
  std::vector<api::Pod> pods;
  for (const auto& [type, index] :
       {std::pair("worker", "2"), {"master", "0"}, {"worker", "0"}, {"worker", "1"}}) {
    pods.push_back(PodOf({std::string(type) + index,
                          {{"training.kubeflow.org/replica-type", type},
                           {"training.kubeflow.org/replica-index", index}},
                          {},
                          ""}));
  }
  std::vector<const api::Pod*> all;
  for (const api::Pod& pod : pods) all.push_back(&pod);
  const auto assigned = AssignWorkers(placement, all, ByWorker<const api::Pod*>(4, nullptr));
  ASSERT_TRUE(assigned) << assigned.error().message;
  std::string order;
  for (const WorkerPod& one : *assigned) order += one.pod->meta.key.name + " ";
  EXPECT_EQ(order, "master0 worker0 worker1 worker2 ");
}

}  // namespace
}  // namespace weft::cluster
