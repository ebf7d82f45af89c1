#include "operator/outlook/change.h"

#include <algorithm>
#include <vector>

#include "operator/outlook/memory.h"
#include "operator/traffic/traffic.h"

namespace weft::outlook {
namespace {

using traffic::Recomputation;
using traffic::Sharding;

// Tensor parallelism beyond the GPUs of a usual node would leave the fastest network.
constexpr std::int64_t kMostTensor = 8;
// Most settings of a change, so that a person sees at once what it does.
constexpr int kMostSettings = 3;

struct Candidate {
  std::string setting, value;
  Layout layout;
};
using Candidates = std::vector<Candidate>;

void AddSharding(const Layout& layout, Sharding to, const char* name, Candidates& out) {
  if (layout.parallelism.sharding >= to) return;
  Layout changed = layout;
  changed.parallelism.sharding = to;
  out.push_back({"sharding", name, changed});
}

void AddMicroBatch(const Layout& layout, Candidates& out) {
  const std::int64_t now = layout.model.micro_batch_size;
  for (std::int64_t size = now / 2; size >= 1; size /= 2) {
    if (now % size != 0) continue;
    Layout changed = layout;
    changed.model.micro_batch_size = size;
    out.push_back({"microBatchSize", std::to_string(size), changed});
  }
}

void AddRecomputation(const Layout& layout, Candidates& out) {
  if (layout.model.recomputation == Recomputation::kFull) return;
  Layout changed = layout;
  changed.model.recomputation = Recomputation::kFull;
  out.push_back({"activationRecomputation", "Full", changed});
}

// Adds twice, four times, ... the degree, as far as the shape allows.
void AddDegree(const Layout& layout, const char* name, std::int64_t traffic::Parallelism::*degree,
               std::int64_t most, Candidates& out) {
  for (std::int64_t to = layout.parallelism.*degree * 2; to <= most; to *= 2) {
    Layout changed = layout;
    changed.parallelism.*degree = to;
    traffic::Model model;
    model.transformer = changed.model;
    const auto ranks = static_cast<std::uint32_t>(changed.ranks);
    if (!traffic::CheckShape(model, changed.parallelism, ranks, 1)) continue;
    out.push_back({name, std::to_string(to), changed});
  }
}

// Changes of one setting, those that cost least time first.
Candidates OneChange(const Layout& layout) {
  Candidates out;
  AddSharding(layout, Sharding::kOptimizerState, "OptimizerState", out);
  AddMicroBatch(layout, out);
  AddRecomputation(layout, out);
  AddSharding(layout, Sharding::kGradients, "Gradients", out);
  AddSharding(layout, Sharding::kFull, "Full", out);
  AddDegree(layout, "tensor", &traffic::Parallelism::tensor, kMostTensor, out);
  AddDegree(layout, "pipeline", &traffic::Parallelism::pipeline, layout.model.layers, out);
  return out;
}

// The settings that were changed already; none is changed twice.
using Settings = std::vector<const Candidate*>;

bool Holds(const Settings& changed, const std::string& setting) {
  return std::any_of(changed.begin(), changed.end(),
                     [&](const Candidate* one) { return one->setting == setting; });
}

std::string TextOf(const Settings& changed) {
  std::string text;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    if (i > 0) text += i + 1 == changed.size() ? " and " : ", ";
    text += changed[i]->setting + ": " + changed[i]->value;
  }
  return text;
}

// The first change that fits with `more` settings in addition to those already changed.
std::optional<Change> Search(const Layout& layout, const Accelerator& accelerator, int more,
                             Settings& changed) {
  for (const Candidate& one : OneChange(layout)) {
    if (Holds(changed, one.setting)) continue;
    changed.push_back(&one);
    std::optional<Change> found;
    if (more > 1) {
      found = Search(one.layout, accelerator, more - 1, changed);
    } else if (const double total = MemoryOn(one.layout, accelerator).Total();
               total <= UsableMemory(accelerator)) {
      found = Change{TextOf(changed), total};
    }
    if (found) return found;
    changed.pop_back();
  }
  return std::nullopt;
}

}  // namespace

std::optional<Change> SmallestChange(const Layout& layout, const Accelerator& accelerator) {
  if (MemoryOn(layout, accelerator).Total() <= UsableMemory(accelerator)) return std::nullopt;
  for (int settings = 1; settings <= kMostSettings; ++settings) {
    Settings changed;
    if (auto found = Search(layout, accelerator, settings, changed)) return found;
  }
  return std::nullopt;
}

}  // namespace weft::outlook
