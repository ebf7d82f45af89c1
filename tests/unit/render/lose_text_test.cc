#include "operator/render/lose_text.h"

#include <gtest/gtest.h>

namespace weft::render {
namespace {

report::LoseReport Losing(report::LossOutcome outcome) {
  report::LoseReport report;
  report.lost = {"n1"};
  report::JobLoss job;
  job.job = "team-a/x";
  job.workers = 8;
  job.lost = 1;
  job.outcome = outcome;
  job.cost_after = 0;
  job.spans_before = job.spans_after = "8 node";
  job.moves = {{3, "n1", "n9", false}};
  report.jobs = {job};
  return report;
}

std::string FirstLine(const report::LoseReport& report) {
  const std::string text = LoseText(report, {});
  return text.substr(0, text.find('\n'));
}

TEST(LoseText, SaysWhatWouldBeEnoughAndWhatTheOperatorDoesToday) {
  report::LoseReport report = Losing(report::LossOutcome::kReplaced);
  EXPECT_EQ(FirstLine(report),
            "team-a/x: loses 1 of 8 workers; 1 replacement is enough: the others could keep their "
            "nodes");
  EXPECT_NE(LoseText(report, {}).find("(Recreate)"), std::string::npos);
  report.jobs[0].moves.push_back({4, "n2", "n8", true});
  EXPECT_EQ(FirstLine(report),
            "team-a/x: loses 1 of 8 workers; 1 replacement and moves of 1 healthy worker are "
            "enough: the others could keep their nodes");
  EXPECT_EQ(FirstLine(Losing(report::LossOutcome::kNotComputed)),
            "team-a/x: loses 1 of 8 workers, whether replacements are enough was not computed");
}

TEST(LoseText, DoesNotSayThatNobodyLosesANodeIfSomebodyDoes) {
  report::LoseReport report;
  report.lost = {"n1"};
  EXPECT_EQ(LoseText(report, {}), "No running job has a worker on this node.\n");
  report.left_out = 1;
  EXPECT_EQ(LoseText(report, {}),
            "No job that is asked for has a worker on this node.\n"
            "1 workload that is not shown loses a node too.\n");
  report.left_out = 0;
  report.others = {{"Job", "ns/etl"}};
  EXPECT_NE(LoseText(report, {}).find("Job ns/etl"), std::string::npos);
}

}  // namespace
}  // namespace weft::render
