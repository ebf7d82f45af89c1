#include "operator/launch/compute_domain.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "operator/launch/objects.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

api::TrainingJob JobWith(const char* topology) {
  Json object = Json::parse(R"json({
    "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
    "metadata": {"name": "llama", "namespace": "team-a", "uid": "u1"},
    "spec": {"accelerator": {"perWorker": 4}, "framework": {"type": "Custom"},
             "workers": {"replicas": 3, "template": {"spec": {"containers": [
               {"name": "log", "image": "i"},
               {"name": "trainer", "image": "i",
                "resources": {"limits": {"nvidia.com/gpu": 4}}}]}}}}})json");
  object["spec"]["topology"] = Json::parse(topology);
  auto job = api::DecodeTrainingJob(object, "test");
  EXPECT_TRUE(job) << job.error().message;
  return *std::move(job);
}

// Three workers; `of_worker`: the NVLink domain of each.
Gang GangOf(const api::TrainingJob& job, std::vector<std::string> nodes,
            ByWorker<std::uint32_t> of_worker, bool scale_up = true) {
  Gang gang;
  gang.job = &job;
  gang.attempt = 2;
  gang.placement_uid = "p2";
  gang.nodes = ByWorker<std::string>(std::move(nodes));
  gang.levels = {{"leaf", {"l"}, {0, 0, 0}, false},
                 {"nvlink", {"c0", "c1", "c2"}, std::move(of_worker), scale_up}};
  return gang;
}

TEST(ComputeDomainTest, IsNeededWhereNodesShareAnNVLinkDomain) {
  const api::TrainingJob asks = JobWith(R"({"computeDomain": "Auto"})"), asks_not = JobWith("{}");
  EXPECT_TRUE(asks.pod.claims_compute_domain);  // the solver counts on the network
  EXPECT_TRUE(NeedsComputeDomain(GangOf(asks, {"a", "b", "c"}, {0, 1, 0})));
  EXPECT_FALSE(NeedsComputeDomain(GangOf(asks, {"a", "b", "c"}, {0, 1, 2})));
  EXPECT_FALSE(NeedsComputeDomain(GangOf(asks, {"a", "a", "c"}, {0, 0, 1})));
  EXPECT_FALSE(NeedsComputeDomain(GangOf(asks, {"a", "b", "c"}, {0, 0, 0}, false)));
  EXPECT_FALSE(NeedsComputeDomain(GangOf(asks_not, {"a", "b", "c"}, {0, 0, 0})));
}

TEST(ComputeDomainTest, IsOfTheAttemptsPlacementAndCountsNodes) {
  const api::TrainingJob job = JobWith(R"({"computeDomain": "Auto"})");
  const Json made = MakeComputeDomain(GangOf(job, {"a", "b", "b"}, {0, 0, 0}));
  EXPECT_EQ(made, Json::parse(R"({
    "apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain",
    "metadata": {"name": "llama-2-weft", "namespace": "team-a",
                 "labels": {"weft.dev/job-name": "llama", "weft.dev/job-uid": "u1"}},
    "spec": {"numNodes": 2, "channel": {"allocationMode": "Single",
                                        "resourceClaimTemplate": {"name": "llama-2-weft"}}}})"));
}

TEST(ComputeDomainTest, ThePodsClaimAChannelForTheContainersWithAccelerators) {
  const api::TrainingJob job = JobWith(R"({"computeDomain": "Auto"})");
  const Json spec = MakePod(GangOf(job, {"a", "b", "c"}, {0, 0, 1}), WorkerIndex{2})["spec"];
  EXPECT_EQ(spec["resourceClaims"], Json::parse(R"([{"name": "compute-domain-channel",
    "resourceClaimTemplateName": "llama-2-weft"}])"));
  EXPECT_FALSE(spec["containers"][0].contains("resources"));
  EXPECT_EQ(spec["containers"][1]["resources"], Json::parse(R"({"limits": {"nvidia.com/gpu": 4},
                            "claims": [{"name": "compute-domain-channel"}]})"));
  const Json alone = MakePod(GangOf(job, {"a", "b", "c"}, {0, 1, 2}), WorkerIndex{2})["spec"];
  EXPECT_FALSE(alone.contains("resourceClaims"));
}

}  // namespace
}  // namespace weft::launch
