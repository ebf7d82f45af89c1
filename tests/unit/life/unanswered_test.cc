#include "operator/life/unanswered.h"

#include <gtest/gtest.h>

namespace weft::life {
namespace {

constexpr UnixSeconds kNow = 1'800'000'000;

class UnansweredTest : public ::testing::Test {
 protected:
  UnansweredTest() {
    job_.placement_name = "llama-1";
    placement_.meta.key.name = "llama-1";
    placement_.conditions = {{"Placed", "True", "Placed", "on leaf-3", ""}};
    view_.job = &job_;
    view_.placements = {&placement_};
    view_.service = true;
    view_.now = kNow;
    Set("Placed", "True", "Placed");
  }
  void Set(const char* type, const char* status, const char* reason) {
    job_.conditions.push_back({type, status, reason, "m", FormatTime(kNow - 60)});
  }
  // The reason and the message of Placed afterwards, and makes it the job's; "" if nothing is
  // written.
  std::string Take(const std::optional<JobStatus>& status) {
    if (!status) return "";
    job_.conditions = status->conditions;
    const api::Condition& placed = *FindCondition(*status, "Placed");
    return placed.status + " " + placed.reason + ": " + placed.message;
  }

  api::TrainingJob job_;
  api::Placement placement_;
  JobView view_;
};

TEST_F(UnansweredTest, AJobWithNodesSaysSoOnceAndUntilAllIsWritten) {
  EXPECT_EQ(Take(AfterWritten(view_)), "");
  EXPECT_EQ(Take(AfterUnanswered(view_, "403 no")),
            "True NotWritten: Weft cannot write what this job needs: 403 no");
  EXPECT_EQ(FindCondition(StatusOf(job_), "Placed")->last_transition_time, FormatTime(kNow - 60));
  EXPECT_EQ(Take(AfterUnanswered(view_, "403 not again")), "");
  EXPECT_EQ(Take(AfterWritten(view_)), "True Placed: on leaf-3");
}

TEST_F(UnansweredTest, OneThatLacksItsServiceSaysSoUntilItIsThere) {
  view_.service = false;
  Take(AfterUnanswered(view_, "403 no"));
  EXPECT_EQ(Take(AfterWritten(view_)), "");
  view_.service = true;
  view_.placements.clear();  // somebody has deleted it
  EXPECT_EQ(Take(AfterWritten(view_)), "True Placed: see Placement llama-1");
}

TEST_F(UnansweredTest, OneThatHasEndedNeedsNoService) {
  view_.service = false;
  Take(AfterUnanswered(view_, "403 no"));
  Set("Complete", "True", "Succeeded");
  EXPECT_EQ(Take(AfterWritten(view_)), "True Placed: on leaf-3");
}

TEST_F(UnansweredTest, ADeletedJobSaysWhatKeepsItsPods) {
  job_.meta.deleting = true;
  EXPECT_NE(Take(AfterUnanswered(view_, "403 no")), "");
}

TEST_F(UnansweredTest, OfASpecThatCannotBeReadNothingElseChanges) {
  job_.unreadable = "spec.workers";
  EXPECT_EQ(Take(AfterUnanswered(view_, "403 no")), "");
}

TEST_F(UnansweredTest, AJobWithoutNodesSaysSoUnlessItWaitsForNothing) {
  job_.conditions.clear();
  EXPECT_EQ(Take(AfterUnanswered(view_, "403 no")),
            "False NotWritten: Weft cannot write what this job needs: 403 no");
  EXPECT_EQ(Take(AfterWritten(view_)), "");  // the next answer replaces it
  job_.conditions.clear();
  Set("Suspended", "True", "Suspended");
  EXPECT_EQ(Take(AfterUnanswered(view_, "403 no")), "");
}

TEST_F(UnansweredTest, OneThatIsTakenDownNeedsNoService) {
  view_.service = false;
  Set("Restarting", "True", "NodeLost");
  Take(AfterUnanswered(view_, "403 no"));
  EXPECT_EQ(Take(AfterWritten(view_)), "True Placed: on leaf-3");
}

// Else the two reasons would be written in turn, for ever.
TEST_F(UnansweredTest, OneThatGivesItsQuotaBackKeepsSayingWhy) {
  job_.conditions.clear();
  Set("Placed", "False", "AssignmentRefused");
  EXPECT_EQ(Take(AfterUnanswered(view_, "403 no")), "");
}

TEST_F(UnansweredTest, TheTimeInAQueueIsNotTimeWithoutNodes) {
  job_.conditions.clear();
  Set("Placed", "False", "QuotaPending");
  EXPECT_EQ(Take(AfterUnanswered(view_, "403 no")),
            "Unknown NotWritten: Weft cannot write what this job needs: 403 no");
  EXPECT_EQ(FindCondition(StatusOf(job_), "Placed")->last_transition_time, FormatTime(kNow));
  EXPECT_EQ(Take(AfterUnanswered(view_, "403 not again")), "");
}

}  // namespace
}  // namespace weft::life
