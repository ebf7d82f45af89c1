#include "operator/controllers/gang_files.h"

#include <algorithm>

#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

class GangFilesTest : public ::testing::Test {
 protected:
  GangFilesTest() {
    Json job = JobObject("MPI"), placement = Json::parse(R"({
        "metadata": {"name": "llama-1", "namespace": "ns", "uid": "p1",
                     "labels": {"weft.dev/attempt": "1"}},
        "spec": {"workers": 3, "accelerator": {"perWorker": 8}},
        "status": {"nodes": ["n0", "n1", "n2"]}})");
    job["metadata"]["uid"] = "u1";
    job_ = *api::DecodeTrainingJob(job, "test");
    placement_ = *api::DecodePlacement(placement, "test");
  }
  Result<launch::Gang> Of(const std::string& image = "") {
    watch::FabricCache cache;
    return GangFiles(store_, cache, api_, groups_, image).Of(job_, placement_);
  }

  UnixSeconds now_ = kStart;
  watch::Store store_{[this] { return now_; }};
  FakeApi api_{[this] { return now_; }};
  Events events_;
  PodGroups groups_{store_, api_, events_, {.now = [this] { return now_; }}};
  api::TrainingJob job_;
  api::Placement placement_;
};

TEST_F(GangFilesTest, ARestartedOperatorTellsWhatTheFirstOneTold) {
  const auto first = Of(), second = Of();
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->nodes, first->nodes);
  EXPECT_EQ(api_.counts,
            (std::map<std::string, int>{{"create ConfigMap", 1}, {"create Secret", 1}}));
}

TEST_F(GangFilesTest, AConfigMapOfAnotherPlacementIsNotMounted) {
  ASSERT_TRUE(Of());
  placement_.meta.uid = "p2";
  const auto gang = Of();
  ASSERT_FALSE(gang);
  EXPECT_NE(gang.error().message.find("already exists with another owner"), std::string::npos);
}

// Such as a quota that stays busy: without its Secret the gang could not start.
TEST_F(GangFilesTest, ASecretThatWasNotMadeIsNotTakenForOneThatExists) {
  api_.webhook_down = {Kind::kSecret};
  const auto gang = Of();
  ASSERT_FALSE(gang);
  EXPECT_EQ(gang.error().kind, ErrorKind::kTransient);
  api_.webhook_down.clear();
  ASSERT_TRUE(Of());
  EXPECT_EQ(api_.counts["create Secret"], 1);
}

TEST_F(GangFilesTest, ReportsARefusedSecretAsInvalid) {
  api_.refuse = [](Kind kind, const Json&) -> std::optional<std::string> {
    if (kind == Kind::kSecret) return "secrets is forbidden";
    return std::nullopt;
  };
  const auto gang = Of();
  ASSERT_FALSE(gang);
  EXPECT_EQ(gang.error().kind, ErrorKind::kInvalid);
}

TEST_F(GangFilesTest, AClassOfDevicesHasATemplateForTheAttempt) {
  job_.accelerator = {.per_worker = 8, .device_class = "gpu.nvidia.com"};
  ASSERT_TRUE(Of());
  ASSERT_TRUE(Of());
  EXPECT_EQ(api_.counts["create ResourceClaimTemplate"], 1);
  placement_.meta.uid = "p2";
  placement_.meta.labels.Set("weft.dev/attempt", "2");
  api_.refuse = [](Kind kind, const Json&) -> std::optional<std::string> {
    if (kind == Kind::kClaimTemplate) return "resourceclaimtemplates is forbidden";
    return std::nullopt;
  };
  const auto gang = Of();
  ASSERT_FALSE(gang);
  EXPECT_EQ(gang.error().kind, ErrorKind::kInvalid);
}

// Three nodes of one NVLink domain, and a job that asks for ComputeDomains.
class ComputeDomainTest : public GangFilesTest {
 protected:
  ComputeDomainTest() {
    for (const char* name : {"n0", "n1", "n2"}) {
      api::Node node;
      node.meta.key.name = node.facts.name = name;
      node.facts.labels = {{"nvidia.com/gpu.clique", "c"}};
      node.facts.allocatable = {{"nvidia.com/gpu", 8}};
      store_.Put(std::move(node));
    }
    store_.Put(*api::DecodeFabric(Json::parse(R"({
        "metadata": {"name": "default"},
        "spec": {"levels": [], "scaleUp": {"name": "nvlink", "labelKey": "nvidia.com/gpu.clique",
                                           "link": {"type": "NVLink5"}}}})"),
                                  "test"));
    placement_.fabric_name = "default";
    job_.topology.compute_domain = job_.pod.claims_compute_domain = true;
  }
};

TEST_F(ComputeDomainTest, IsMadeOnce) {
  ASSERT_TRUE(Of());
  ASSERT_TRUE(Of());
  EXPECT_EQ(api_.counts["create ComputeDomain"], 1);
}

TEST_F(ComputeDomainTest, IsDeletedWithItsAttemptAlone) {
  ASSERT_TRUE(Of());
  watch::FabricCache cache;
  GangFiles files(store_, cache, api_, groups_, "");
  job_.attempt = 2;
  ASSERT_TRUE(files.Delete(job_, nullptr));
  EXPECT_EQ(api_.CountOf(Kind::kComputeDomain), 1U);  // it is of attempt 1
  job_.attempt = 1;
  ASSERT_TRUE(files.Delete(job_, nullptr));
  EXPECT_EQ(api_.CountOf(Kind::kComputeDomain), 0U);
  EXPECT_EQ(api_.deletes[Kind::kSecret], 0);  // it goes with its Placement
  ASSERT_TRUE(files.Delete(job_, nullptr));
}

// Nothing else would delete it.
TEST_F(ComputeDomainTest, OfAJobThatCannotBeReadAnyMoreIsDeletedToo) {
  ASSERT_TRUE(Of());
  api::TrainingJob broken;
  broken.meta = job_.meta;
  broken.attempt = 1;
  broken.unreadable = "spec: must be an object";
  watch::FabricCache cache;
  ASSERT_TRUE(GangFiles(store_, cache, api_, groups_, "").Delete(broken, nullptr));
  EXPECT_EQ(api_.CountOf(Kind::kComputeDomain), 0U);
}

TEST_F(ComputeDomainTest, OfAnotherJobIsNotUsedNorDeleted) {
  ASSERT_TRUE(Of());
  job_.meta.uid = "u2";
  job_.attempt = 1;
  watch::FabricCache cache;
  ASSERT_TRUE(GangFiles(store_, cache, api_, groups_, "").Delete(job_, nullptr));
  EXPECT_EQ(api_.CountOf(Kind::kComputeDomain), 1U);
}

// The key of a job that has finished is of no use any more. Secrets are not read.
TEST_F(ComputeDomainTest, GoesAtTheEndOfAJobWithItsSecret) {
  job_.framework.type = api::FrameworkType::kMPI;
  ASSERT_TRUE(Of());
  job_.attempt = 1;
  watch::FabricCache cache;
  ASSERT_TRUE(GangFiles(store_, cache, api_, groups_, "").Delete(job_, &placement_));
  EXPECT_EQ(api_.CountOf(Kind::kComputeDomain), 0U);
  EXPECT_EQ(api_.deletes[Kind::kSecret], 1);
  EXPECT_EQ(api_.deletes[Kind::kConfigMap], 0);
}

TEST_F(ComputeDomainTest, IsNotMadeForOneNode) {
  placement_.nodes = {"n0", "n0", "n0"};
  ASSERT_TRUE(Of());
  EXPECT_EQ(api_.CountOf(Kind::kComputeDomain), 0U);
}

// The class of a claim says whether the pods reach each other by NVLink, not its names.
class OwnClaimTest : public ComputeDomainTest {
 protected:
  // Whether they do, by a template of that name and class. `guessed`: by the names.
  bool Reaches(const char* name, const char* device_class, bool guessed) {
    api::ClaimTemplate one;
    one.meta.key = {"ns", name};
    one.requests.push_back({device_class, 1, false});
    store_.Put(one);
    job_.topology.compute_domain = false;
    job_.pod.claims_compute_domain = guessed;
    job_.claims = {{"", name, "", guessed}};
    const auto gang = Of();
    EXPECT_TRUE(gang);
    return gang && std::any_of(gang->levels.begin(), gang->levels.end(),
                               [](const auto& level) { return level.scale_up; });
  }
};

TEST_F(OwnClaimTest, OfAChannel) { EXPECT_TRUE(Reaches("my-claim", api::kChannelClass, false)); }

TEST_F(OwnClaimTest, OfAGpu) { EXPECT_FALSE(Reaches("channel-foo", "gpu.nvidia.com", true)); }

TEST_F(ComputeDomainTest, OfAClusterWithoutTheKindSaysWhatToDo) {
  api_.not_installed = {Kind::kComputeDomain};
  const auto gang = Of();
  ASSERT_FALSE(gang);
  EXPECT_EQ(gang.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(gang.error().message.find("install NVIDIA's DRA driver, or remove computeDomain"),
            std::string::npos);
}

}  // namespace
}  // namespace weft::controllers
