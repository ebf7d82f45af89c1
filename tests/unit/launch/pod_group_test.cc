#include "operator/launch/pod_group.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "operator/launch/objects.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

api::TrainingJob JobWith(const char* pod_spec) {
  Json job = Json::parse(R"({"metadata": {"name": "llama", "namespace": "ns", "uid": "u"},
      "spec": {"workers": {"replicas": 3, "template": {"spec": {"containers": [{
        "name": "main", "image": "i", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}}})");
  job["spec"]["workers"]["template"]["spec"].update(Json::parse(pod_spec));
  return *api::DecodeTrainingJob(job, "test", api::Reading::kServed);
}

Gang GangOf(const api::TrainingJob& job) {
  Gang gang;
  gang.job = &job;
  gang.attempt = 2;
  gang.placement_uid = "p";
  gang.nodes = ByWorker<std::string>(std::vector<std::string>{"n0", "n1", "n2"});
  return gang;
}

TEST(PodGroupTest, HoldsAllWorkersOfOneAttempt) {
  const auto job = JobWith(R"({"priorityClassName": "urgent"})");
  const Json group = MakePodGroup(GangOf(job));
  EXPECT_EQ(group.at("apiVersion"), "scheduling.k8s.io/v1beta1");
  EXPECT_EQ(group.at("spec"), Json::parse(R"({
      "schedulingPolicy": {"gang": {"minCount": 3}}, "disruptionMode": {"all": {}},
      "priorityClassName": "urgent"})"));
  EXPECT_EQ(group.at("metadata").at("ownerReferences").at(0).at("name"), "llama-2");
  const auto plain = JobWith("{}");
  EXPECT_FALSE(MakePodGroup(GangOf(plain)).at("spec").contains("priorityClassName"));
  auto changed = JobWith("{}");
  changed.priority_class_name = "by-admission";
  EXPECT_EQ(MakePodGroup(GangOf(changed)).at("spec").at("priorityClassName"), "by-admission");
}

// Without the feature gate PodGroupPreemptionPolicy kube-scheduler reads it from the pods, which
// must agree; with it the API server copies it from the priority class.
TEST(PodGroupTest, WhetherItPreemptsIsSaidByThePodsAlone) {
  const auto job = JobWith(R"({"priorityClassName": "patient", "preemptionPolicy": "Never"})");
  Gang gang = GangOf(job);
  gang.pod_group = "g";
  EXPECT_FALSE(MakePodGroup(gang).at("spec").contains("preemptionPolicy"));
  for (const WorkerIndex worker : {WorkerIndex{0}, WorkerIndex{1}, WorkerIndex{2}}) {
    const Json spec = MakePod(gang, worker).at("spec");
    EXPECT_EQ(spec.at("preemptionPolicy"), "Never");
    EXPECT_EQ(spec.at("priorityClassName"), "patient");
    EXPECT_EQ(spec.at("schedulingGroup").at("podGroupName"), "g");
  }
}

// The finalizer of a PodGroup stays while its pods end.
TEST(PodGroupTest, AJobOfTheSameNameHasAnotherName) {
  const auto job = JobWith("{}");
  Gang gang = GangOf(job);
  const std::string name = PodGroupName(gang);
  EXPECT_TRUE(name.starts_with("llama-2-weft-")) << name;
  gang.placement_uid = "q";
  EXPECT_NE(PodGroupName(gang), name);
}

TEST(PodGroupTest, IsForPodsThatKubeSchedulerItselfBinds) {
  EXPECT_TRUE(MayJoinPodGroup(JobWith("{}")));
  EXPECT_TRUE(MayJoinPodGroup(JobWith(R"({"schedulerName": "default-scheduler"})")));
  EXPECT_FALSE(MayJoinPodGroup(JobWith(R"({"schedulerName": "volcano"})")));
  EXPECT_FALSE(MayJoinPodGroup(JobWith(R"({"affinity": {"podAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone"}]}}})")));
  EXPECT_FALSE(MayJoinPodGroup(JobWith(R"({"schedulingGroup": {"podGroupName": "own"}})")));
}

TEST(PodGroupTest, IsForGangsThatKubeSchedulerTakesInTime) {
  auto job = JobWith("{}");
  job.replicas = kPodGroupWorkersAtMost;
  EXPECT_TRUE(MayJoinPodGroup(job));
  ++job.replicas;
  EXPECT_FALSE(MayJoinPodGroup(job));
}

TEST(PodGroupTest, ThePlacementFileRemembersIt) {
  const auto job = JobWith("{}");
  Gang gang = GangOf(job);
  Json spec = Json::object();
  JoinPodGroup(gang, spec);
  EXPECT_EQ(spec, Json::object());
  gang.pod_group = "g";
  JoinPodGroup(gang, spec);
  EXPECT_EQ(spec.at("schedulingGroup").at("podGroupName"), "g");
  const std::string text = PlacementFile(gang, 1U << 20);
  gang.pod_group.clear();
  ReadPlacementFile(text, gang);
  EXPECT_EQ(gang.pod_group, "g");
}

}  // namespace
}  // namespace weft::launch
