#include "operator/cluster/worker_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "operator/cluster/placement_pods.h"
#include "operator/cluster/pod_labels.h"

namespace weft::cluster {
namespace {

api::Pod Named(const std::string& name, const std::map<std::string, std::string>& labels = {}) {
  api::Pod pod;
  pod.meta.key = {"ns", name};
  pod.meta.labels = labels;
  return pod;
}

struct Case {
  const char* name;
  std::vector<api::IndexLabel> labels;
  std::vector<api::Pod> pods;
  std::vector<std::uint32_t> taken;
  std::string want;  // "0=a 1=b", or the error
};

std::string Show(const Result<std::vector<WorkerPod>>& assigned) {
  if (!assigned) return assigned.error().message;
  std::string text;
  for (const WorkerPod& one : *assigned) {
    text +=
        (text.empty() ? "" : " ") + std::to_string(one.worker.Raw()) + "=" + one.pod->meta.key.name;
  }
  return text;
}

constexpr const char* kIndex = "batch.kubernetes.io/job-completion-index";

std::vector<Case> Cases() {
  const std::vector<api::IndexLabel> index = {{kIndex, 1}};
  const std::vector<api::IndexLabel> jobset = {{"job", 2}, {"pod", 1}};
  return {
      {"numbers in names count as numbers",
       {},
       {Named("w-10"), Named("w-2"), Named("w-0")},
       {},
       "0=w-0 1=w-2 2=w-10"},
      {"by name the free workers are given", {}, {Named("b"), Named("a")}, {1}, "0=a 2=b"},
      {"more pods than workers name the one too many",
       {},
       {Named("a"), Named("b"), Named("c"), Named("d")},
       {},
       "pod d is one too many for 3 workers: narrow podSelector"},
      {"one label is the index",
       index,
       {Named("x", {{kIndex, "2"}}), Named("y", {{kIndex, "0"}})},
       {},
       "0=y 2=x"},
      {"labels with strides add up",
       jobset,
       {Named("x", {{"job", "1"}, {"pod", "0"}}), Named("y", {{"job", "0"}, {"pod", "1"}})},
       {},
       "1=y 2=x"},
      {"a pod without the label has no worker",
       index,
       {Named("x")},
       {},
       "pod x is not one of workers 0 to 2 by its workerIndexLabels"},
      {"an index out of range has no worker",
       index,
       {Named("x", {{kIndex, "3"}})},
       {},
       "pod x is not one of workers 0 to 2 by its workerIndexLabels"},
      {"a label that is no number has no worker",
       index,
       {Named("x", {{kIndex, "one"}})},
       {},
       "pod x is not one of workers 0 to 2 by its workerIndexLabels"},
      {"two pods of one index are both named",
       index,
       {Named("x", {{kIndex, "1"}}), Named("y", {{kIndex, "1"}})},
       {},
       "pod y and pod x are both worker 1 by their workerIndexLabels"},
      {"a worker that is taken is not given again",
       index,
       {Named("x", {{kIndex, "1"}})},
       {1},
       "pod x and pod there-1 are both worker 1 by their workerIndexLabels"},
  };
}

TEST(WorkerOrderTest, PodsBecomeWorkers) {
  for (const Case& one : Cases()) {
    api::Placement placement;
    placement.workers = 3;
    placement.worker_index_labels = one.labels;
    std::vector<api::Pod> there;
    for (const std::uint32_t worker : one.taken) {
      there.push_back(Named("there-" + std::to_string(worker)));
    }
    ByWorker<const api::Pod*> taken(placement.workers, nullptr);
    std::vector<const api::Pod*> pods;
    for (std::size_t i = 0; i < there.size(); ++i) taken[WorkerIndex(one.taken[i])] = &there[i];
    for (const api::Pod& pod : one.pods) pods.push_back(&pod);
    EXPECT_EQ(Show(AssignWorkers(placement, pods, taken)), one.want) << one.name;
  }
}

// Pods of a gang of three workers.
struct GangOfThree {
  void Succeeded(const std::string& worker, const std::string& attempt = "") {
    pods.push_back(Named("done-" + worker, LabelsOf(attempt)));
    pods.back().meta.annotations.Set(kWorkerIndexLabel, worker);
    pods.back().phase = api::PodPhase::kSucceeded;
  }
  void Waits(const std::string& attempt = "") {
    waiting.push_back(Named("new-" + std::to_string(waiting.size()), LabelsOf(attempt)));
  }
  // The workers that are done: "0 2".
  std::string Done(std::size_t running = 0) const {
    const auto done = DoneWorkers(placement, 3, PointersTo(pods), PointersTo(waiting), running);
    std::string text;
    for (const WorkerIndex w : Range<WorkerIndex>(done.size())) {
      if (done[w] != nullptr) text += (text.empty() ? "" : " ") + std::to_string(w.Raw());
    }
    return text;
  }

  static std::map<std::string, std::string> LabelsOf(const std::string& attempt) {
    if (attempt.empty()) return {};
    return {{kJobSetAttempt, attempt}};
  }
  static std::vector<const api::Pod*> PointersTo(const std::vector<api::Pod>& pods) {
    std::vector<const api::Pod*> pointers;
    for (const api::Pod& pod : pods) pointers.push_back(&pod);
    return pointers;
  }

  void Remember(const std::string& job, const std::string& indexes) {
    placement.raw = std::make_shared<const nlohmann::json>(
        nlohmann::json{{"status", {{"completedJob", job}, {"completedIndexes", indexes}}}});
  }
  // A pod of the Job that waits as this worker, or runs as it.
  void WaitsAs(const std::string& job, const std::string& worker) {
    waiting.push_back(Named("new-" + worker, {{kIndex, worker}}));
    waiting.back().meta.owners = {{"batch/v1", "Job", "j", job, true}};
    waiting.back().scheduling_gates = {api::kGate};
    pods.push_back(waiting.back());
  }
  void RunsAs(const std::string& worker) {
    pods.push_back(Named("runs-" + worker));
    pods.back().meta.annotations.Set(kWorkerIndexLabel, worker);
    pods.back().phase = api::PodPhase::kRunning;
  }

  api::Placement placement;
  std::vector<api::Pod> pods, waiting;
};

TEST(DoneWorkers, AreThoseOfPodsThatHaveSucceeded) {
  GangOfThree gang;
  gang.Succeeded("0");
  gang.Succeeded("2");
  gang.Succeeded("2");  // of an earlier reservation
  gang.Succeeded("3");  // never was a worker
  gang.Succeeded("x");
  gang.pods.front().phase = api::PodPhase::kFailed;
  EXPECT_EQ(gang.Done(), "2");
  gang.Waits();
  EXPECT_EQ(gang.Done(), "2");
  EXPECT_EQ(gang.Done(1), "2");
}

TEST(DoneWorkers, AreNoneIfTheControllerGoesOn) {
  GangOfThree gang;
  gang.Succeeded("1");
  gang.Waits();
  gang.Waits();
  EXPECT_EQ(gang.Done(), "1");
  EXPECT_EQ(gang.Done(1), "");
  gang.Waits();
  EXPECT_EQ(gang.Done(), "");
}

TEST(DoneWorkers, AreOfTheAttemptOfTheJobSetThatWaits) {
  GangOfThree gang;
  gang.Succeeded("0", "0");
  gang.Succeeded("1", "1");
  EXPECT_EQ(gang.Done(), "0 1");
  gang.Waits("1");
  EXPECT_EQ(gang.Done(), "1");
}

TEST(DoneWorkers, AreRememberedOfTheJobWhosePodsWait) {
  GangOfThree gang;
  gang.placement.workers = 3;
  gang.placement.worker_index_labels = {{kIndex, 1}};
  gang.Remember("j1", "0,2");
  EXPECT_EQ(gang.Done(), "");  // of a Job that has ended nobody waits
  gang.WaitsAs("j1", "1");
  EXPECT_EQ(gang.Done(), "0 2");
  gang.WaitsAs("j1", "2");  // it is needed after all
  EXPECT_EQ(gang.Done(), "0");
  gang.WaitsAs("j1", "0");
  EXPECT_EQ(gang.Done(), "");
}

TEST(DoneWorkers, AreNotRememberedOfAnotherJobNorAgainstAPodThatRuns) {
  GangOfThree another;
  another.Remember("j1", "0-2");
  another.WaitsAs("j2", "1");
  EXPECT_EQ(another.Done(), "");
  GangOfThree runs;
  runs.Remember("j1", "0,1,7,x");
  runs.RunsAs("1");
  runs.WaitsAs("j1", "2");
  EXPECT_EQ(runs.Done(), "0");
}

TEST(CompletedOfJob, IsOnlyOfIndexedOnesWithACompletionForEachWorker) {
  nlohmann::json job = {{"metadata", {{"uid", "j1"}}},
                        {"spec", {{"completionMode", "Indexed"}, {"completions", 4}}},
                        {"status", {{"completedIndexes", "0,2-9"}}}};
  EXPECT_EQ(CompletedOf(job, 4), (Completed{"j1", "0"}));  // a range beyond the workers
  job["status"]["completedIndexes"] = "0,2,3";
  EXPECT_EQ(CompletedOf(job, 4), (Completed{"j1", "0,2,3"}));
  EXPECT_EQ(CompletedOf(job, 3), (Completed{"j1", ""}));
  job["spec"]["completionMode"] = "NonIndexed";
  EXPECT_EQ(CompletedOf(job, 4), (Completed{"j1", ""}));
  EXPECT_EQ(CompletedOf(nlohmann::json::object(), 4), Completed());
}

TEST(WorkerOrderTest, APodWaitsForUsOnlyWhenNobodyElseHoldsIt) {
  api::Pod pod;
  EXPECT_FALSE(IsGated(pod));
  pod.scheduling_gates = {api::kGate};
  EXPECT_TRUE(IsGated(pod));
  pod.scheduling_gates = {api::kGate, "kueue.x-k8s.io/admission"};
  EXPECT_FALSE(IsGated(pod));
}

TEST(HasEnded, IsTrueOfPodsThatSucceededOrFailed) {
  const auto ended = [](api::PodPhase phase) {
    api::Pod pod;
    pod.phase = phase;
    return pod.HasEnded();
  };
  EXPECT_TRUE(ended(api::PodPhase::kSucceeded));
  EXPECT_TRUE(ended(api::PodPhase::kFailed));
  EXPECT_FALSE(ended(api::PodPhase::kRunning));
  EXPECT_FALSE(ended(api::PodPhase::kPending));
}

}  // namespace
}  // namespace weft::cluster
