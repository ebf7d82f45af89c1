#include "operator/report/half_gangs.h"

#include <gtest/gtest.h>

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
  for (const cluster::Note& note : HalfGangs(inputs, space)) texts.push_back(note.text);
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
  for (api::Pod& pod : job) pod.meta.labels = {};  // of Volcano
  EXPECT_EQ(Texts(job).size(), 1U);
}

TEST(HalfGangs, AnotherSchedulersGateIsWhyAWorkerWaits) {
  std::vector<api::Pod> pods = {Worker("a", 0, "n0"), Worker("a", 1, "")};
  pods[1].scheduling_gates = {"kueue.x-k8s.io/topology"};
  EXPECT_EQ(Texts(pods), std::vector<std::string>{
                             "MPIJob team/a holds 8 accelerators with 1 of 2 workers; a-1 has no "
                             "node: scheduling gate kueue.x-k8s.io/topology"});
}

}  // namespace
}  // namespace weft::report
