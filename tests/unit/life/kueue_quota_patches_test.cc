#include "operator/life/kueue_quota_patches.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "operator/api/kueue.h"
#include "operator/base/random.h"
#include "operator/base/timestamp.h"

namespace weft::life {
namespace {

using Json = nlohmann::json;

constexpr UnixSeconds kNow = 1'800'000'000;

// A Workload that was evicted, with conditions of Kueue and of others in any state.
Json AnyWorkload(SplitMix64& random) {
  Json workload = Json::parse(R"({
      "metadata": {"name": "w", "namespace": "ns", "uid": "w1", "generation": 3,
                   "finalizers": ["kueue.x-k8s.io/resource-in-use", "others"]},
      "spec": {"queueName": "q", "podSets": []},
      "status": {"admission": {"clusterQueue": "q"}, "newer": 7,
                 "conditions": [{"type": "Evicted", "status": "True", "reason": "Preempted",
                                 "message": "m", "lastTransitionTime": "2027-01-15T07:00:00Z",
                                 "newer": 7}]}})");
  for (const char* type : {"Admitted", "Finished", "Others", "PodsReady", "QuotaReserved"}) {
    if (random.Below(3) == 0) continue;
    Json one = {{"type", type}, {"reason", "Any"}, {"message", ""}, {"newer", 7}};
    one["status"] = random.Below(2) == 0 ? "True" : "False";
    one["lastTransitionTime"] = FormatTime(kNow - static_cast<UnixSeconds>(random.Below(99)));
    workload["status"]["conditions"].push_back(std::move(one));
  }
  return workload;
}

std::map<std::string, Json> ConditionsOf(const Json& workload) {
  std::map<std::string, Json> all;
  for (const Json& one : workload.at("status").at("conditions")) all[one.at("type")] = one;
  return all;
}

// After the patch nothing is another than before, except what was meant.
void Expect(const Json& before, const std::optional<WriteWorkload>& write,
            const std::map<std::string, std::string>& meant) {
  if (!write) return;
  Json after = before;
  after.merge_patch(*write->patch);
  auto expected = ConditionsOf(before), now = ConditionsOf(after);
  for (const auto& [type, status] : meant) {
    ASSERT_EQ(now[type].value("status", ""), status) << type;
    expected[type] = now[type];
  }
  ASSERT_EQ(now, expected);
  for (const char* field : {"conditions", "admission", "accumulatedPastExecutionTimeSeconds"}) {
    after["status"].erase(field);
  }
  Json rest = before;
  for (const char* field : {"conditions", "admission"}) rest["status"].erase(field);
  ASSERT_EQ(after, rest);
}

TEST(QueuePatchesTest, ChangeTheirConditionsAndLeaveThoseOfOthers) {
  SplitMix64 random(1);
  for (int i = 0; i < 2'000; ++i) {
    const Json stored = AnyWorkload(random);
    const api::Workload workload = *api::DecodeWorkload(stored, "test");
    const bool ready = random.Below(2) == 0;
    Expect(stored, PatchPodsReady(workload, ready, kNow),
           {{"PodsReady", ready ? "True" : "False"}});
    Expect(stored, ForgetPodsReady(workload, kNow), {{"PodsReady", "False"}});
    Expect(stored, PatchFinished(workload, ready, "why", kNow), {{"Finished", "True"}});

    const WriteWorkload released = ReleaseQuota(workload, kNow);
    std::map<std::string, std::string> meant = {{"Requeued", "True"}, {"QuotaReserved", "False"}};
    for (const api::Condition& was : workload.conditions) {
      if (was.type == "Admitted" && was.status == "True") meant["Admitted"] = "False";
      if (was.type == "PodsReady") meant["PodsReady"] = "False";
    }
    Expect(stored, released, meant);
    Json after = stored;
    after.merge_patch(*released.patch);
    ASSERT_FALSE(after["status"].contains("admission"));
  }
}

TEST(QueuePatchesTest, SetOneFieldOfTheRest) {
  SplitMix64 random(1);
  const Json stored = AnyWorkload(random);
  const api::Workload workload = *api::DecodeWorkload(stored, "test");
  const auto patched = [&](const WriteWorkload& write) {
    Json after = stored;
    after.merge_patch(*write.patch);
    return after;
  };
  Json expected = stored;
  expected["metadata"]["finalizers"] = {"others"};
  EXPECT_EQ(patched(RemoveWorkloadFinalizer(workload)), expected);
  expected = stored;
  expected["spec"]["queueName"] = "another";
  EXPECT_EQ(patched(MoveToQueue(workload, "another")), expected);
  expected = stored;
  expected["spec"]["active"] = false;
  EXPECT_EQ(patched(Deactivate(workload)), expected);
}

}  // namespace
}  // namespace weft::life
