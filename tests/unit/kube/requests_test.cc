#include "operator/kube/requests.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

namespace weft::kube {
namespace {

using Json = nlohmann::json;

// "PATCH /api/v1/nodes/n?fieldManager=weft application/merge-patch+json {...}"
std::string Show(const Request& request) {
  static const char* const kNames[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
  std::string text = kNames[static_cast<int>(request.method)];
  text += " " + request.path;
  char mark = '?';
  for (const auto& [key, value] : request.query) {
    text += mark + key + "=" + value;
    mark = '&';
  }
  if (!request.content_type.empty()) text += " " + request.content_type + " " + request.body;
  return text;
}

struct Case {
  std::string name;
  Request request;
  std::string want;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

const Json kPod = {{"metadata", {{"name", "p"}, {"namespace", "team-a"}}}};
const Json kFabric = {{"metadata", {{"name", "hall-1"}}}};
const Json kEmpty = Json::object();

class Requests : public ::testing::TestWithParam<Case> {};

TEST_P(Requests, Are) { EXPECT_EQ(Show(GetParam().request), GetParam().want); }

const auto kName = [](const auto& row) { return row.param.name; };

// clang-format off
INSTANTIATE_TEST_SUITE_P(Reads, Requests, ::testing::ValuesIn(std::vector<Case>{
  {"AnObjectOfTheCoreGroup",
   GetRequest(kPods, {"team-a", "p"}), "GET /api/v1/namespaces/team-a/pods/p"},
  {"AnObjectOfAnotherGroup",
   GetRequest(kTrainingJobs, {"team-a", "j"}),
   "GET /apis/weft.dev/v1alpha1/namespaces/team-a/trainingjobs/j"},
  {"AnObjectWithoutNamespace", GetRequest(kNodes, {"", "n"}), "GET /api/v1/nodes/n"},
  {"ANamespaceDoesNotCountWhereTheKindHasNone",
   GetRequest(kNodes, {"team-a", "n"}), "GET /api/v1/nodes/n"},
  {"EscapesCharactersThatWouldEndTheSegment",
   GetRequest(kPods, {"a/b", "../x?y#z%20 \xc3\xa4"}),
   "GET /api/v1/namespaces/a%2Fb/pods/..%2Fx%3Fy%23z%2520%20%C3%A4"},
  {"NamesOfRolesMayHoldAColon", GetRequest(kNodes, {"", "a:b"}), "GET /api/v1/nodes/a:b"},
}), kName);

INSTANTIATE_TEST_SUITE_P(Writes, Requests, ::testing::ValuesIn(std::vector<Case>{
  {"ACreateGoesToTheCollection",
   CreateRequest(kPods, kPod, {}),
   "POST /api/v1/namespaces/team-a/pods?fieldManager=weft application/json "
   R"({"metadata":{"name":"p","namespace":"team-a"}})"},
  {"ADryRunSaysSo",
   CreateRequest(kFabrics, kFabric, {.dry_run = true}),
   "POST /apis/weft.dev/v1alpha1/fabrics?dryRun=All&fieldManager=weft application/json "
   R"({"metadata":{"name":"hall-1"}})"},
  {"AStrictOneIsRefusedForUnknownFields",
   CreateRequest(kFabrics, kFabric, {.strict = true}),
   "POST /apis/weft.dev/v1alpha1/fabrics?fieldManager=weft&fieldValidation=Strict "
   R"(application/json {"metadata":{"name":"hall-1"}})"},
  {"AReplaceTakesItsNameFromTheObject",
   ReplaceRequest(kPods, kPod, {}),
   "PUT /api/v1/namespaces/team-a/pods/p?fieldManager=weft application/json "
   R"({"metadata":{"name":"p","namespace":"team-a"}})"},
  {"AStatusIsReplacedAlone",
   ReplaceRequest(kFabrics, kFabric, {.subresource = "status"}),
   "PUT /apis/weft.dev/v1alpha1/fabrics/hall-1/status?fieldManager=weft application/json "
   R"({"metadata":{"name":"hall-1"}})"},
  {"BytesThatAreNoUtf8AreReplaced",
   CreateRequest(kFabrics, {{"metadata", {{"name", "a\xff"}}}}, {}),
   "POST /apis/weft.dev/v1alpha1/fabrics?fieldManager=weft application/json "
   "{\"metadata\":{\"name\":\"a\xef\xbf\xbd\"}}"},
}), kName);

INSTANTIATE_TEST_SUITE_P(Patches, Requests, ::testing::ValuesIn(std::vector<Case>{
  {"AMergePatch",
   PatchRequest(kNodes, {"", "n"}, {PatchType::kMerge, kEmpty}, {}),
   "PATCH /api/v1/nodes/n?fieldManager=weft application/merge-patch+json {}"},
  {"AJsonPatch",
   PatchRequest(kNodes, {"", "n"}, {PatchType::kJson, Json::array()}, {}),
   "PATCH /api/v1/nodes/n?fieldManager=weft application/json-patch+json []"},
  {"AnApplyLeavesTheFieldsOfOthers",
   PatchRequest(kNodes, {"", "n"}, {PatchType::kApply, kEmpty}, {.field_manager = "weft-status"}),
   "PATCH /api/v1/nodes/n?fieldManager=weft-status application/apply-patch+yaml {}"},
  {"AnApplyByForceTakesThem",
   PatchRequest(kNodes, {"", "n"}, {PatchType::kApply, kEmpty}, {.force = true}),
   "PATCH /api/v1/nodes/n?fieldManager=weft&force=true application/apply-patch+yaml {}"},
  {"OnlyAnApplyHasForce",
   PatchRequest(kNodes, {"", "n"}, {PatchType::kMerge, kEmpty}, {.force = true}),
   "PATCH /api/v1/nodes/n?fieldManager=weft application/merge-patch+json {}"},
  {"AStatusIsAppliedAlone",
   PatchRequest(kTrainingJobs, {"a", "j"}, {PatchType::kApply, kEmpty},
                {.subresource = "status", .force = true}),
   "PATCH /apis/weft.dev/v1alpha1/namespaces/a/trainingjobs/j/status?fieldManager=weft&force=true "
   "application/apply-patch+yaml {}"},
}), kName);

INSTANTIATE_TEST_SUITE_P(Deletes, Requests, ::testing::ValuesIn(std::vector<Case>{
  {"ADeleteOfWhateverHasTheName",
   DeleteRequest(kPods, {"a", "p"}, {}),
   "DELETE /api/v1/namespaces/a/pods/p application/json "
   R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"})"},
  {"ADeleteOfOneObjectOnly",
   DeleteRequest(kPods, {"a", "p"}, {.only = {"u1", "7"}}),
   "DELETE /api/v1/namespaces/a/pods/p application/json "
   R"({"apiVersion":"v1","kind":"DeleteOptions",)"
   R"("preconditions":{"resourceVersion":"7","uid":"u1"},"propagationPolicy":"Background"})"},
  {"ADeleteAtOnceOfTheOwnerLast",
   DeleteRequest(kPods, {"a", "p"}, {.propagation = "Foreground", .grace_seconds = 0}),
   "DELETE /api/v1/namespaces/a/pods/p application/json "
   R"({"apiVersion":"v1","gracePeriodSeconds":0,"kind":"DeleteOptions",)"
   R"("propagationPolicy":"Foreground"})"},
  {"ADeleteByLabels",
   DeleteCollectionRequest(kPods, "a", "weft.dev/job-name=j,weft.dev/attempt!=2", {}),
   "DELETE /api/v1/namespaces/a/pods?labelSelector=weft.dev/job-name=j,weft.dev/attempt!=2 "
   "application/json "
   R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"})"},
  {"AnEvictionOfOnePodOnly",
   EvictRequest({"a", "p"}, {.only = {"u1", ""}, .propagation = ""}),
   "POST /api/v1/namespaces/a/pods/p/eviction application/json "
   R"({"apiVersion":"policy/v1","deleteOptions":{"apiVersion":"v1","kind":"DeleteOptions",)"
   R"("preconditions":{"uid":"u1"}},"kind":"Eviction","metadata":{"name":"p","namespace":"a"}})"},
}), kName);
// clang-format on

TEST(Requests, ThatWouldDeleteEverythingAreNotMade) {
  EXPECT_DEATH((void)DeleteRequest(kPods, {"a", ""}, {}), "");
  EXPECT_DEATH((void)DeleteCollectionRequest(kPods, "a", "", {}), "");
  EXPECT_DEATH((void)DeleteCollectionRequest(kPods, "", "x=y", {}), "");
}

}  // namespace
}  // namespace weft::kube
