#include <gtest/gtest.h>

#include <string>

#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

Json Quota(const char* pods, const char* used) {
  return {{"metadata", {{"name", "few"}, {"namespace", "ns"}}},
          {"spec", {{"hard", {{"pods", pods}}}}},
          {"status", {{"hard", {{"pods", pods}}}, {"used", {{"pods", used}}}}}};
}

// A leader of one job of three workers; the watch is always up to date.
class JobQuotaTest : public ::testing::Test {
 protected:
  JobQuotaTest() {
    api_.watch = [this](Kind kind, const api::ObjectKey& key, const Json& object) {
      leader_.See(kind, key, object);
    };
    api_.Apply(Kind::kTrainingJob, JobObject("Torch"));
  }
  void Pass(int times = 12) {
    for (int i = 0; i < times; ++i) {
      EXPECT_TRUE(leader_.jobs.Reconcile(kJob));
      leader_.planner.Pass();
    }
  }
  std::string Condition(const std::string& type) {
    for (const Json& one : api_.At(Kind::kTrainingJob, "llama")["status"]["conditions"]) {
      if (one["type"] == type)
        return one["status"].get<std::string>() + ": " + one.value("message", "");
    }
    return "";
  }

  UnixSeconds now_ = kStart;
  Events events_;
  FakeApi api_{[this] { return now_; }};
  Leader leader_{api_, now_, events_};
};

TEST_F(JobQuotaTest, NothingIsCreatedForAGangThatItsQuotaHasNoRoomFor) {
  api_.Apply(Kind::kResourceQuota, Quota("4", "2"));
  Pass();
  EXPECT_EQ(Condition("Accepted"),
            "False: 3 workers at once: exceeded quota: few, requested: pods=3, used: pods=2, "
            "limited: pods=4");
  EXPECT_TRUE(api_.counts.empty());
}

TEST_F(JobQuotaTest, AQuotaThatGrowsIsSeenAtTheNextTrial) {
  api_.Apply(Kind::kResourceQuota, Quota("4", "2"));
  Pass();
  api_.Apply(Kind::kResourceQuota, Quota("5", "2"));
  now_ += 2;
  Pass();
  EXPECT_EQ(api_.counts["create Pod"], 3);
}

TEST_F(JobQuotaTest, OneThatShrankMeanwhileIsLookedAtBeforeTheNextAttempt) {
  api_.refuse = [this](Kind kind, const Json& object) -> std::optional<std::string> {
    const bool second = kind == Kind::kPod && object["metadata"]["name"] == "llama-1-1";
    if (!second) return std::nullopt;
    api_.Apply(Kind::kResourceQuota, Quota("1", "0"));
    return "exceeded quota: few";
  };
  Pass(20);
  EXPECT_EQ(api_.counts["create Placement"], 1);
  now_ += 60;
  Pass();
  EXPECT_EQ(api_.counts["create Placement"], 1);
  EXPECT_EQ(Condition("Accepted"),
            "False: 3 workers at once: exceeded quota: few, requested: pods=3, used: pods=0, "
            "limited: pods=1");
}

}  // namespace
}  // namespace weft::controllers
