#include "operator/controllers/create_or_read.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/json_member.h"
#include "tests/unit/controllers/fake_api.h"

namespace weft::controllers {
namespace {

using Json = nlohmann::json;

// An API server on which an object of every name is there and gone again by turns.
class Flickering final : public ApiWriter {
 public:
  Result<Json> Create(Kind, const Json&, bool) override {
    return Error{ErrorKind::kConflict, "already exists"};
  }
  Result<Json> Get(const Target&) override { return Error{ErrorKind::kNotFound, "not found"}; }
  Result<Json> Patch(const Target&, const Json&) override { return Json(); }
  Result<Json> PatchStatus(const Target&, const Json&) override { return Json(); }
  Result<Json> PatchExactly(const Target&, const Json&) override { return Json(); }
  Status Delete(const Target&) override { return {}; }
  Status Evict(const Target&) override { return {}; }
};

const Json kService = Json::parse(R"({"kind": "Service", "metadata": {
    "name": "llama", "namespace": "ns", "labels": {"weft.dev/job-uid": "u1"}}})");
// Of the Placement with uid p1.
const Json kConfigMap = Json::parse(R"({"kind": "ConfigMap", "metadata": {
    "name": "llama-1", "namespace": "ns", "ownerReferences": [
        {"apiVersion": "v1", "kind": "Placement", "name": "llama-1", "uid": "p1"}]}})");

TEST(CreateOrRead, WhatIsThereAndGoneIsAConflict) {
  Flickering writer;
  const auto stored = CreateOrRead(writer, Kind::kService, kService);
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().kind, ErrorKind::kConflict);
  EXPECT_EQ(stored.error().message, "already exists");
}

TEST(CreateOrRead, ReadsTheOneThatExists) {
  FakeApi api{[] { return UnixSeconds{1'800'000'000}; }};
  ASSERT_TRUE(api.Create(Kind::kService, kService, false));
  const auto stored = CreateOrRead(api, Kind::kService, kService);
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(stored->object.at("metadata").at("name"), "llama");
  EXPECT_EQ(stored->taken, "");
  EXPECT_EQ(api.counts["create Service"], 1);
}

TEST(CreateOrRead, SaysWhoseTheNameIs) {
  FakeApi api{[] { return UnixSeconds{1'800'000'000}; }};
  const auto taken = [&](Kind kind, const Json& asked, const Json& there) {
    EXPECT_TRUE(api.Delete({kind, api::KeyOf(asked), "", ""}));
    EXPECT_TRUE(api.Create(kind, there, false));
    const auto stored = CreateOrRead(api, kind, asked);
    const auto own = CreateOwn(api, kind, asked);
    EXPECT_EQ(own ? "" : own.error().message, stored->taken);
    EXPECT_TRUE(own || own.error().kind == ErrorKind::kTransient);
    return stored->taken;
  };
  Json other = kConfigMap;
  EXPECT_EQ(taken(Kind::kConfigMap, kConfigMap, other), "");
  other["metadata"]["ownerReferences"][0]["uid"] = "p0";
  EXPECT_EQ(taken(Kind::kConfigMap, kConfigMap, other),
            "ConfigMap ns/llama-1 already exists with another owner: Placement llama-1 (uid p0)");
  other["metadata"].erase("ownerReferences");
  EXPECT_EQ(taken(Kind::kConfigMap, kConfigMap, other),
            "ConfigMap ns/llama-1 already exists without its owner");
  Json service = kService;
  service["metadata"]["labels"]["weft.dev/job-uid"] = "u0";
  EXPECT_EQ(taken(Kind::kService, kService, service),
            "Service ns/llama already exists without its owner");
  service["metadata"]["ownerReferences"] = Json::parse(
      R"([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d"}])");
  EXPECT_EQ(taken(Kind::kService, kService, service),
            "Service ns/llama already exists with another owner: Deployment web (uid d)");
}

}  // namespace
}  // namespace weft::controllers
