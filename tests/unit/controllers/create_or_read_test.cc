#include "operator/controllers/create_or_read.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

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

const Json kService = {{"metadata", {{"name", "llama"}, {"namespace", "ns"}}}};

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
  EXPECT_EQ(stored->at("metadata").at("name"), "llama");
  EXPECT_EQ(api.counts["create Service"], 1);
}

}  // namespace
}  // namespace weft::controllers
