#include "operator/cluster/gang_members.h"

#include <gtest/gtest.h>

#include "operator/cluster/foreign_gang.h"

namespace weft::cluster {
namespace {

using Labels = std::map<std::string, std::string>;

const Labels kKubeflowLabels = {{"training.kubeflow.org/job-name", "x"},
                                {"weft.dev/place", "true"}};

struct Controller {
  const char* version;
  const char* kind;
  const char* name;
  const char* uid;
};

api::Pod Controlled(const char* name, const Controller& by, const Labels& labels,
                    const char* created = "") {
  api::Pod pod;
  pod.meta.key = {"ns", name};
  pod.meta.labels = labels;
  pod.meta.creation_timestamp = created;
  pod.meta.owners = {{by.version, by.kind, by.name, by.uid, true}};
  return pod;
}

// The Placement that the operator makes for the gang of this pod.
api::Placement MadeFor(const api::Pod& pod) {
  const ForeignGang gang = *ForeignGangOf(pod);
  api::Placement placement;
  placement.meta.uid = "placement";
  placement.meta.labels = {{kGangLabel, gang.base}};
  placement.meta.owners = {GangOwner(gang, {&pod})};
  placement.pod_selector = fabric::LabelSelector{gang.selector, {}};
  return placement;
}

constexpr Controller kPyTorch = {"kubeflow.org/v1", "PyTorchJob", "x", "p1"};
constexpr Controller kMpi = {"kubeflow.org/v2beta1", "MPIJob", "x", "m1"};
constexpr Controller kLauncher = {"batch/v1", "Job", "x-launcher", "l1"};

Labels Operated(const char* by) {
  Labels labels = kKubeflowLabels;
  labels["training.kubeflow.org/operator-name"] = by;
  return labels;
}

struct SelectsCase {
  const char* name;
  api::Pod of, other;
  bool want;
};

TEST(Selects, PodsOfTheSameObjectAlone) {
  const SelectsCase cases[] = {
      {"two workers of a PyTorchJob", Controlled("a", kPyTorch, kKubeflowLabels),
       Controlled("b", kPyTorch, kKubeflowLabels), true},
      {"an MPIJob with the labels of a PyTorchJob", Controlled("a", kPyTorch, kKubeflowLabels),
       Controlled("b", kMpi, kKubeflowLabels), false},
      {"an earlier PyTorchJob", Controlled("a", kPyTorch, kKubeflowLabels),
       Controlled("b", {"kubeflow.org/v1", "PyTorchJob", "x", "p0"}, kKubeflowLabels), false},
      {"an earlier MPIJob", Controlled("a", kMpi, Operated("mpi-operator")),
       Controlled("b", {"kubeflow.org/v1", "MPIJob", "x", "m0"}, Operated("mpi-operator")), false},
      {"the launcher of an MPIJob", Controlled("a", kMpi, Operated("mpi-operator")),
       Controlled("b", kLauncher, Operated("mpi-operator")), true},
  };
  for (const SelectsCase& one : cases) {
    EXPECT_EQ(Selects(MadeFor(one.of), one.other), one.want) << one.name;
    EXPECT_TRUE(Selects(MadeFor(one.of), one.of)) << one.name;
  }
}

TEST(Selects, APodThatWasHandedOverStays) {
  const api::Placement placement = MadeFor(Controlled("a", kPyTorch, kKubeflowLabels));
  api::Pod other = Controlled("b", kMpi, kKubeflowLabels);
  other.meta.annotations = {{kPlacementUidAnnotation, "placement"}};
  EXPECT_TRUE(Selects(placement, other));
}

TEST(Selects, APlacementByHandGoesByLabels) {
  api::Placement placement = MadeFor(Controlled("a", kPyTorch, kKubeflowLabels));
  placement.meta.labels = {};
  EXPECT_TRUE(Selects(placement, Controlled("b", kMpi, kKubeflowLabels)));
  EXPECT_FALSE(Selects(placement, Controlled("b", kMpi, {})));
  placement.pod_selector.reset();
  EXPECT_FALSE(Selects(placement, Controlled("b", kMpi, kKubeflowLabels)));
}

// The names of the pods that stay.
std::string Present(const std::vector<api::Pod>& all) {
  api::Placement placement;
  placement.meta.uid = "placement";
  std::vector<const api::Pod*> pods;
  for (const api::Pod& pod : all) pods.push_back(&pod);
  KeepPresent(placement, pods, [](const api::Pod* pod) -> const api::Pod& { return *pod; });
  std::string names;
  for (const api::Pod* pod : pods) names += pod->meta.key.name + " ";
  return names;
}

TEST(KeepPresent, TheControllerOfThePodThatWasCreatedLastIsPresent) {
  const Controller before = {"batch/v1", "Job", "j", "u0"}, now = {"batch/v1", "Job", "j", "u1"};
  std::vector<api::Pod> pods = {Controlled("old", before, {}, "2026-01-01T00:00:00Z"),
                                Controlled("a", now, {}, "2026-01-01T00:00:05Z"),
                                Controlled("b", now, {}, "2026-01-01T00:00:04Z")};
  EXPECT_EQ(Present(pods), "a b ");
  pods[0].meta.annotations = {{kPlacementUidAnnotation, "placement"}};
  EXPECT_EQ(Present(pods), "old a b ");
  const Controller volcano = {"batch.volcano.sh/v1alpha1", "Job", "j", "u0"};
  pods[0] = Controlled("volcano", volcano, {}, "2026-01-01T00:00:00Z");
  EXPECT_EQ(Present(pods), "volcano a b ");
}

TEST(KeepPresent, APodThatEndsIsEarlierThanOneThatDoesNot) {
  std::vector<api::Pod> pods = {Controlled("old", {"batch/v1", "Job", "j", "u0"}, {}),
                                Controlled("new", {"batch/v1", "Job", "j", "u1"}, {})};
  EXPECT_EQ(Present(pods), "old new ");  // nothing tells which is the earlier one
  pods[0].meta.deleting = true;
  EXPECT_EQ(Present(pods), "new ");
  pods[1].meta.deleting = true;
  EXPECT_EQ(Present(pods), "old new ");
}

TEST(KeepPresent, AWorkerThatIsOlderThanItsLeaderIsOfAnEarlierGroup) {
  const auto of = [](const char* name, const char* index, const char* created) {
    const bool leads = *index == '0';
    return Controlled(name, {"apps/v1", "StatefulSet", leads ? "lws" : "lws-0", "s"},
                      {{"leaderworkerset.sigs.k8s.io/name", "lws"},
                       {"leaderworkerset.sigs.k8s.io/group-index", "0"},
                       {"leaderworkerset.sigs.k8s.io/worker-index", index}},
                      created);
  };
  EXPECT_EQ(
      Present({of("lws-0", "0", "2026-01-01T00:01:00Z"), of("lws-0-1", "1", "2026-01-01T00:00:00Z"),
               of("lws-0-2", "2", "2026-01-01T00:01:00Z")}),
      "lws-0 lws-0-2 ");
  EXPECT_EQ(Present({of("lws-0-1", "1", "2026-01-01T00:00:00Z"),
                     of("lws-0-2", "2", "2026-01-01T00:01:00Z")}),
            "lws-0-1 lws-0-2 ");  // the leader is not among them
}

}  // namespace
}  // namespace weft::cluster
