#include "operator/cluster/channel_claims.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/decode.h"
#include "operator/cluster/build_cluster.h"
#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

using Json = nlohmann::json;

constexpr const char* kChannel = "compute-domain-default-channel.nvidia.com";
constexpr const char* kGpuClass = "gpu.nvidia.com";

Json Object(const char* api_version, const char* kind, const std::string& name,
            const std::string& space = "team-a") {
  Json object;
  object["apiVersion"] = api_version;
  object["kind"] = kind;
  object["metadata"]["name"] = name;
  object["metadata"]["namespace"] = space;
  return object;
}

Json Requests(const std::string& device_class) {
  Json requests = Json::parse(R"([{"name": "r"}])");
  requests[0]["exactly"]["deviceClassName"] = device_class;
  return requests;
}

Json WithAdminAccess(Json requests) {
  requests[0]["exactly"]["adminAccess"] = true;
  return requests;
}

Json FirstAvailable(const char* first, const char* second) {
  Json requests =
      Json::parse(R"([{"name": "r", "firstAvailable": [{"name": "a"}, {"name": "b"}]}])");
  requests[0]["firstAvailable"][0]["deviceClassName"] = first;
  requests[0]["firstAvailable"][1]["deviceClassName"] = second;
  return requests;
}

Json Template(const std::string& name, Json requests, const std::string& space = "team-a") {
  Json made = Object("resource.k8s.io/v1", "ResourceClaimTemplate", name, space);
  made["spec"]["spec"]["devices"]["requests"] = std::move(requests);
  return made;
}

Json Claim(const std::string& name, Json requests) {
  Json claim = Object("resource.k8s.io/v1", "ResourceClaim", name);
  claim["spec"]["devices"]["requests"] = std::move(requests);
  return claim;
}

// With one device.
Json Allocated(Json claim, const std::string& driver, const std::string& device) {
  Json result = Json::parse(R"({"request": "r", "pool": "n0"})");
  result["driver"] = driver;
  result["device"] = device;
  claim["status"]["allocation"]["devices"]["results"] = Json::array();
  claim["status"]["allocation"]["devices"]["results"].push_back(std::move(result));
  return claim;
}

Json Class(const std::string& name, const std::string& expression) {
  Json one = Object("resource.k8s.io/v1", "DeviceClass", name);
  one["spec"] = Json::parse(R"({"selectors": [{"cel": {}}]})");
  one["spec"]["selectors"][0]["cel"]["expression"] = expression;
  return one;
}

Json Domain(const std::string& template_name) {
  Json domain = Object("resource.nvidia.com/v1beta1", "ComputeDomain", "cd");
  domain["spec"]["channel"]["resourceClaimTemplate"]["name"] = template_name;
  return domain;
}

Json ByTemplate(const std::string& name, const std::string& entry = "c") {
  Json claim;
  claim["name"] = entry;
  claim["resourceClaimTemplateName"] = name;
  return claim;
}
Json ByName(const std::string& name) {
  Json claim;
  claim["name"] = "c";
  claim["resourceClaimName"] = name;
  return claim;
}

Json PodWith(const Json& claim) {
  Json pod = Object("v1", "Pod", "p");
  pod["spec"] = Json::parse(R"({"containers": [{"name": "c"}], "resourceClaims": []})");
  pod["spec"]["resourceClaims"].push_back(claim);
  return pod;
}

Json JobWith(const Json& claim) {
  Json job = Object("weft.dev/v1alpha1", "TrainingJob", "train");
  job["spec"] = Json::parse(R"({
      "framework": {"type": "Torch"},
      "accelerator": {"resourceName": "nvidia.com/gpu", "perWorker": 1},
      "workers": {"replicas": 4, "template": {"spec": {
          "containers": [{"name": "t", "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
          "resourceClaims": []}}}})");
  job["spec"]["workers"]["template"]["spec"]["resourceClaims"].push_back(claim);
  return job;
}

api::Inputs Read(const std::vector<Json>& objects) {
  api::Inputs inputs;
  for (const Json& object : objects) {
    const Status read = api::DecodeInto(object, "f", inputs);
    EXPECT_TRUE(read) << read.error().message;
  }
  return inputs;
}

struct Case {
  const char* name;
  Json claim;  // of the pod, and of the job's template
  std::vector<Json> objects;
  bool want;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

class ChannelClaimsTest : public ::testing::TestWithParam<Case> {};

TEST_P(ChannelClaimsTest, TheDeviceClassDecides) {
  std::vector<Json> objects = GetParam().objects;
  objects.push_back(PodWith(GetParam().claim));
  objects.push_back(JobWith(GetParam().claim));
  api::Inputs inputs = Read(objects);
  for (int times = 0; times < 2; ++times) {
    ResolveChannelClaims(inputs);
    EXPECT_EQ(inputs.pods[0].pod.claims_compute_domain, GetParam().want);
    EXPECT_EQ(inputs.jobs[0].pod.claims_compute_domain, GetParam().want);
  }
}

const Case kCases[] = {
    {"ATemplateOfAnyName",
     ByTemplate("my-claim"),
     {Template("my-claim", Requests(kChannel))},
     true},
    {"AGpuWithTheWordInItsName",
     ByTemplate("channel-foo", "compute-domain-channel"),
     {Template("channel-foo", Requests(kGpuClass))},
     false},
    {"AClaimByName", ByName("shared"), {Claim("shared", Requests(kChannel))}, true},
    {"AGpuByName", ByName("imex-7"), {Claim("imex-7", Requests(kGpuClass))}, false},
    {"AnAlternative",
     ByTemplate("either"),
     {Template("either", FirstAvailable(kGpuClass, kChannel))},
     true},
    {"NoAlternative",
     ByTemplate("channel"),
     {Template("channel", FirstAvailable(kGpuClass, "mig.nvidia.com"))},
     false},
    {"TheDeviceThatItHas",
     ByName("c"),
     {Allocated(Claim("c", FirstAvailable(kGpuClass, kChannel)), kGpuClass, "gpu-0")},
     false},
    {"TheChannelThatItHas",
     ByName("c"),
     {Allocated(Claim("c", Requests("own")), "compute-domain.nvidia.com", "channel-0")},
     true},
    {"TheDaemonThatItHas",
     ByName("compute-domain-daemon"),
     {Allocated(Claim("compute-domain-daemon", Requests("own")), "compute-domain.nvidia.com",
                "daemon-0")},
     false},
    {"AnotherClassOfTheDriver",
     ByTemplate("my-claim"),
     {Template("my-claim", Requests("own")),
      Class("own",
            "device.driver == 'compute-domain.nvidia.com' && "
            "device.attributes['compute-domain.nvidia.com'].type == 'channel'")},
     true},
    {"TheClassOfTheDriversOwnPods",
     ByTemplate("compute-domain-x"),
     {Template("compute-domain-x", Requests("compute-domain-daemon.nvidia.com")),
      Class("compute-domain-daemon.nvidia.com",
            "device.driver == 'compute-domain.nvidia.com' && "
            "device.attributes['compute-domain.nvidia.com'].type == 'daemon'")},
     false},
    {"AClassThatNamesNoDriver",
     ByTemplate("my-claim"),
     {Template("my-claim", Requests(kChannel)), Class(kChannel, "true")},
     true},
    {"AClassOfThatNameOfAnotherDriver",
     ByTemplate("my-claim"),
     {Template("my-claim", Requests(kChannel)), Class(kChannel, "device.driver == 'x.y'")},
     false},
    {"AdminAccess",
     ByTemplate("channel"),
     {Template("channel", WithAdminAccess(Requests(kChannel)))},
     false},
    {"ATemplateThatAComputeDomainNames", ByTemplate("my-claim"), {Domain("my-claim")}, true},
    {"TheTemplateBeforeTheComputeDomain",
     ByTemplate("my-claim"),
     {Domain("my-claim"), Template("my-claim", Requests(kGpuClass))},
     false},
    {"AMissingTemplateByItsWords", ByTemplate("cd-channel"), {}, true},
    {"AMissingTemplateWithoutTheWords", ByTemplate("my-claim"), {}, false},
    {"AMissingClaimByItsWords", ByName("imex-7"), {}, true},
    {"ATemplateOfAnotherNamespace",
     ByTemplate("cd-channel"),
     {Template("cd-channel", Requests(kGpuClass), "team-b")},
     true},
};

INSTANTIATE_TEST_SUITE_P(, ChannelClaimsTest, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return one.param.name; });

// Its template is gone, but not the claim that was made of it.
TEST(ChannelClaims, LooksAtTheClaimThatWasMadeForThePod) {
  Json pod = PodWith(ByTemplate("my-claim"));
  pod["status"] =
      Json::parse(R"({"resourceClaimStatuses": [{"name": "c", "resourceClaimName": "p-c-x7"}]})");
  api::Inputs inputs = Read({pod, Allocated(Claim("p-c-x7", Requests(kChannel)),
                                            "compute-domain.nvidia.com", "channel-0")});
  ResolveChannelClaims(inputs);
  EXPECT_TRUE(inputs.pods[0].pod.claims_compute_domain);
}

TEST(ChannelClaims, AJobWhoseComputeDomainWeftMakesClaimsOneWhateverItsTemplateSays) {
  Json job = JobWith(ByTemplate("my-claim"));
  job["spec"]["topology"]["computeDomain"] = "Auto";
  api::Inputs inputs = Read({job, Template("my-claim", Requests(kGpuClass))});
  ResolveChannelClaims(inputs);
  EXPECT_TRUE(inputs.jobs[0].pod.claims_compute_domain);
}

TEST(ChannelClaims, ThePodsThatAWorkloadWillHaveAreResolvedToo) {
  api::Inputs inputs = Read({Template("my-claim", Requests(kChannel))});
  api::Placement placement;
  placement.meta.key = {"team-a", "w"};
  placement.proposal.emplace();
  placement.proposal->claims = {{"", "my-claim"}};
  inputs.placements.push_back(placement);
  ResolveChannelClaims(inputs);
  EXPECT_TRUE(inputs.placements[0].proposal->pod.claims_compute_domain);
}

// The running pod holds the node's channel, although no name says so.
TEST(ChannelClaims, ANodeWithARunningPodOfAChannelIsHeld) {
  testing::Scene scene(testing::FourNodes());
  api::Pod& pod = scene.Pod("p", "n1");
  pod.claims = {{"", "my-claim"}};
  api::ClaimTemplate made;
  made.meta.key = {pod.meta.key.space, "my-claim"};
  made.requests.push_back({kChannel, 1, false});
  scene.inputs.claim_templates.push_back(made);
  const Cluster cluster = scene.Build();
  const ClusterFabric& on = cluster.fabrics.front();
  EXPECT_FALSE(on.claims.compute_domain(*on.fabric->FindNode("n1")).empty());
  EXPECT_TRUE(on.claims.compute_domain(*on.fabric->FindNode("n0")).empty());
}

}  // namespace
}  // namespace weft::cluster
