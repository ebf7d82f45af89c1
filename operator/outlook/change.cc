#include "operator/outlook/change.h"

#include <algorithm>
#include <vector>

#include "operator/outlook/memory.h"
#include "operator/outlook/refusals.h"
#include "operator/traffic/check_shape.h"
#include "operator/traffic/traffic.h"

namespace weft::outlook {
namespace {

using traffic::Recomputation;
using traffic::Sharding;

// Most settings of a change, so that a person sees at once what it does.
constexpr int kMostSettings = 3;

struct ChangedSetting {
  std::string setting, value;
  Layout layout;
};
using ChangedSettings = std::vector<ChangedSetting>;

void AddSharding(const Layout& layout, Sharding to, const char* name, ChangedSettings& out) {
  if (layout.parallelism.sharding >= to) return;
  Layout changed = layout;
  changed.parallelism.sharding = to;
  out.push_back({"sharding", name, changed});
}

void AddMicroBatch(const Layout& layout, ChangedSettings& out) {
  const std::int64_t now = layout.model.micro_batch_size;
  for (std::int64_t size = now / 2; size >= 1; size /= 2) {
    if (now % size != 0) continue;
    Layout changed = layout;
    changed.model.micro_batch_size = size;
    out.push_back({"microBatchSize", std::to_string(size), changed});
  }
}

void AddRecomputation(const Layout& layout, ChangedSettings& out) {
  if (layout.model.recomputation == Recomputation::kFull) return;
  Layout changed = layout;
  changed.model.recomputation = Recomputation::kFull;
  out.push_back({"activationRecomputation", "Full", changed});
}

// 16-bit gradients cost no time, but may change what the model learns.
void AddGradientPrecision(const Layout& layout, ChangedSettings& out) {
  if (layout.model.gradient_precision != traffic::GradientPrecision::kFP32) return;
  Layout changed = layout;
  changed.model.gradient_precision = traffic::GradientPrecision::kBF16;
  out.push_back({"gradientPrecision", "BF16", changed});
}

// Adds twice, four times, ... the degree, as far as the shape allows.
void AddDegree(const Layout& layout, const char* name, std::int64_t traffic::Parallelism::*degree,
               std::int64_t most, ChangedSettings& out) {
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

// Changes of one setting, those that cost least time first, and last the one that changes results.
ChangedSettings OneChange(const Layout& layout) {
  ChangedSettings out;
  AddSharding(layout, Sharding::kOptimizerState, "OptimizerState", out);
  AddMicroBatch(layout, out);
  AddRecomputation(layout, out);
  AddSharding(layout, Sharding::kGradients, "Gradients", out);
  AddSharding(layout, Sharding::kFull, "Full", out);
  AddDegree(layout, "tensor", &traffic::Parallelism::tensor, kMostTensor, out);
  AddDegree(layout, "pipeline", &traffic::Parallelism::pipeline, layout.model.layers, out);
  AddGradientPrecision(layout, out);
  return out;
}

// The settings that were changed already; none is changed twice.
using Settings = std::vector<const ChangedSetting*>;

bool Holds(const Settings& changed, const std::string& setting) {
  return std::any_of(changed.begin(), changed.end(),
                     [&](const ChangedSetting* one) { return one->setting == setting; });
}

std::string TextOf(const Settings& changed) {
  std::string text;
  for (std::size_t i = 0; i < changed.size(); ++i) {
    if (i > 0) text += i + 1 == changed.size() ? " and " : ", ";
    text += changed[i]->setting + ": " + changed[i]->value;
  }
  return text;
}

class ChangeSearch {
 public:
  ChangeSearch(const Layout& layout, const Accelerator& accelerator)
      : layout_(layout), accelerator_(accelerator), broken_(BrokenRules(layout)) {}

  // The first change of so many settings that fits.
  std::optional<Change> Run(int settings) {
    changed_.clear();
    return From(layout_, settings);
  }

 private:
  // With `more` settings in addition to those already changed.
  std::optional<Change> From(const Layout& layout, int more) {
    for (const ChangedSetting& one : OneChange(layout)) {
      if (Holds(changed_, one.setting)) continue;
      changed_.push_back(&one);
      auto found = more > 1 ? From(one.layout, more - 1) : Judge(one.layout);
      if (found) return found;
      changed_.pop_back();
    }
    return std::nullopt;
  }

  std::optional<Change> Judge(const Layout& layout) const {
    if ((BrokenRules(layout) & ~broken_) != 0) return std::nullopt;
    const double total = MemoryOn(layout, accelerator_).Total();
    if (total > UsableMemory(accelerator_)) return std::nullopt;
    return Change{TextOf(changed_), total};
  }

  const Layout& layout_;
  const Accelerator& accelerator_;
  const Rules broken_;
  Settings changed_;
};

}  // namespace

std::optional<Change> SmallestChange(const Layout& layout, const Accelerator& accelerator) {
  if (MemoryOn(layout, accelerator).Total() <= UsableMemory(accelerator)) return std::nullopt;
  ChangeSearch search(layout, accelerator);
  for (int settings = 1; settings <= kMostSettings; ++settings) {
    if (auto found = search.Run(settings)) return found;
  }
  return std::nullopt;
}

}  // namespace weft::outlook
