#include "operator/api/device_details.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"

namespace weft::api {
namespace {

using Json = nlohmann::json;

Json Slice(const char* spec) {
  Json object = {{"kind", "ResourceSlice"}, {"metadata", {{"name", "n1-nic"}}}};
  object["spec"] = Json::parse(spec);
  object["spec"]["driver"] = "nic.example.com";
  object["spec"]["pool"] = {{"name", "n1"}};
  return object;
}

TEST(DeviceDetails, OfASliceAreItsDevices) {
  const auto slice = DecodeResourceSlice(Slice(R"({"nodeName": "n1", "devices": [
      {"name": "nic-0", "allowMultipleAllocations": true,
       "attributes": {"model": {"string": "cx7"}, "example.com/rdma": {"bool": true},
                      "ports": {"int": 2}, "firmware": {"version": "1.2.3"}},
       "capacity": {"bandwidth": {"value": "400G"}},
       "taints": [{"key": "slow", "value": "yes", "effect": "NoSchedule"}]},
      {"name": "nic-1", "basic": {"attributes": {"model": {"string": "cx6"}},
                                  "capacity": {"example.com/queues": {"value": "8"}}}}]})"),
                                         "f");
  ASSERT_TRUE(slice) << slice.error().message;
  const auto details = DetailsOf(*slice);
  ASSERT_TRUE(details);
  EXPECT_EQ(details->place.node_name, "n1");
  ASSERT_EQ(details->devices.size(), 2U);
  const Device& first = details->devices[0];
  EXPECT_EQ(first.name, "nic-0");
  EXPECT_TRUE(first.shareable);
  EXPECT_FALSE(first.place.somewhere());
  EXPECT_EQ(first.facts.driver, "nic.example.com");
  const std::map<std::string, DeviceValue, std::less<>> attributes = {
      {"example.com/rdma", true},
      {"nic.example.com/firmware", DeviceValue()},
      {"nic.example.com/model", std::string("cx7")},
      {"nic.example.com/ports", std::int64_t{2}}};
  EXPECT_EQ(first.facts.attributes, attributes);
  EXPECT_EQ(first.facts.capacity.at("nic.example.com/bandwidth"), 400'000'000'000'000);
  EXPECT_EQ(first.taints, (std::vector<fabric::Taint>{{"slow", "yes", "NoSchedule"}}));
  const Device& second = details->devices[1];
  EXPECT_EQ(second.facts.attributes.at("nic.example.com/model"), DeviceValue(std::string("cx6")));
  EXPECT_EQ(second.facts.capacity.at("example.com/queues"), 8'000);
}

TEST(DeviceDetails, OfASliceTellWhereItsDevicesAre) {
  const auto everywhere = DecodeResourceSlice(Slice(R"({"allNodes": true})"), "f");
  ASSERT_TRUE(everywhere);
  EXPECT_TRUE(DetailsOf(*everywhere)->place.all_nodes);
  const auto some = DecodeResourceSlice(Slice(R"({"nodeSelector": {"nodeSelectorTerms": [
      {"matchExpressions": [{"key": "rack", "operator": "Exists"}]}]}})"),
                                        "f");
  ASSERT_TRUE(some);
  EXPECT_EQ(DetailsOf(*some)->place.terms,
            (std::vector<rules::NodeSelectorTerm>{{{{"rack", "Exists", {}}}, {}}}));
  const auto each = DecodeResourceSlice(Slice(R"({"perDeviceNodeSelection": true, "devices": [
      {"name": "a", "nodeName": "n1"}, {"name": "b", "basic": {"allNodes": true}}]})"),
                                        "f");
  ASSERT_TRUE(each);
  const auto details = DetailsOf(*each);
  EXPECT_FALSE(details->place.somewhere());
  EXPECT_EQ(details->devices[0].place.node_name, "n1");
  EXPECT_TRUE(details->devices[1].place.all_nodes);
}

TEST(DeviceDetails, DifferWhereDevicesDiffer) {
  const auto decoded = [](const char* model) {
    Json object = Slice(R"({"nodeName": "n1", "devices": [{"name": "nic-0"}]})");
    object["spec"]["devices"][0]["attributes"]["model"]["string"] = model;
    return *DecodeResourceSlice(object, "f");
  };
  EXPECT_TRUE(SameDevices(decoded("cx7"), decoded("cx7")));
  EXPECT_FALSE(SameDevices(decoded("cx7"), decoded("cx6")));
}

TEST(DeviceDetails, OfAClassAreItsSelectors) {
  const Json object = Json::parse(R"({"kind": "DeviceClass", "metadata": {"name": "nic"}, "spec": {
      "selectors": [{"cel": {"expression": "a"}}, {"cel": {"expression": "b"}}]}})");
  EXPECT_EQ(SelectorsOf(*DecodeDeviceClass(object, "f")), (std::vector<std::string>{"a", "b"}));
  const Json without = Json::parse(R"({"kind": "DeviceClass", "metadata": {"name": "nic"}})");
  EXPECT_EQ(SelectorsOf(*DecodeDeviceClass(without, "f")), std::vector<std::string>());
  EXPECT_EQ(SelectorsOf(DeviceClass()), std::nullopt);  // not decoded
}

TEST(DeviceDetails, OfATemplateAreItsRequests) {
  const Json object = Json::parse(R"({"kind": "ResourceClaimTemplate",
      "metadata": {"name": "cards", "namespace": "ns"}, "spec": {"spec": {"devices": {"requests": [
        {"name": "one", "exactly": {"deviceClassName": "nic", "count": 2,
         "selectors": [{"cel": {"expression": "a"}}],
         "tolerations": [{"key": "slow", "operator": "Exists"}, {"key": "old", "value": "yes"}]}},
        {"name": "two", "firstAvailable": [{"name": "x", "deviceClassName": "nic"},
                                           {"name": "y", "deviceClassName": "old-nic",
                                            "allocationMode": "All"}]},
        {"name": "three", "deviceClassName": "nic", "adminAccess": true}]}}}})");
  const auto claim_template = DecodeClaimTemplate(object, "f");
  ASSERT_TRUE(claim_template) << claim_template.error().message;
  const auto requests = RequestsOf(*claim_template);
  ASSERT_TRUE(requests && requests->size() == 3);
  ASSERT_EQ((*requests)[0].choices.size(), 1U);
  const RequestChoice& one = (*requests)[0].choices[0];
  EXPECT_EQ((*requests)[0].name, "one");
  EXPECT_EQ(one.device_class, "nic");
  EXPECT_EQ(one.count, 2);
  EXPECT_EQ(one.selectors, std::vector<std::string>{"a"});
  EXPECT_EQ(one.tolerations, (std::vector<rules::Toleration>{{"slow", "Exists", "", ""},
                                                             {"old", "Equal", "yes", ""}}));
  ASSERT_EQ((*requests)[1].choices.size(), 2U);
  EXPECT_EQ((*requests)[1].choices[1].device_class, "old-nic");
  EXPECT_TRUE((*requests)[1].choices[1].all);
  EXPECT_EQ((*requests)[2].choices[0].count, 0);  // v1beta1, admin access
}

TEST(DeviceDetails, OfAClaimAreItsRequestsAndItsPlace) {
  Json object = Json::parse(R"({"kind": "ResourceClaim",
      "metadata": {"name": "shared", "namespace": "ns"},
      "spec": {"devices": {"requests": [{"name": "one", "exactly": {"deviceClassName": "nic"}}]}}})");
  const auto waiting = DecodeResourceClaim(object, "f");
  ASSERT_TRUE(waiting);
  ASSERT_TRUE(RequestsOf(*waiting));
  EXPECT_EQ(RequestsOf(*waiting)->front().choices.front().device_class, "nic");
  EXPECT_EQ(AllocatedPlace(*waiting), std::nullopt);
  object["status"]["allocation"]["nodeSelector"] = Json::parse(R"({"nodeSelectorTerms": [
      {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}],
       "matchExpressions": [{"key": "rack", "operator": "In", "values": ["a", "b"]}]}]})");
  EXPECT_EQ(AllocatedPlace(*DecodeResourceClaim(object, "f")),
            (std::vector<rules::NodeSelectorTerm>{
                {{{"rack", "In", {"a", "b"}}}, {{"metadata.name", "In", {"n1"}}}}}));
}

}  // namespace
}  // namespace weft::api
