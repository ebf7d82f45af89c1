#include "operator/report/lint_outlook.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "operator/base/phrases.h"
#include "operator/decide/pool_choices.h"
#include "operator/decide/predict.h"
#include "operator/outlook/change.h"
#include "operator/outlook/memory.h"

namespace weft::report {
namespace {

using decide::Severity;
using Findings = std::vector<Finding>;

// From this share of waiting on, the pipeline is a finding.
constexpr std::int64_t kIdlePercent = 10;

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
           return model == api::kAnyPool || fabric::MatchesProduct(model, product);
         });
}

// Of the accelerators that the job may get, the one with most memory; nothing if one is unknown.
std::optional<outlook::Accelerator> Roomiest(const LintSubject& subject) {
  const fabric::Fabric& fabric = *subject.on.fabric;
  const auto resource = fabric.FindResource(subject.workload.accelerator->resource_name);
  if (!resource) return std::nullopt;
  std::set<fabric::PoolIndex> seen;
  std::optional<outlook::Accelerator> most;
  for (fabric::NodeIndex n = 0; n < fabric.node_count(); ++n) {
    const fabric::PoolIndex pool = fabric.pool(n);
    if (fabric.allocatable(n, *resource) == 0 || !seen.insert(pool).second) continue;
    if (!MayUse(*subject.workload.accelerator, fabric.pools()[pool].product)) continue;
    const auto found = decide::AcceleratorOf(fabric, std::span(&n, 1));
    if (!found) return std::nullopt;
    if (!most || found->memory_bytes > most->memory_bytes) most = *found;
  }
  return most;
}

// The idle share of a pipeline's stages in percent: (p - 1) / (m v + p - 1).
// Source  Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", SC21.
std::int64_t IdlePercent(std::int64_t pipeline, std::int64_t micro_batches,
                         std::int64_t virtual_pipeline) {
  const Int128 idle = pipeline - 1;
  const Int128 busy = static_cast<Int128>(micro_batches) * virtual_pipeline;
  return PercentOf(idle, busy + idle);
}

}  // namespace

Findings DoesNotFit(const LintSubject& subject) {
  if (TransformerOf(subject) == nullptr) return {};
  const auto accelerator = Roomiest(subject);
  if (!accelerator) return {};
  const outlook::Layout layout = LayoutOf(subject);
  const outlook::Memory memory = outlook::MemoryOn(layout, *accelerator);
  const double capacity = outlook::UsableMemory(*accelerator);
  if (memory.Total() <= capacity) return {};
  std::string text = decide::DoesNotFitText(accelerator->name, memory, capacity,
                                            outlook::SmallestChange(layout, *accelerator));
  return {{Severity::kError, "", "spec.model.transformer", "DoesNotFit", std::move(text)}};
}

Findings PipelineBubble(const LintSubject& subject) {
  const traffic::Transformer* model = TransformerOf(subject);
  const traffic::Parallelism& degrees = *subject.workload.parallelism;
  if (model == nullptr || degrees.pipeline < 2) return {};
  const std::int64_t data =
      subject.problem.traffic.ranks / (degrees.tensor * degrees.context * degrees.pipeline);
  const std::int64_t batch = SaturatingMultiply(model->micro_batch_size, data);
  const std::int64_t micro_batches = batch == 0 ? 0 : model->global_batch_size / batch;
  if (micro_batches <= 0) return {};
  const std::int64_t stages = degrees.virtual_pipeline;
  const std::int64_t idle = IdlePercent(degrees.pipeline, micro_batches, stages);
  if (idle <= kIdlePercent) return {};
  const bool divides = model->layers % SaturatingMultiply(2 * stages, degrees.pipeline) == 0;
  const std::string setting =
      divides
          ? "parallelism.virtualPipeline: " + std::to_string(2 * stages)
          : "globalBatchSize: " + std::to_string(SaturatingMultiply(2, model->global_batch_size));
  const std::int64_t then = divides ? IdlePercent(degrees.pipeline, micro_batches, 2 * stages)
                                    : IdlePercent(degrees.pipeline, 2 * micro_batches, stages);
  return {{Severity::kWarning, "", "spec.parallelism.pipeline", "PipelineBubble",
           std::to_string(degrees.pipeline) + " stages with " + std::to_string(micro_batches) +
               " micro-batches a step are idle " + std::to_string(idle) + " % of the time; " +
               setting + " makes it " + std::to_string(then) + " %"}};
}

Findings MeasuredStepInvalid(const LintSubject& subject) {
  const auto measured = decide::MeasuredStepSeconds(*subject.workload.meta);
  if (measured) return {};
  return {{Severity::kWarning, "", "metadata.annotations", "MeasuredStepInvalid",
           measured.error().message + "; no prediction learns from it"}};
}

}  // namespace weft::report
