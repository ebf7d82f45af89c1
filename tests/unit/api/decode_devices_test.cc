#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "operator/api/decode.h"

namespace weft::api {
namespace {

using Json = nlohmann::json;

Json SliceOf(const std::string& devices) {
  return Json::parse(R"({"kind": "ResourceSlice", "metadata": {"name": "n1-gpu"}, "spec": {
      "driver": "gpu.nvidia.com", "nodeName": "n1",
      "pool": {"name": "n1", "generation": 3, "resourceSliceCount": 1},
      "devices": )" + devices +
                     "}}");
}

TEST(DecodeResourceSlice, CountsWholeDevicesByType) {
  struct Case {
    const char* name;
    const char* devices;
    std::map<std::string, std::int64_t> usable;
    std::vector<ResourceSlice::Part> parts;
  };
  const Case cases[] = {
      {"GPUs",
       R"([{"name": "gpu-0", "attributes": {"type": {"string": "gpu"}}},
                   {"name": "gpu-1", "attributes": {"type": {"string": "gpu"}}}])",
       {{"gpu", 2}},
       {}},
      {"v1beta1 has a device's fields in `basic`, an attribute may have its domain",
       R"([{"name": "gpu-0",
            "basic": {"attributes": {"gpu.nvidia.com/type": {"string": "gpu"}}}}])",
       {{"gpu", 1}},
       {}},
      {"a GPU with a taint is not usable",
       R"([{"name": "gpu-0", "taints": [{"key": "xid", "effect": "NoSchedule"}]},
           {"name": "gpu-1", "taints": [{"key": "note", "effect": "None"}]}])",
       {{"", 1}},
       {}},
      {"partitions of one counter set are one GPU, beside the GPU itself",
       R"([{"name": "gpu-0", "consumesCounters": [{"counterSet": "set-0"}],
            "attributes": {"type": {"string": "gpu"}}},
           {"name": "mig-a", "consumesCounters": [{"counterSet": "set-0"}],
            "attributes": {"type": {"string": "mig"}}},
           {"name": "mig-b", "consumesCounters": [{"counterSet": "set-0"}],
            "attributes": {"type": {"string": "mig"}}}])",
       {{"gpu", 1}, {"mig", 1}},
       {{"gpu-0", "set-0"}, {"mig-a", "set-0"}, {"mig-b", "set-0"}}},
      {"partitions with the uuid of their parent",
       R"([{"name": "mig-a", "attributes": {"parentUUID": {"string": "GPU-7"}}},
           {"name": "mig-b", "attributes": {"parentUUID": {"string": "GPU-7"}}}])",
       {{"", 1}},
       {{"mig-a", "GPU-7"}, {"mig-b", "GPU-7"}}},
      {"no devices yet", "[]", {}, {}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Result<ResourceSlice> slice = DecodeResourceSlice(SliceOf(c.devices), "f");
    ASSERT_TRUE(slice) << slice.error().message;
    EXPECT_EQ(slice->driver, "gpu.nvidia.com");
    EXPECT_EQ(slice->node_name, "n1");
    EXPECT_EQ(slice->pool, "n1");
    EXPECT_EQ(slice->generation, 3);
    EXPECT_EQ(slice->usable, c.usable);
    EXPECT_EQ(slice->parts, c.parts);
  }
}

TEST(DecodeResourceSlice, ReadsTaintedDevicesProductAndSizeOfThePool) {
  Json object = SliceOf(R"([
      {"name": "gpu-0", "attributes": {"type": {"string": "gpu"},
                                       "productName": {"string": "NVIDIA B200"}}},
      {"name": "gpu-1", "attributes": {"type": {"string": "gpu"},
                                       "productName": {"string": "NVIDIA B200"}},
       "taints": [{"key": "xid", "effect": "NoExecute"}]}])");
  object["spec"]["pool"]["resourceSliceCount"] = 3;
  const auto slice = DecodeResourceSlice(object, "test");
  ASSERT_TRUE(slice) << slice.error().message;
  EXPECT_EQ(slice->tainted, (std::map<std::string, std::int64_t>{{"gpu", 1}}));
  EXPECT_EQ(slice->product, "NVIDIA B200");
  EXPECT_EQ(slice->slices_in_pool, 3);
  object["spec"]["devices"][0]["attributes"]["productName"]["string"] = "NVIDIA A100";
  EXPECT_EQ(DecodeResourceSlice(object, "test")->product, "");
}

TEST(DecodeDeviceClass, ReadsDriverAndTypeOfItsSelectors) {
  struct Case {
    const char* name;
    const char* expressions;
    const char* driver;
    const char* type;
    bool exact;
  };
  const Case cases[] = {
      {"NVIDIA's GPUs",
       R"(["device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'"])",
       "gpu.nvidia.com", "gpu", true},
      {"two selectors, double quotes",
       R"(["device.driver == \"a.b\"", "device.attributes[\"a.b\"].type == \"x\""])", "a.b", "x",
       true},
      {"the driver alone", R"(["device.driver=='a.b'"])", "a.b", "", true},
      {"something else too",
       R"x(["device.driver == 'a.b' && device.capacity['a.b'].memory > quantity('40Gi')"])x", "a.b",
       "", false},
      {"either of two drivers", R"(["device.driver == 'a.b' || device.driver == 'c.d'"])", "", "",
       false},
      {"every device", "[]", "", "", false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Json object = Json::parse(R"({"kind": "DeviceClass", "metadata": {"name": "c"},
                                  "spec": {"extendedResourceName": "nvidia.com/gpu"}})");
    for (const Json& one : Json::parse(c.expressions)) {
      object["spec"]["selectors"].push_back({{"cel", {{"expression", one}}}});
    }
    const Result<DeviceClass> read = DecodeDeviceClass(object, "f");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->driver, c.driver);
    EXPECT_EQ(read->type, c.type);
    EXPECT_EQ(read->exact, c.exact);
    EXPECT_EQ(read->extended_resource, "nvidia.com/gpu");
  }
}

TEST(DecodeResourceClaim, ReadsWhatItHoldsAndForWhom) {
  const Result<ResourceClaim> claim = DecodeResourceClaim(Json::parse(R"({
      "kind": "ResourceClaim",
      "metadata": {"name": "c", "namespace": "n", "annotations": {
          "resource.kubernetes.io/pod-claim-name": "gpus"}},
      "spec": {"devices": {"requests": [
          {"name": "a", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 2}},
          {"name": "b", "firstAvailable": [{"name": "x", "deviceClassName": "big"},
                                           {"name": "y", "deviceClassName": "small"}]},
          {"name": "c", "deviceClassName": "all", "allocationMode": "All"},
          {"name": "d", "exactly": {"deviceClassName": "watched", "adminAccess": true}}]}},
      "status": {
          "allocation": {
            "devices": {"results": [
              {"request": "a", "driver": "gpu.nvidia.com", "pool": "n1", "device": "gpu-0"},
              {"request": "d", "driver": "gpu.nvidia.com", "pool": "n1", "device": "gpu-9",
               "adminAccess": true}]},
            "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
              {"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}},
          "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"},
                          {"apiGroup": "x", "resource": "others", "name": "o", "uid": "v"}]}})"),
                                                          "f");
  ASSERT_TRUE(claim) << claim.error().message;
  const std::vector<DeviceRequest> requests = {{"gpu.nvidia.com", 2, false},
                                               {"big", 1, false, {"small"}},
                                               {"all", 1, true},
                                               {"watched", 0, false}};
  EXPECT_EQ(claim->requests, requests);
  const std::vector<ResourceClaim::Device> devices = {{"gpu.nvidia.com", "n1", "gpu-0"}};
  EXPECT_EQ(claim->devices, devices);
  EXPECT_EQ(claim->node_name, "n1");
  EXPECT_EQ(claim->users, (std::vector<ResourceClaim::User>{{"p", "u"}}));
  EXPECT_TRUE(claim->of_template);
  EXPECT_FALSE(claim->for_extended_resource);
}

TEST(DecodePod, NamesItsClaims) {
  const Result<Pod> pod = DecodePod(Json::parse(R"({
      "kind": "Pod", "metadata": {"name": "p", "namespace": "n"},
      "spec": {"resourceClaims": [{"name": "a", "resourceClaimTemplateName": "gpus"},
                                  {"name": "b", "resourceClaimName": "shared"},
                                  {"name": "compute-domain-channel"}]},
      "status": {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "p-a-x7"},
                                           {"name": "b", "resourceClaimName": "shared"}]}})"),
                                    "f");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->claims,
            (std::vector<ClaimReference>{{"", "gpus", "p-a-x7"}, {"shared", "", "shared"}}));
}

TEST(DecodeComputeDomain, IsTheTemplateThatItsDriverMakes) {
  const Result<ClaimTemplate> made = DecodeComputeDomain(Json::parse(R"({
      "kind": "ComputeDomain", "metadata": {"name": "cd", "namespace": "n"},
      "spec": {"channel": {"resourceClaimTemplate": {"name": "t"}}}})"),
                                                         "f");
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->meta.key, (ObjectKey{"n", "t"}));
  EXPECT_EQ(made->requests, (std::vector<DeviceRequest>{{kChannelClass, 1, false}}));
}

TEST(DecodeDevices, NamesTheFieldThatIsWrong) {
  Json object = SliceOf("[]");
  object["spec"]["pool"]["generation"] = "3";
  const Result<ResourceSlice> slice = DecodeResourceSlice(object, "f");
  ASSERT_FALSE(slice);
  EXPECT_EQ(slice.error().message,
            "f: ResourceSlice n1-gpu: spec.pool.generation: \"3\" must be an integer");
}

}  // namespace
}  // namespace weft::api
