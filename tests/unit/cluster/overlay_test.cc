#include "operator/cluster/overlay.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "operator/cluster/workload.h"
#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

using Json = nlohmann::json;

Json JobObject(int replicas) {
  Json job = Json::parse(R"({
      "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
      "metadata": {"name": "j", "namespace": "ns"},
      "spec": {"workers": {"template": {"spec": {"containers": [
          {"name": "t", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}}}})");
  job["spec"]["workers"]["replicas"] = replicas;
  return job;
}

api::TrainingJob Decoded(const Json& object, const std::string& place) {
  return *api::DecodeTrainingJob(object, place);
}

api::Inputs With(api::TrainingJob job) {
  api::Inputs inputs;
  inputs.jobs.push_back(std::move(job));
  inputs.order.push_back({true, 0});
  return inputs;
}

TEST(Overlay, ReplacesWhatHasTheNameAndAppendsTheRest) {
  testing::Scene live(testing::FourNodes()), wanted(testing::Leaves({{8, 8, 8, 8, 8}}));
  live.Job("a", 1);
  live.Placement("p", 1);
  live.inputs.notes = {"first"};
  wanted.Placement("q", 2);
  wanted.Job("b", 2);
  wanted.Job("a", 3);
  wanted.Placement("p", 4);
  wanted.Pod("x", "n0");
  wanted.inputs.notes = {"second"};
  wanted.inputs.nodes.Edit(1).facts.allocatable["cpu"] = 1;
  for (testing::Scene* scene : {&live, &wanted}) {
    api::PriorityClass one;
    one.meta.key.name = "high";
    one.value = scene == &live ? 1 : 2;
    scene->inputs.priority_classes = {one};
    if (scene == &wanted) {
      one.meta.key.name = "low";
      scene->inputs.priority_classes.push_back(one);
    }
  }
  const auto merged = Overlay(live.inputs, wanted.inputs);
  ASSERT_TRUE(merged) << merged.error().message;
  std::string text;
  for (const auto& entry : merged->order) {
    text += entry.is_job ? " " + merged->jobs[entry.index].meta.key.name + "=" +
                               std::to_string(merged->jobs[entry.index].replicas)
                         : " " + merged->placements[entry.index].meta.key.name + "=" +
                               std::to_string(merged->placements[entry.index].workers);
  }
  EXPECT_EQ(text, " a=3 p=4 q=2 b=2");
  EXPECT_EQ(merged->nodes.size(), 5u);
  EXPECT_EQ(merged->nodes[1].facts.allocatable.at("cpu"), 1);
  EXPECT_EQ(merged->pods.size(), 1u);
  EXPECT_EQ(merged->fabrics.size(), 1u);
  ASSERT_EQ(merged->priority_classes.size(), 2u);
  EXPECT_EQ(merged->priority_classes[0].value, 2);
  EXPECT_EQ(merged->notes, (std::vector<std::string>{"first", "second"}));
}

TEST(Overlay, AnAppliedSpecKeepsTheStatusTheUidTheAgeAndWhatTheOperatorKnows) {
  Json object = JobObject(2);
  object["metadata"]["uid"] = "u1";
  object["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z";
  object["status"] = {{"attempt", 3}};
  api::TrainingJob live = Decoded(object, "cluster");
  live.wait.waited_seconds = 60;
  live.meta.annotations = {{"other", "x"}};
  const auto merged = Overlay(With(live), With(Decoded(JobObject(4), "jobs.yaml")));
  ASSERT_TRUE(merged) << merged.error().message;
  const api::TrainingJob& job = merged->jobs[0];
  EXPECT_EQ(job.place, "jobs.yaml: TrainingJob ns/j");
  EXPECT_EQ(job.replicas, 4u);
  EXPECT_EQ(job.attempt, 3);
  EXPECT_EQ(job.meta.uid, "u1");
  EXPECT_EQ(job.meta.creation_timestamp, "2026-01-01T00:00:00Z");
  EXPECT_EQ(job.wait.waited_seconds, 60);
  EXPECT_FALSE(job.meta.annotations.At("other"));
  EXPECT_EQ(merged->order.size(), 1u);
}

TEST(Overlay, AStatusThatIsGivenReplacesTheLiveOne) {
  Json live = JobObject(2), wanted = JobObject(2);
  live["metadata"]["uid"] = "u1";
  live["status"] = {{"attempt", 3}};
  wanted["status"] = {{"attempt", 1}};
  const auto merged = Overlay(With(Decoded(live, "cluster")), With(Decoded(wanted, "jobs.yaml")));
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->jobs[0].attempt, 1);
  EXPECT_EQ(merged->jobs[0].meta.uid, "");
}

TEST(Overlay, OfAJobWithoutAStatusThereIsNoneToKeep) {
  const auto merged =
      Overlay(With(Decoded(JobObject(2), "cluster")), With(Decoded(JobObject(3), "jobs.yaml")));
  ASSERT_TRUE(merged) << merged.error().message;
  EXPECT_EQ(merged->jobs[0].replicas, 3u);
  EXPECT_EQ(merged->jobs[0].attempt, 0);
}

}  // namespace
}  // namespace weft::cluster
