#include "operator/cluster/placement_pods.h"

#include <gtest/gtest.h>

#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

using Labels = std::map<std::string, std::string>;

struct IndexCase {
  const char* name;
  std::vector<api::IndexLabel> by;
  Labels labels, annotations;
  std::optional<std::uint32_t> want;  // of 4 workers
};

TEST(WorkerIndexOf, IsWhatTheLabelsAddUpTo) {
  const std::vector<api::IndexLabel> two = {{"job", 2}, {"pod", 1}};
  const IndexCase cases[] = {
      {"no label", {}, {}, {}, std::nullopt},
      {"the label of a TrainingJob's pod", {}, {{"weft.dev/worker-index", "3"}}, {}, 3},
      {"the first that there is not", {}, {{"weft.dev/worker-index", "4"}}, {}, std::nullopt},
      {"an annotation", {}, {}, {{"weft.dev/worker-index", "2"}}, 2},
      {"a label before an annotation",
       {},
       {{"weft.dev/worker-index", "1"}},
       {{"weft.dev/worker-index", "2"}},
       1},
      {"a negative number", {}, {{"weft.dev/worker-index", "-1"}}, {}, std::nullopt},
      {"no number", {}, {{"weft.dev/worker-index", ""}}, {}, std::nullopt},
      {"a number and more", {}, {{"weft.dev/worker-index", "1a"}}, {}, std::nullopt},
      {"two labels with strides", two, {{"job", "1"}, {"pod", "1"}}, {}, 3},
      {"one of two labels", two, {{"job", "1"}}, {}, std::nullopt},
      {"named labels instead of the usual one",
       two,
       {{"weft.dev/worker-index", "1"}},
       {},
       std::nullopt},
      {"a sum past 64 bits", two, {{"job", "9223372036854775807"}, {"pod", "3"}}, {}, std::nullopt},
  };
  for (const IndexCase& one : cases) {
    api::Placement placement;
    placement.workers = 4;
    placement.worker_index_labels = one.by;
    api::Pod pod;
    pod.meta.labels = one.labels;
    pod.meta.annotations = one.annotations;
    const auto worker = WorkerIndexOf(placement, pod);
    EXPECT_EQ(worker ? std::optional(worker->Raw()) : std::nullopt, one.want) << one.name;
  }
}

TEST(HasCondition, IsTrueOfThatTypeWithThatStatus) {
  const std::vector<api::Condition> conditions = {{"Failed", "False", "", "", ""},
                                                  {"Placed", "True", "", "", ""}};
  EXPECT_TRUE(HasCondition(conditions, "Placed"));
  EXPECT_FALSE(HasCondition(conditions, "Failed"));
  EXPECT_FALSE(HasCondition(conditions, "Complete"));
  api::TrainingJob job;
  job.conditions = conditions;
  EXPECT_FALSE(IsFinished(job));
  job.conditions[0].status = "True";
  EXPECT_TRUE(IsFinished(job));
  job.conditions[0].type = "Complete";
  EXPECT_TRUE(IsFinished(job));
}

// "j 2": job and number; "j (absent)" where the job is not here.
std::string AttemptText(const testing::Scene& scene, const char* name) {
  for (const api::Placement& placement : scene.inputs.placements) {
    if (placement.meta.key.name != name) continue;
    const Attempt attempt = PlacementPods(scene.inputs).AttemptOf(placement);
    return attempt.job_name + (attempt.job == nullptr ? " (absent)" : "") +
           (attempt.number ? " " + std::to_string(*attempt.number) : "");
  }
  return "no such Placement";
}

TEST(AttemptOf, IsByOwnerOrByNameOfAFile) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("j", 1);
  scene.Placement("j-2", 1, {"n0"});
  scene.Placement("k-2", 1, {"n0"});
  scene.Placement("j-x", 1, {"n0"});
  scene.Placement("j-3", 1);
  scene.Placement("j-4", 1, {"n0"}).pod_selector = fabric::LabelSelector{};
  scene.Placement("j-5", 1, {"n0"}).meta.uid = "stored";
  scene.Placement("odd-7", 1).meta.labels = {{"weft.dev/job-name", "j"}};
  scene.Placement("odd-8", 1).meta.labels = {{"weft.dev/job-name", "j"}, {"weft.dev/attempt", "6"}};
  scene.Placement("odd-9", 1).meta.labels = {{"weft.dev/job-name", "gone"}};
  EXPECT_EQ(AttemptText(scene, "j-2"), "j 2");
  EXPECT_EQ(AttemptText(scene, "k-2"), " (absent)");
  EXPECT_EQ(AttemptText(scene, "j-x"), " (absent)");
  EXPECT_EQ(AttemptText(scene, "j-3"), " (absent)");
  EXPECT_EQ(AttemptText(scene, "j-4"), " (absent)");
  EXPECT_EQ(AttemptText(scene, "j-5"), " (absent)");
  EXPECT_EQ(AttemptText(scene, "odd-7"), "j 7");
  EXPECT_EQ(AttemptText(scene, "odd-8"), "j 6");
  EXPECT_EQ(AttemptText(scene, "odd-9"), "gone (absent) 9");
}

TEST(CurrentPlacement, IsThatOfTheAttemptOrTheNextWithNodes) {
  const auto current = [](std::int64_t attempt) -> std::string {
    testing::Scene scene(testing::FourNodes());
    scene.Job("j", 1).attempt = attempt;
    scene.Placement("j-1", 1, {"n0"});
    scene.Placement("j-2", 1, {"n1"}).meta.labels = {{"weft.dev/job-name", "j"}};
    scene.Placement("j-3", 1).meta.labels = {{"weft.dev/job-name", "j"}};
    scene.Placement("j-4", 1, {"n2"}).meta.deleting = true;
    scene.Placement("j-5", 1, {"n3"});
    const api::Placement* found =
        PlacementPods(scene.inputs).CurrentPlacement(scene.inputs.jobs[0]);
    return found == nullptr ? "none" : found->meta.key.name;
  };
  EXPECT_EQ(current(0), "j-1");
  EXPECT_EQ(current(1), "j-1");
  EXPECT_EQ(current(2), "j-2");
  EXPECT_EQ(current(3), "j-5");
  EXPECT_EQ(current(6), "none");
}

TEST(PodsOf, AreThoseOfTheAttemptOrOfTheSelector) {
  testing::Scene scene(testing::FourNodes());
  scene.Job("j", 1);
  const api::Placement attempt = scene.Placement("j-2", 1, {"n0"});
  api::Placement& selecting = scene.Placement("p", 1);
  selecting.pod_selector = fabric::LabelSelector{{{"a", "b"}}, {}};
  const api::Placement selector = selecting;
  const api::Placement alone = scene.Placement("q", 1);
  scene.Pod("0", "", {{"weft.dev/job-name", "j"}, {"weft.dev/attempt", "2"}});
  scene.Pod("1", "", {{"weft.dev/job-name", "j"}, {"weft.dev/attempt", "1"}});
  scene.Pod("2", "", {{"weft.dev/job-name", "j"}, {"a", "b"}});
  scene.Pod("3", "", {{"weft.dev/job-name", "k"}, {"weft.dev/attempt", "2"}});
  scene.Pod("4", "", {{"a", "b"}}).meta.key.space = "other";
  const PlacementPods pods(scene.inputs);
  using Indices = std::vector<std::size_t>;
  EXPECT_EQ(pods.PodsOf(attempt), (Indices{0, 2}));
  EXPECT_EQ(pods.PodsOf(selector), (Indices{2}));
  EXPECT_EQ(pods.PodsOf(alone), (Indices{}));
  EXPECT_EQ(pods.PodsOfJob({"ns", "j"}, "any"), (Indices{0, 1, 2}));
  EXPECT_EQ(pods.PodsOfJob({"ns", "nobody"}, ""), (Indices{}));
}

// A selector is looked up by its rarest label; the others, and expressions, must hold too.
TEST(PodsOf, AllLabelsOfASelectorMustMatch) {
  testing::Scene scene(testing::FourNodes());
  const auto select = [&](const char* name, fabric::LabelSelector selector) {
    api::Placement& placement = scene.Placement(name, 1);
    placement.pod_selector = std::move(selector);
    return placement;
  };
  const auto both = select("both", {{{"job", "x"}, {"place", "true"}}, {}});
  const auto absent = select("absent", {{{"job", "z"}, {"place", "true"}}, {}});
  const auto any = select("any", {{}, {{"job", "Exists", {}}}});
  const auto but = select("but", {{{"place", "true"}}, {{"job", "NotIn", {"x"}}}});
  scene.Pod("0", "", {{"job", "x"}, {"place", "true"}});
  scene.Pod("1", "", {{"job", "x"}});
  scene.Pod("2", "", {{"job", "y"}, {"place", "true"}});
  scene.Pod("3", "", {{"place", "true"}});
  const PlacementPods pods(scene.inputs);
  using Indices = std::vector<std::size_t>;
  EXPECT_EQ(pods.PodsOf(both), (Indices{0}));
  EXPECT_EQ(pods.PodsOf(absent), (Indices{}));
  EXPECT_EQ(pods.PodsOf(any), (Indices{0, 1, 2}));
  EXPECT_EQ(pods.PodsOf(but), (Indices{2, 3}));
}

}  // namespace
}  // namespace weft::cluster
