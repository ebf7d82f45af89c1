#include "operator/report/lint.h"
#include "operator/cluster/note.h"
#include "operator/plan/plan.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "operator/plan/solver_crash.h"
#include "operator/predict/learned.h"
#include "operator/predict/step_metric.h"
#include "operator/report/compare.h"
#include "operator/report/explain.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"

namespace weft::report {
namespace {

using cluster::Cluster;
using plan::Plan;
using testing::FourNodes;
using testing::MeasuredData;
using testing::Scene;

struct LintCase {
  const char* name;
  std::function<void(testing::Scene&)> arrange;
  std::vector<std::string> findings;  // "severity reason field"
  bool never_fits = false;
  bool invalid = false;
};

class LintTest : public ::testing::TestWithParam<LintCase> {};

TEST_P(LintTest, SaysWhatIsWrongOrWasteful) {
  testing::Scene scene(testing::FourNodes());
  GetParam().arrange(scene);
  const LintReport report = Lint(scene.Build());
  std::vector<std::string> findings;
  for (const Finding& finding : report.findings) {
    findings.push_back(std::string(cluster::SeverityName(finding.severity)) + " " + finding.reason +
                       " " + finding.field);
  }
  EXPECT_EQ(findings, GetParam().findings);
  EXPECT_EQ(report.never_fits, GetParam().never_fits);
  EXPECT_EQ(report.invalid, GetParam().invalid);
}

// A job that no rule has anything to say about.
api::TrainingJob& Clean(testing::Scene& scene, std::uint32_t replicas) {
  api::TrainingJob& job = scene.Job("j", replicas);
  job.expected_duration_seconds = 100;
  job.model = testing::MeasuredData(1000);
  return job;
}

const LintCase kLintCases[] = {
    {"NothingToSay", [](testing::Scene& s) { Clean(s, 2); }, {}},
    {"ATensorGroupWiderThanANode",
     [](testing::Scene& s) { Clean(s, 2).parallelism.tensor = 16; },
     {"warning TensorLeavesScaleUp spec.parallelism.tensor"}},
    {"ATaintThatAdmissionMayTolerate",
     [](testing::Scene& s) {
       Clean(s, 1);
       for (std::size_t n = 0; n < s.inputs.nodes.size(); ++n) {
         s.inputs.nodes.Edit(n).facts.taints = {{"nvidia.com/gpu", "present", "NoSchedule"}};
       }
     },
     {"warning TaintNotTolerated spec.workers"}},
    {"AGangOnTimeSlices",
     [](testing::Scene& s) {
       Clean(s, 2);
       for (std::size_t n = 0; n < s.inputs.nodes.size(); ++n) {
         s.inputs.nodes.Edit(n).facts.labels.Set("nvidia.com/gpu.replicas", "4");
       }
     },
     {"warning PartsOfAccelerators spec.accelerator.resourceName"}},
    {"AGangThatMayGetMigSlices",
     [](testing::Scene& s) {
       Clean(s, 2);
       s.inputs.nodes.Edit(0).facts.labels.Set("nvidia.com/gpu.product", "NVIDIA-A30-MIG-1g.6gb");
     },
     {"warning PartsOfAccelerators spec.accelerator.resourceName"}},
    {"ASingleRankOnATimeSlice",
     [](testing::Scene& s) {
       api::TrainingJob& job = s.Job("j", 1, 1);
       job.expected_duration_seconds = 100;
       for (std::size_t n = 0; n < s.inputs.nodes.size(); ++n) {
         s.inputs.nodes.Edit(n).facts.labels.Set("nvidia.com/gpu.replicas", "4");
       }
     },
     {}},
    {"AJobThatNeverFits",
     [](testing::Scene& s) { Clean(s, 5); },
     {"error NeverFits spec.workers"},
     true},
    {"AJobThatFitsOnceANodeIsBack",
     [](testing::Scene& s) {
       Clean(s, 4);
       s.inputs.nodes.Edit(0).facts.unschedulable = true;
     },
     {"warning NodesUnavailable spec.workers"}},
    {"AJobThatNeverFitsWhateverComesBack",
     [](testing::Scene& s) {
       Clean(s, 5);
       s.inputs.nodes.Edit(0).facts.unschedulable = true;
     },
     {"error NeverFits spec.workers"},
     true},
    {"ALevelThatIsTooNarrowForever",
     [](testing::Scene& s) { Clean(s, 3).topology.required = "leaf"; },
     {"error NeverFits spec.topology.required"},
     true},
    {"AJobOnWhichTheSolverCrashedTwice",
     [](testing::Scene& s) {
       api::TrainingJob& job = Clean(s, 5);  // never fits, which the solver would have to say
       for (int i = 0; i < 2; ++i) plan::RecordCrash(job.conditions, 0, {"0.1.0", 11}, 0);
     },
     {"error SolverFailed status.conditions"}},
    {"AnUnknownLevel",
     [](testing::Scene& s) { Clean(s, 2).topology.required = "rack"; },
     {"error Invalid spec.topology.required"},
     false,
     true},
    {"AcceleratorsLeftOver",
     [](testing::Scene& s) {
       api::TrainingJob& job = Clean(s, 2);
       job.accelerator.per_worker = 3;
       job.pod.requests = {{testing::kGpu, 3}};
     },
     {"warning StrandedAccelerators spec.accelerator.perWorker"}},
    {"TooMuchCpuForAllAccelerators",
     [](testing::Scene& s) {
       api::TrainingJob& job = Clean(s, 4);
       job.accelerator.per_worker = 2;
       job.pod.requests = {{testing::kGpu, 2}, {"cpu", 40'000}};
     },
     {"warning StrandedByRequests spec.workers.template.spec.containers"}},
    {"OneHostPortANodeForAllAccelerators",
     [](testing::Scene& s) {
       api::TrainingJob& job = Clean(s, 4);
       job.accelerator.per_worker = 2;
       job.pod.requests = {{testing::kGpu, 2}};
       fabric::PodTerms terms;
       terms.host_ports = {{"TCP", "", 2222}};
       job.pod.terms = terms;
     },
     {"warning StrandedByRules spec.workers.template.spec"}},
    {"OneHostPortANodeAndTooMuchCpu",
     [](testing::Scene& s) {
       api::TrainingJob& job = Clean(s, 4);
       job.accelerator.per_worker = 2;
       job.pod.requests = {{testing::kGpu, 2}, {"cpu", 60'000}};
       fabric::PodTerms terms;
       terms.host_ports = {{"TCP", "", 2222}};
       job.pod.terms = terms;
     },
     {"warning StrandedByRequests spec.workers.template.spec.containers"}},
    {"MoreWorkersThanOneVariableHolds",
     [](testing::Scene& s) {
       api::TrainingJob& job = Clean(s, 2);
       job.framework = {};
       job.framework.type = api::FrameworkType::kTensorFlow;
       job.meta.key.name = std::string(40, 'a');
       job.replicas = 1'400;
     },
     {"error NeverFits spec.workers", "error TooManyWorkers spec.workers.replicas"},
     true},
    {"WorkersThatShareOneClaim",
     [](testing::Scene& s) {
       Clean(s, 2).claims = {{"one", ""}, {"", "each"}, {"one", ""}};
     },
     {"warning SharedClaim spec.workers.template.spec.resourceClaims"}},
    {"ASelectorThatIsNotEvaluated",
     [](testing::Scene& s) {
       Clean(s, 2).claims = {{"", "cards"}};
       const auto parsed = [](const char* text) { return nlohmann::json::parse(text); };
       s.inputs.claim_templates.push_back(*api::DecodeClaimTemplate(
           parsed(R"({"metadata": {"name": "cards", "namespace": "ns"}, "spec": {"spec": {
               "devices": {"requests": [{"name": "card", "exactly": {"deviceClassName": "nic",
               "selectors": [{"cel": {"expression": "device.name == 'x'"}}]}}]}}}})"),
           "f"));
     },
     {"info SelectorNotEvaluated spec.workers.template.spec.resourceClaims"}},
    {"OneWorkerWithAClaim",
     [](testing::Scene& s) {
       Clean(s, 1).claims = {{"one", ""}};
     },
     {}},
    {"APriorityClassThatPreempts",
     [](testing::Scene& s) {
       Clean(s, 2).priority_class_name = "high";
       api::PriorityClass high;
       high.meta.key.name = "high";
       s.inputs.priority_classes.push_back(high);
     },
     {"warning Preempts spec.workers.template.spec.priorityClassName"}},
    {"NoDurationAndNoModel",
     [](testing::Scene& s) { s.Job("j", 2); },
     {"info NoExpectedDuration spec.expectedDurationSeconds", "info NoModel spec.model"}},
};
INSTANTIATE_TEST_SUITE_P(Findings, LintTest, ::testing::ValuesIn(kLintCases),
                         [](const auto& one) { return std::string(one.param.name); });

// Llama-3 70B on four nodes of H100, by its sharding and its pipeline.
testing::Scene LlamaOnH100(traffic::Sharding sharding, std::int64_t pipeline, std::int64_t batch) {
  testing::FabricShape shape = testing::FourNodes();
  for (auto& node : shape.nodes) node.labels["nvidia.com/gpu.product"] = "NVIDIA-H100-80GB-HBM3";
  testing::Scene scene(shape);
  api::TrainingJob& job = Clean(scene, 4);
  job.model = traffic::Model{traffic::testing::Llama70B(), {}};
  job.model->transformer->global_batch_size = batch;
  job.parallelism.tensor = 8;
  job.parallelism.pipeline = pipeline;
  job.parallelism.sharding = sharding;
  return scene;
}

TEST(Lint, SaysThatAModelDoesNotFitAndWhatWould) {
  const LintReport report = Lint(LlamaOnH100(traffic::Sharding::kNone, 1, 512).Build());
  ASSERT_EQ(report.findings.size(), 1u);
  const Finding& finding = report.findings[0];
  EXPECT_EQ(finding.reason, "DoesNotFit");
  EXPECT_EQ(finding.severity, cluster::Severity::kError);
  EXPECT_EQ(finding.field, "spec.model.transformer");
  EXPECT_NE(finding.message.find("H100 has 80.39 GB for it"), std::string::npos) << finding.message;
  EXPECT_NE(finding.message.find("optimizer 105.9 GB"), std::string::npos) << finding.message;
  EXPECT_NE(finding.message.find("It fits in "), std::string::npos) << finding.message;
  EXPECT_TRUE(report.never_fits);
}

TEST(Lint, SaysThatTheAcceleratorIsUnknownAndNothingOfMemory) {
  testing::Scene scene = LlamaOnH100(traffic::Sharding::kNone, 1, 512);
  for (std::size_t n = 0; n < scene.inputs.nodes.size(); ++n) {
    scene.inputs.nodes.Edit(n).facts.labels.Set("nvidia.com/gpu.product", "NVIDIA-H900");
  }
  const LintReport report = Lint(scene.Build());
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].severity, cluster::Severity::kWarning);
  EXPECT_EQ(report.findings[0].reason, "UnknownAccelerator");
  EXPECT_NE(report.findings[0].message.find("label nvidia.com/gpu.product: unknown accelerator "
                                            "\"NVIDIA-H900\"; the nearest known are H200 and H100"),
            std::string::npos)
      << report.findings[0].message;
  EXPECT_FALSE(report.never_fits);
}

TEST(Lint, WarnsOfAPrecisionThatNoNodeHasAUnitFor) {
  testing::Scene scene = LlamaOnH100(traffic::Sharding::kFull, 1, 512);
  scene.inputs.jobs.Edit(0).model->transformer->precision = traffic::Precision::kNVFP4;
  const LintReport report = Lint(scene.Build());
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].reason, "UnsupportedPrecision");
  EXPECT_EQ(report.findings[0].field, "spec.model.transformer.precision");
  EXPECT_EQ(report.findings[0].message,
            "H100 has no unit for NVFP4, only for FP32, TF32, FP16, BF16, FP8 and MXFP8");
}

TEST(Lint, WarnsOfSettingsThatTrainingSoftwareRefuses) {
  testing::Scene scene = LlamaOnH100(traffic::Sharding::kFull, 1, 512);
  traffic::Transformer& model = *scene.inputs.jobs.Edit(0).model->transformer;
  model.key_value_heads = 4;
  model.parameters = 7'000'000'000;
  const LintReport report = Lint(scene.Build());
  std::vector<std::string> said;
  for (const Finding& finding : report.findings) {
    EXPECT_EQ(finding.severity, cluster::Severity::kWarning);
    said.push_back(finding.reason + " " + finding.field + ": " + finding.message);
  }
  EXPECT_EQ(said, (std::vector<std::string>{
                      "RefusedLayout spec.parallelism.tensor: 8 does not divide keyValueHeads 4; "
                      "Megatron-LM refuses it",
                      "UnlikelyParameters spec.model.transformer.parameters: 7000000000, but "
                      "layers 80, hiddenSize 8192 and the other sizes make about 68.8 billion"}));
  EXPECT_FALSE(report.never_fits);
}

TEST(Lint, WarnsOfAStepMetricThatIsNoName) {
  testing::Scene scene = LlamaOnH100(traffic::Sharding::kFull, 1, 512);
  api::TrainingJob& job = scene.inputs.jobs.Edit(0);
  job.meta.annotations.Set(predict::kStepMetricAnnotation, "avg(step)");
  const LintReport report = Lint(scene.Build());
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].reason, "StepMetricInvalid");
  EXPECT_EQ(report.findings[0].field, "metadata.annotations[weft.dev/step-metric]");
  EXPECT_TRUE(report.findings[0].message.starts_with("\"avg(step)\" must be the name of a metric"))
      << report.findings[0].message;
  EXPECT_FALSE(report.never_fits);
}

TEST(Lint, WarnsOfAMeasuredStepThatIsNoNumber) {
  testing::Scene scene = LlamaOnH100(traffic::Sharding::kFull, 1, 512);
  api::TrainingJob& job = scene.inputs.jobs.Edit(0);
  job.meta.annotations.Set(predict::kMeasuredStepAnnotation, "12s");
  const LintReport report = Lint(scene.Build());
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].reason, "MeasuredStepInvalid");
  EXPECT_EQ(report.findings[0].field, "metadata.annotations[weft.dev/measured-step-seconds]");
  EXPECT_NE(report.findings[0].message.find("\"12s\" must be a number of seconds above 0"),
            std::string::npos)
      << report.findings[0].message;
  EXPECT_FALSE(report.never_fits);
}

TEST(Lint, WarnsOfAPipelineThatWaitsAndNamesTheSettingThatHalvesIt) {
  // A smaller model, which fits without sharded weights.
  const auto report = [](std::int64_t batch) {
    testing::Scene scene = LlamaOnH100(traffic::Sharding::kOptimizerState, 4, batch);
    traffic::Transformer& model = *scene.inputs.jobs.Edit(0).model->transformer;
    model.layers = 40;
    model.parameters = 36'000'000'000;
    model.recomputation = traffic::Recomputation::kFull;
    return Lint(scene.Build());
  };
  const LintReport idle = report(16);
  ASSERT_EQ(idle.findings.size(), 1u) << idle.findings.back().message;
  EXPECT_EQ(idle.findings[0].reason, "PipelineBubble");
  EXPECT_EQ(idle.findings[0].message,
            "4 stages with 16 micro-batches a step are idle 16 % of the time; "
            "virtualPipeline: 5 makes it 4 %");
  EXPECT_FALSE(idle.never_fits);
  // 3 of 67: a twentieth.
  EXPECT_TRUE(report(64).findings.empty());
}

TEST(Lint, SaysThatNothingHalvesAPipelinesWait) {
  testing::Scene scene = LlamaOnH100(traffic::Sharding::kOptimizerState, 4, 1);
  traffic::Transformer& model = *scene.inputs.jobs.Edit(0).model->transformer;
  model.layers = 4;  // no virtual stages
  model.parameters = 5'500'000'000;
  const LintReport idle = Lint(scene.Build());
  ASSERT_EQ(idle.findings.size(), 1u) << idle.findings.front().message;
  EXPECT_EQ(idle.findings[0].message,
            "4 stages with 1 micro-batch a step are idle 75 % of the time; the best change, "
            "globalBatchSize: 4, makes it 43 %; none halves it");
}

TEST(Lint, WarnsOfAModelThatNoNodeIsOf) {
  testing::Scene scene(testing::ThreeProducts());
  scene.Job("j", 1).accelerator.models = {"H300", "H100", "Any"};
  const LintReport report = Lint(scene.Build());
  std::vector<std::string> said;
  for (const Finding& finding : report.findings) {
    if (finding.reason == "UnknownModel") said.push_back(finding.field + ": " + finding.message);
  }
  EXPECT_EQ(said,
            (std::vector<std::string>{
                "spec.accelerator.models[0]: \"H300\" matches no product of this fabric, which "
                "has A100-SXM4-80GB, NVIDIA-H100-80GB-HBM3, NVIDIA-H200"}));
}

TEST(Compare, EachPolicyRunsItsOwnQueue) {
  // First fit takes n0 (half used) first and splits every job over two leaves.
  testing::Scene scene(testing::Leaves({{8, 8}, {8, 8}}));
  scene.Pod("used", "n0");
  scene.Job("a", 2).model = testing::MeasuredData(1'000'000'000);
  scene.Job("b", 1).model = testing::MeasuredData(1'000'000'000);
  const Cluster cluster = scene.Build();
  const auto plan = Plan(cluster);
  ASSERT_TRUE(plan);
  const CompareReport report = Compare(cluster, *plan);
  ASSERT_EQ(report.jobs.size(), 2U);
  EXPECT_EQ(report.placed, (std::array<std::size_t, kPolicies>{2, 2, 2, 2}));
  EXPECT_EQ(report.compared, 2U);
  const auto& total = report.total;
  EXPECT_EQ(total[0].cost_percent, 100);
  EXPECT_EQ(total[1].cost_percent, 200);  // n1 and n2: across leaves
  EXPECT_EQ(total[2].cost_percent, 100);
  EXPECT_EQ(static_cast<std::int64_t>(total[1].levels[2].crossing), 2'000'000'000);
}

TEST(Explain, SaysWhyHereAndWhatTheRunnerUpCosts) {
  testing::Scene scene(testing::FourNodes());
  scene.Pod("used", "n0");
  scene.Job("a", 2).model = testing::MeasuredData(1'000'000'000);
  const Cluster cluster = scene.Build();
  const auto plan = Plan(cluster);
  ASSERT_TRUE(plan);
  const auto all = Explain(cluster, *plan, {"ns/a"});
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 1U);
  const Explanation& one = all->front();
  ASSERT_EQ(one.cost.size(), 1U);
  EXPECT_EQ(one.cost[0].level, "leaf");
  EXPECT_EQ(one.cost[0].cost, one.total_cost);
  EXPECT_EQ(one.over_lower_bound_percent, 100);
  EXPECT_FALSE(Explain(cluster, *plan, {"nobody"}));
}

TEST(Explain, SaysWhyNotDomainByDomain) {
  testing::Scene scene(testing::FourNodes());
  scene.Pod("p", "n0");
  scene.Pod("q", "n2");
  scene.Job("a", 2).topology.required = "leaf";
  const Cluster cluster = scene.Build();
  const auto plan = Plan(cluster);
  ASSERT_TRUE(plan);
  const auto all = Explain(cluster, *plan, {});
  ASSERT_TRUE(all);
  const Explanation& one = all->front();
  EXPECT_EQ(one.level, "leaf");
  ASSERT_EQ(one.domains.size(), 2U);
  EXPECT_EQ(one.domains[0].sentence,
            "l0: room for 1 of 2 workers on 2 nodes; 1 of 2 lacks free nvidia.com/gpu.");
  ASSERT_EQ(one.relaxations.size(), 1U);
  EXPECT_EQ(one.relaxations[0].change, "leaf -> spine");
}

// Of pods of another controller, whose PodGroup has a rule that Weft does not follow.
TEST(LintPodGroups, OneDomainThatThePlacementDoesNotRequireIsToldOf) {
  testing::Scene scene(testing::FourNodes());
  api::Placement& placement = scene.Placement("p", 2);
  placement.pod_selector.emplace().match_labels = {{"app", "x"}};
  for (const char* name : {"a", "b"}) {
    api::Pod& pod = scene.Pod(name, "", {{"app", "x"}});
    pod.scheduling_gates = {"weft.dev/placement"};
    pod.pod_group = "g";
  }
  api::PodGroup group;
  group.meta.key = {"ns", "g"};
  scene.inputs.pod_groups.push_back(group);
  const auto warns = [&] {
    const LintReport report = Lint(scene.Build());
    return std::any_of(report.findings.begin(), report.findings.end(),
                       [](const Finding& one) { return one.reason == "PodGroupTopology"; });
  };
  EXPECT_FALSE(warns());
  scene.inputs.pod_groups.Edit(0).topology_key = "test/leaf";
  EXPECT_TRUE(warns());
  scene.inputs.placements.Edit(0).topology.required =
      scene.inputs.fabrics.front().spec.levels.back().name;
  EXPECT_FALSE(warns());
}

}  // namespace
}  // namespace weft::report
