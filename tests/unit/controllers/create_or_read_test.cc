#include "operator/controllers/create_or_read.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/controllers/fake_api.h"

namespace weft::controllers {
namespace {

using Json = nlohmann::json;

// An API server that answers the first creates with the conflict of a ResourceQuota: its usage was
// written at the same time (kubernetes/kubernetes 67761). The object does not exist then.
class BusyQuota final : public ApiWriter {
 public:
  explicit BusyQuota(int conflicts) : conflicts_(conflicts) {}
  Result<Json> Create(Kind kind, const Json& object, bool dry_run) override {
    ++creates;
    if (conflicts_-- > 0) {
      return Error{ErrorKind::kConflict,
                   "Operation cannot be fulfilled on resourcequotas \"team\": the object has been "
                   "modified; please apply your changes to the latest version and try again"};
    }
    return api.Create(kind, object, dry_run);
  }
  Result<Json> Get(const Target& target) override { return api.Get(target); }
  Result<Json> Patch(const Target& target, const Json& patch) override {
    return api.Patch(target, patch);
  }
  Result<Json> PatchStatus(const Target& target, const Json& patch) override {
    return api.PatchStatus(target, patch);
  }
  Result<Json> PatchExactly(const Target& target, const Json& operations) override {
    return api.PatchExactly(target, operations);
  }
  Status Delete(const Target& target) override { return api.Delete(target); }
  Status Evict(const Target& target) override { return api.Evict(target); }

  FakeApi api{[] { return UnixSeconds{1'800'000'000}; }};
  int creates = 0;

 private:
  int conflicts_;
};

const Json kService = {{"metadata", {{"name", "llama"}, {"namespace", "ns"}}}};

TEST(CreateOrRead, AConflictOfAQuotaIsNotAnObjectThatExists) {
  BusyQuota writer(2);
  const auto stored = CreateOrRead(writer, Kind::kService, kService);
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(writer.creates, 3);
  EXPECT_EQ(writer.api.counts["create Service"], 1);
}

TEST(CreateOrRead, AQuotaThatStaysBusyIsAConflictInItsWords) {
  BusyQuota writer(100);
  const auto stored = CreateOrRead(writer, Kind::kService, kService);
  ASSERT_FALSE(stored);
  EXPECT_EQ(stored.error().kind, ErrorKind::kConflict);
  EXPECT_NE(stored.error().message.find("resourcequotas"), std::string::npos);
  EXPECT_EQ(writer.creates, 3);
}

TEST(CreateOrRead, ReadsTheOneThatExists) {
  BusyQuota writer(0);
  ASSERT_TRUE(writer.api.Create(Kind::kService, kService, false));
  const auto stored = CreateOrRead(writer, Kind::kService, kService);
  ASSERT_TRUE(stored) << stored.error().message;
  EXPECT_EQ(stored->at("metadata").at("name"), "llama");
  EXPECT_EQ(writer.creates, 1);
}

}  // namespace
}  // namespace weft::controllers
