#include "operator/report/lint_outlook.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "operator/cluster/note.h"
#include "operator/cluster/pool_choices.h"
#include "operator/outlook/bubble.h"
#include "operator/outlook/change.h"
#include "operator/outlook/memory.h"
#include "operator/outlook/refusals.h"
#include "operator/predict/predict.h"
#include "operator/predict/step_metric.h"

namespace weft::report {
namespace {

using cluster::Severity;
using Findings = std::vector<Finding>;

// From this share of waiting on, the pipeline is a finding.
constexpr double kIdleShare = 0.1;

const traffic::Transformer* TransformerOf(const LintSubject& subject) {
  const auto& model = *subject.workload.model;
  return model && model->transformer ? &*model->transformer : nullptr;
}

outlook::Layout LayoutOf(const LintSubject& subject) {
  outlook::Layout layout;
  layout.model = *TransformerOf(subject);
  layout.parallelism = *subject.workload.parallelism;
  layout.ranks = subject.problem.traffic.ranks;
  return layout;
}

bool MayUse(const api::Accelerator& accelerator, const std::string& product) {
  const auto& models = accelerator.models;
  return models.empty() || std::any_of(models.begin(), models.end(), [&](const auto& model) {
           return model == api::kAnyPool || cluster::MatchesModel(model, product);
         });
}

// The accelerators that the job may get, one of each pool of nodes, and errors about unknown ones.
std::vector<Result<outlook::Accelerator>> AcceleratorsFor(const LintSubject& subject) {
  std::vector<Result<outlook::Accelerator>> found;
  const fabric::Fabric& fabric = *subject.on.fabric;
  const auto resource = fabric.FindResource(subject.workload.accelerator->resource_name);
  if (!resource) return found;
  std::set<fabric::PoolIndex> seen;
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(fabric.node_count())) {
    const fabric::PoolIndex pool = fabric.pool(n);
    if (fabric.allocatable(n, *resource) == 0 || !seen.insert(pool).second) continue;
    if (!MayUse(*subject.workload.accelerator, fabric.pools()[pool].product)) continue;
    found.push_back(predict::AcceleratorOf(fabric, subject.workload.accelerator->resource_name,
                                           std::span(&n, 1)));
  }
  return found;
}

// Of the accelerators that the job may get, the one with most memory; nothing if one is unknown.
std::optional<outlook::Accelerator> Roomiest(const LintSubject& subject) {
  std::optional<outlook::Accelerator> most;
  for (const auto& one : AcceleratorsFor(subject)) {
    if (!one) return std::nullopt;
    if (!most || one->memory_bytes > most->memory_bytes) most = *one;
  }
  return most;
}

std::string Percent(double share) {
  constexpr double kPercent = 100;
  return std::to_string(std::llround(kPercent * share)) + " %";
}

// What would halve the wait, or the most that can be done.
std::string AdviceOn(const std::optional<outlook::LessIdle>& change) {
  if (!change) return "no setting that training software accepts lessens it";
  const std::string share = Percent(change->share);
  if (change->halves) return change->text + (change->several ? " make it " : " makes it ") + share;
  return "the best change, " + change->text + ", makes it " + share + "; none halves it";
}

// A finding at the annotation with whose place the message begins.
Finding AtAnnotation(const char* reason, const std::string& message, const char* consequence) {
  const std::size_t colon = message.find(": ");
  return {Severity::kWarning, "", message.substr(0, colon), reason,
          message.substr(colon + 2) + consequence};
}

}  // namespace

Findings NotPredictable(const LintSubject& subject) {
  const traffic::Transformer* model = TransformerOf(subject);
  if (model == nullptr) return {};
  Findings findings;
  std::optional<outlook::Accelerator> lacks;
  bool supported = false;
  for (const auto& one : AcceleratorsFor(subject)) {
    if (!one) {
      findings.push_back({Severity::kWarning, "", "spec.model.transformer", "UnknownAccelerator",
                          "nothing is predicted: " + one.error().message});
      continue;
    }
    supported = supported || outlook::PeakRate(*one, model->precision) > 0;
    lacks = *one;
  }
  if (lacks && !supported) {
    findings.push_back({Severity::kWarning, "", "spec.model.transformer.precision",
                        "UnsupportedPrecision", outlook::NoUnitText(*lacks, model->precision)});
  }
  return findings;
}

Findings DoesNotFit(const LintSubject& subject) {
  if (TransformerOf(subject) == nullptr) return {};
  const auto accelerator = Roomiest(subject);
  if (!accelerator) return {};
  const outlook::Layout layout = LayoutOf(subject);
  const outlook::Memory memory = outlook::MemoryOn(layout, *accelerator);
  const double capacity = outlook::UsableMemory(*accelerator);
  if (memory.Total() <= capacity) return {};
  std::string text = predict::DoesNotFitText(outlook::NameOf(*accelerator), memory, capacity,
                                             outlook::SmallestChange(layout, *accelerator));
  return {{Severity::kError, "", "spec.model.transformer", "DoesNotFit", std::move(text)}};
}

Findings RefusedLayout(const LintSubject& subject) {
  if (TransformerOf(subject) == nullptr) return {};
  const outlook::Layout layout = LayoutOf(subject);
  Findings findings;
  for (const outlook::InvalidSetting& one : outlook::InvalidSettings(layout)) {
    findings.push_back(
        {Severity::kWarning, "", std::string(one.field), "RefusedLayout", one.message});
  }
  if (const auto doubt = outlook::UnlikelyParameters(layout.model)) {
    findings.push_back(
        {Severity::kWarning, "", std::string(doubt->field), "UnlikelyParameters", doubt->message});
  }
  return findings;
}

Findings PipelineBubble(const LintSubject& subject) {
  if (TransformerOf(subject) == nullptr) return {};
  const outlook::Layout layout = LayoutOf(subject);
  const double idle = outlook::IdleShare(layout);
  if (idle <= kIdleShare) return {};
  const auto accelerator = Roomiest(subject);
  const auto micro_batches = std::llround(outlook::DegreesOf(layout).micro_batches);
  return {{Severity::kWarning, "", "spec.parallelism.pipeline", "PipelineBubble",
           std::to_string(layout.parallelism.pipeline) + " stages with " +
               std::to_string(micro_batches) +
               (micro_batches == 1 ? " micro-batch" : " micro-batches") + " a step are idle " +
               Percent(idle) + " of the time; " +
               AdviceOn(outlook::LessIdleOf(layout, accelerator ? &*accelerator : nullptr))}};
}

Findings MeasuredStepInvalid(const LintSubject& subject) {
  const auto measured = predict::MeasuredStepSeconds(*subject.workload.meta);
  if (measured) return {};
  return {AtAnnotation("MeasuredStepInvalid", measured.error().message,
                       "; no prediction learns from it")};
}

Findings StepMetricInvalid(const LintSubject& subject) {
  const auto metric = predict::StepMetricOf(*subject.workload.meta);
  if (metric) return {};
  return {AtAnnotation(predict::kStepMetricInvalid, metric.error().message,
                       "; the step is not measured")};
}

}  // namespace weft::report
