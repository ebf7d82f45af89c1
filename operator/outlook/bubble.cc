#include "operator/outlook/bubble.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "operator/outlook/change.h"
#include "operator/outlook/memory.h"
#include "operator/outlook/refusals.h"
#include "operator/traffic/check_shape.h"
#include "operator/traffic/traffic.h"

namespace weft::outlook {
namespace {

// A batch that is larger than this changes what is trained too much. Assumption.
constexpr std::int64_t kMostBatches = 4;

struct Option {
  std::string text;
  Layout layout;
  bool several = false;
};
using Options = std::vector<Option>;

std::string Show(std::int64_t value) { return std::to_string(value); }

Options VirtualStages(const Layout& layout) {
  Options options;
  const traffic::Parallelism& p = layout.parallelism;
  for (std::int64_t v = p.virtual_pipeline + 1; v * p.pipeline <= layout.model.layers; ++v) {
    Option one{"virtualPipeline: " + Show(v), layout};
    one.layout.parallelism.virtual_pipeline = v;
    options.push_back(std::move(one));
  }
  return options;
}

Options SmallerMicroBatch(const Layout& layout) {
  Options options;
  const std::int64_t now = layout.model.micro_batch_size;
  for (std::int64_t parts = 2; parts <= now; ++parts) {
    if (now % parts != 0) continue;
    Option one{"microBatchSize: " + Show(now / parts), layout};
    one.layout.model.micro_batch_size = now / parts;
    options.push_back(std::move(one));
  }
  return options;
}

Options FewerStages(const Layout& layout) {
  Options options;
  const traffic::Parallelism& p = layout.parallelism;
  for (std::int64_t parts = 2; parts <= p.pipeline; ++parts) {
    if (p.pipeline % parts != 0) continue;
    Option one{"pipeline: " + Show(p.pipeline / parts), layout};
    one.layout.parallelism.pipeline = p.pipeline / parts;
    Option wide{one.text + " and tensor: " + Show(p.tensor * parts), one.layout, true};
    wide.layout.parallelism.tensor = p.tensor * parts;
    if (p.tensor * parts <= kMostTensor) options.push_back(std::move(wide));
    options.push_back(std::move(one));
  }
  return options;
}

// Batches of `step` more micro-batches each time. A pipeline that waits has few micro-batches.
Options LargerBatch(const Layout& layout, std::int64_t step) {
  Options options;
  const traffic::Parallelism& p = layout.parallelism;
  const std::int64_t each =
      layout.model.micro_batch_size * (layout.ranks / (p.tensor * p.context * p.pipeline));
  const std::int64_t now = layout.model.global_batch_size / each;
  constexpr std::int64_t kMostOptions = 4096;
  const std::int64_t most = std::min(kMostBatches * now, now + kMostOptions);
  for (std::int64_t batches = now / step * step + step; batches <= most; batches += step) {
    Option one{"globalBatchSize: " + Show(batches * each), layout};
    one.layout.model.global_batch_size = batches * each;
    options.push_back(std::move(one));
  }
  return options;
}

Options WithVirtualStages(const Options& options) {
  Options both;
  for (const Option& one : options) {
    for (Option& two : VirtualStages(one.layout)) {
      both.push_back({two.text + " and " + one.text, std::move(two.layout), true});
    }
  }
  return both;
}

class IdleSearch {
 public:
  IdleSearch(const Layout& layout, const Accelerator* accelerator)
      : broken_(BrokenRules(layout)), share_(IdleShare(layout)), accelerator_(accelerator) {
    if (accelerator == nullptr) return;
    most_bytes_ = std::max(UsableMemory(*accelerator), MemoryOn(layout, *accelerator).Total());
  }

  // Whether one of the options halves the wait; it is the best then.
  bool Try(const Options& options) {
    for (const Option& one : options) {
      if (!Legal(one.layout)) continue;
      const double share = IdleShare(one.layout);
      if (share >= (best_ ? best_->share : share_)) continue;
      best_ = LessIdle{one.text, one.several, share, share <= share_ / 2};
      if (best_->halves) return true;
    }
    return false;
  }

  std::optional<LessIdle> Take() { return std::move(best_); }

 private:
  bool Legal(const Layout& layout) const {
    if ((BrokenRules(layout) & ~broken_) != 0) return false;
    traffic::Model model;
    model.transformer = layout.model;
    const auto ranks = static_cast<std::uint32_t>(layout.ranks);
    if (!traffic::CheckShape(model, layout.parallelism, ranks, 1)) return false;
    return accelerator_ == nullptr || MemoryOn(layout, *accelerator_).Total() <= most_bytes_;
  }

  const Rules broken_;
  const double share_;
  const Accelerator* accelerator_;
  double most_bytes_ = 0;
  std::optional<LessIdle> best_;
};

}  // namespace

double IdleShare(const Layout& layout) {
  const Degrees d = DegreesOf(layout);
  return (d.pipeline - 1) / (d.micro_batches * d.virtual_pipeline + d.pipeline - 1);
}

std::optional<LessIdle> LessIdleOf(const Layout& layout, const Accelerator* accelerator) {
  IdleSearch search(layout, accelerator);
  const Options smaller = SmallerMicroBatch(layout);
  const traffic::Parallelism& p = layout.parallelism;
  // With virtual stages the micro-batches are a multiple of the stages.
  const std::int64_t step = p.virtual_pipeline > 1 ? p.pipeline : 1;
  for (const Options& options :
       {VirtualStages(layout), smaller, FewerStages(layout), WithVirtualStages(smaller),
        LargerBatch(layout, step), WithVirtualStages(LargerBatch(layout, p.pipeline))}) {
    if (search.Try(options)) break;
  }
  return search.Take();
}

}  // namespace weft::outlook
