#include "operator/launch/pin.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

const char* const kRequired =
    "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";

Json PatchOf(const char* spec) {
  const Json object = {{"apiVersion", "v1"},
                       {"kind", "Pod"},
                       {"metadata", {{"name", "w-3"}, {"namespace", "ns"}}},
                       {"spec", Json::parse(spec)}};
  const auto pod = api::DecodePod(object, "test");
  EXPECT_TRUE(pod) << pod.error().message;
  return UngatePatch(*pod, {.placement_uid = "u1", .worker = WorkerIndex{3}, .node = "n7"});
}

struct Case {
  const char* name;
  const char* spec;
  const char* terms;
};

constexpr Case kCases[] = {
    {"a pod without affinity gets one", R"({"schedulingGates": [{"name": "weft.dev/placement"}]})",
     R"([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n7"]}]}])"},
    {"preferences alone get a required term", R"({"affinity": {"nodeAffinity":
       {"preferredDuringSchedulingIgnoredDuringExecution": []}}})",
     R"([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n7"]}]}])"},
    {"every term keeps what it has and is tied", R"({"affinity": {"nodeAffinity":
       {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
         {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["z", "b"]},
                               {"key": "c", "operator": "Exists"}]},
         {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}]}]}}}})",
     R"([{"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["z", "b"]},
                               {"key": "c", "operator": "Exists"}],
          "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n7"]}]},
         {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]},
                          {"key": "metadata.name", "operator": "In", "values": ["n7"]}]}])"},
};

TEST(UngatePatchTest, APodIsTiedToItsNode) {
  for (const Case& one : kCases) {
    EXPECT_EQ(PatchOf(one.spec).at(Json::json_pointer(kRequired)), Json::parse(one.terms))
        << one.name;
  }
}

TEST(UngatePatchTest, OnlyOurGateGoesAndThePodSaysForWhom) {
  const Json patch =
      PatchOf(R"({"schedulingGates": [{"name": "weft.dev/placement"}, {"name": "other"}]})");
  EXPECT_EQ(patch["spec"]["schedulingGates"], Json::parse(R"([{"name": "other"}])"));
  EXPECT_EQ(patch["metadata"]["annotations"],
            Json::parse(R"({"weft.dev/placement-uid": "u1", "weft.dev/worker-index": "3"})"));
}

}  // namespace
}  // namespace weft::launch
