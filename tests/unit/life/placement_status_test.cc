#include "operator/life/placement_status.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "operator/api/decode.h"
#include "operator/base/random.h"
#include "operator/base/timestamp.h"
#include "operator/life/status_patch.h"

namespace weft::life {
namespace {

using Json = nlohmann::json;

const Json kPlaced = Json::parse(R"({
    "apiVersion": "weft.dev/v1alpha1", "kind": "Placement",
    "metadata": {"name": "train", "namespace": "team-a", "uid": "p1"},
    "spec": {"workers": 2, "accelerator": {"resourceName": "nvidia.com/gpu", "perWorker": 8}},
    "status": {"nodes": ["n1", "n2"], "outlook": {"stepMilliseconds": 7}, "newer": 7}})");

api::Placement Read(const Json& object) {
  return *api::DecodePlacement(object, "test", api::Reading::kServed);
}

std::string AnyTime(SplitMix64& random) {
  return FormatTime(1'800'000'000 + static_cast<UnixSeconds>(random.Below(100)));
}

PlacementStatus AnyStatus(SplitMix64& random) {
  PlacementStatus status;
  status.keeps_nodes = random.Below(3) != 0;
  for (const char* type : {"Placed", "Verified"}) {
    if (random.Below(3) == 0) continue;
    status.conditions.push_back({type, random.Below(2) == 0 ? "True" : "False", "Reason", "", ""});
    status.conditions.back().last_transition_time = AnyTime(random);
  }
  for (std::uint64_t i = random.Below(3); i > 0; --i) {
    status.excluded.push_back({"n" + std::to_string(i), AnyTime(random)});
    if (random.Below(2) == 0) {
      status.excluded.back().effect = api::ExclusionEffect::kPreferNoSchedule;
    }
  }
  status.retry.times = static_cast<std::int64_t>(random.Below(3));
  if (status.retry.times > 0 && random.Below(2) == 0) status.retry.not_before = AnyTime(random);
  if (random.Below(3) == 0) {
    status.completed = cluster::Completed{"job-" + std::to_string(random.Below(2)), "0"};
  }
  return status;
}

// What the next writer of nodes adds, and a newer version.
void Place(Json& status, SplitMix64& random) {
  if (status.contains("nodes")) return;
  status["nodes"] = {"n3", "n4"};
  if (random.Below(2) == 0) status["spans"] = Json::array({{{"level", "leaf"}}});
}

TEST(PlacementStatusTest, WhateverWasStoredThePatchMakesWhatWasMeant) {
  SplitMix64 random(1);
  Json stored = kPlaced;
  for (int i = 0; i < 5'000; ++i) {
    Json& status = stored["status"];
    Place(status, random);
    const bool newer = status.contains("retry");
    if (newer) status["retry"]["newer"] = 7;
    const api::Placement before = Read(stored);
    const PlacementStatus meant = AnyStatus(random);
    status.merge_patch(PatchOf(before, meant));

    const api::Placement now = Read(stored);
    ASSERT_EQ(now.conditions, meant.conditions);
    ASSERT_EQ(now.excluded, meant.excluded);
    ASSERT_EQ(now.retry, meant.retry);
    const auto kept = meant.keeps_nodes ? meant.completed.value_or(cluster::CompletedOf(before))
                                        : cluster::Completed();
    ASSERT_EQ(cluster::CompletedOf(now), kept);
    for (const std::string_view field : kDecisionFields) {
      const Json& was = before.raw->at("status");
      ASSERT_EQ(status.value(field, Json()), meant.keeps_nodes ? was.value(field, Json()) : Json());
    }
    ASSERT_EQ(status["newer"], 7);
    ASSERT_EQ(newer && meant.retry.times > 0, status.value("retry", Json()).contains("newer"));
    ASSERT_EQ(PatchOf(now, {true, meant.conditions, meant.excluded, meant.retry}), Json::object());
  }
}

// The failure that is tried again at once: the end of an earlier wait must not stay.
TEST(PlacementStatusTest, ARetryWithoutAWaitRemovesTheEarlierOne) {
  Json stored = kPlaced;
  stored["status"]["retry"] = {{"times", 3}, {"notBefore", "2027-01-15T08:00:00Z"}};
  EXPECT_EQ(PatchOf(Read(stored), {true, {}, {}, {1, ""}}),
            Json({{"retry", {{"times", 1}, {"notBefore", nullptr}}}}));
}

}  // namespace
}  // namespace weft::life
