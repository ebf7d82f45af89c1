#include "operator/render/outlook_text.h"

#include <gtest/gtest.h>

#include "tests/unit/render/planned.h"

namespace weft::render {
namespace {

// A job whose prediction is made of whole numbers.
report::JobOutlook Job(const std::string& name, bool fits) {
  outlook::Prediction one;
  one.memory = {10e9, 20e9, 30e9, fits ? 5e9 : 50e9, 5e9};
  one.capacity = 100e9;
  one.fits = fits;
  if (!fits) one.change = outlook::Change{"sharding: Full", 60e9};
  one.step.compute = one.step.matrices = 8;
  one.step.bubble = 1;
  one.step.exposed[static_cast<std::size_t>(traffic::Axis::kTensor)] = 1;
  one.mfu = 0.42;
  one.tokens_per_second = 1234567;
  one.watts = 2.55e6;
  one.calibration = &outlook::FindCalibration("Hopper BF16, FSDP");
  one.error = 0.08;
  report::JobOutlook job;
  job.job = name;
  job.accelerator = "H100";
  job.accelerators = 1024;
  job.prediction = one;
  return job;
}

TEST(OutlookTextTest, AJobIsALineAndWhatItsNumbersRestOn) {
  report::OutlookReport report;
  report.jobs.push_back(Job("team-a/llama", true));
  EXPECT_EQ(OutlookText(report, Plain(100)),
            "JOB           ACCELERATORS  MEMORY  STEP  ERROR  EXPOSED  BUBBLE   MFU   TOKENS/S   "
            "POWER  BOUND BY\n"
            "team-a/llama  1,024 x H100    70 %  10 s  +-8 %     10 %    10 %  42 %  1,234,567  "
            "2.6 MW  compute\n"
            "\n"
            "Predicted with these calibrations (operator/docs/outlook.md):\n"
            "  Hopper BF16, FSDP: every other H100 BF16 row of llm-foundry's FSDP table.\n");
}

TEST(OutlookTextTest, ShowsMemoryPartsAndAFittingChangeIfAJobDoesNotFit) {
  report::OutlookReport report;
  report.jobs.push_back(Job("team-a/llama", false));
  const std::string text = OutlookText(report, Plain(200));
  EXPECT_NE(
      text.find("team-a/llama does not fit: a GPU would hold 115 GB (weights 10 GB, gradients "
                "20 GB, optimizer 30 GB, activations 50 GB, other 5 GB) and has 100 GB. It "
                "fits in 60 GB with sharding: Full."),
      std::string::npos)
      << text;
}

TEST(OutlookTextTest, ShowsWhatTrainingSoftwareRefuses) {
  report::OutlookReport report;
  report.jobs.push_back(Job("team-a/llama", true));
  report.jobs[0].notes = {"spec.parallelism.tensor: 8 does not divide attentionHeads 60"};
  const std::string text = OutlookText(report, Plain(200));
  EXPECT_NE(text.find("\nteam-a/llama: spec.parallelism.tensor: 8 does not divide attentionHeads "
                      "60.\n"),
            std::string::npos)
      << text;
}

TEST(OutlookTextTest, CalibrationsAreNamedOnceWithTheirError) {
  outlook::Prediction one;
  one.calibration = &outlook::FindCalibration("Assumed");
  one.error = 0.4;
  EXPECT_EQ(CalibrationText(one, true),
            "Assumed (+-40 %): no measurement of this accelerator at this precision.");
  one.calibration = &outlook::FindCalibration("Hopper BF16, FSDP");
  one.calibrated_as = "H100";
  one.error = 0.25;
  EXPECT_EQ(CalibrationText(one, true),
            "Hopper BF16, FSDP, calibrated as H100 (+-25 %): every other H100 BF16 row of "
            "llm-foundry's FSDP table.");
}

TEST(OutlookTextTest, WithoutJobsItSaysThat) {
  EXPECT_EQ(OutlookText({}, Plain()), "No job to predict.\n");
}

}  // namespace
}  // namespace weft::render
