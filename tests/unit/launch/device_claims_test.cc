#include "operator/launch/device_claims.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "operator/launch/objects.h"
#include "operator/launch/workload.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

// Two workers with 4 devices each.
api::TrainingJob JobWith(const char* containers) {
  Json object = Json::parse(R"json({
    "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
    "metadata": {"name": "llama", "namespace": "team-a", "uid": "u1"},
    "spec": {"accelerator": {"deviceClassName": "gpu.nvidia.com", "perWorker": 4},
             "framework": {"type": "Custom"},
             "workers": {"replicas": 2, "template": {"spec": {}}}}})json");
  object["spec"]["workers"]["template"]["spec"]["containers"] = Json::parse(containers);
  auto job = api::DecodeTrainingJob(object, "test");
  EXPECT_TRUE(job) << job.error().message;
  return *std::move(job);
}

Gang GangOf(const api::TrainingJob& job) {
  Gang gang;
  gang.job = &job;
  gang.attempt = 2;
  gang.placement_uid = "p2";
  gang.nodes = ByWorker<std::string>({"a", "b"});
  return gang;
}

constexpr const char* kTwo =
    R"([{"name": "trainer", "image": "i"}, {"name": "log", "image": "i"}])";
constexpr const char* kNamed = R"([
    {"name": "log", "image": "i"},
    {"name": "trainer", "image": "i", "resources": {"claims": [{"name": "accelerators"}]}}])";

TEST(DeviceClaimsTest, EveryAttemptHasATemplateOfItsOwn) {
  const api::TrainingJob job = JobWith(kTwo);
  const Json made = MakeClaimTemplate(GangOf(job));
  EXPECT_EQ(made.at("metadata").at("name"), "llama-2-weft-devices");
  EXPECT_EQ(made.at("metadata").at("ownerReferences").at(0).at("uid"), "p2");
  EXPECT_EQ(made.at("spec"), Json::parse(R"({"spec": {"devices": {"requests": [
      {"name": "accelerators", "exactly": {"deviceClassName": "gpu.nvidia.com",
                                           "allocationMode": "ExactCount", "count": 4}}]}}})"));
}

TEST(DeviceClaimsTest, TheFirstContainerHasThemUnlessOneNamesTheClaim) {
  const Json claim = Json::parse(R"([{"name": "accelerators"}])");
  struct Case {
    const char* containers;
    std::size_t has;
  };
  for (const Case& c : {Case{kTwo, 0}, {kNamed, 1}}) {
    const api::TrainingJob job = JobWith(c.containers);
    const Json spec = MakePod(GangOf(job), WorkerIndex{1}).at("spec");
    EXPECT_EQ(spec.at("resourceClaims"), Json::parse(R"([{"name": "accelerators",
                               "resourceClaimTemplateName": "llama-2-weft-devices"}])"));
    const Json& containers = spec.at("containers");
    EXPECT_EQ(containers.at(c.has).at("resources").at("claims"), claim);
    EXPECT_FALSE(containers.at(1 - c.has).contains("resources"));
  }
}

TEST(DeviceClaimsTest, AJobWithAResourceHasNone) {
  api::TrainingJob job = JobWith(kTwo);
  job.accelerator = {.per_worker = 4};
  EXPECT_FALSE(MakePod(GangOf(job), WorkerIndex{0}).at("spec").contains("resourceClaims"));
}

TEST(DeviceClaimsTest, KueueCountsTheResourceOfTheClass) {
  const api::TrainingJob job = JobWith(kNamed);
  const Json tried = MakePod(GangOf(job), WorkerIndex{0});
  const Json workload = MakeWorkload(job, tried, "a", {});
  const Json& spec = workload.at("spec").at("podSets").at(0).at("template").at("spec");
  EXPECT_FALSE(spec.contains("resourceClaims"));
  EXPECT_EQ(spec.at("containers").at(1).at("resources"), Json::parse(R"({
      "limits": {"deviceclass.resource.kubernetes.io/gpu.nvidia.com": "4"},
      "requests": {"deviceclass.resource.kubernetes.io/gpu.nvidia.com": "4"}})"));
}

}  // namespace
}  // namespace weft::launch
