#include "operator/report/lifts.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "operator/base/phrases.h"
#include "operator/outlook/layouts.h"
#include "operator/outlook/placed_network.h"

namespace weft::report {
namespace {

using cluster::WorkloadView;
using outlook::Layout;
using outlook::Network;
using traffic::Recomputation;

// Below this a change is not worth a word.
constexpr double kLeastGain = 0.02;

double StepSeconds(const Layout& layout, const Ground& ground, const Network& network) {
  return outlook::StepOf(layout, ground.accelerator,
                         outlook::CalibrationFor(ground.accelerator, layout), network)
      .Seconds();
}

double TokensPerAccelerator(const Layout& layout, double seconds) {
  return static_cast<double>(layout.model.global_batch_size) /
         (seconds * static_cast<double>(layout.ranks));
}

// Whether the shape's layout of the least memory fits.
bool CanFit(Layout shape, const outlook::Accelerator& accelerator) {
  const double capacity = outlook::UsableMemory(accelerator);
  if (outlook::MemoryOn(shape, accelerator).Total() <= capacity) return true;
  shape.model.recomputation = Recomputation::kNone;
  return outlook::MemoryOn(shape, accelerator).Total() <= capacity;
}

void Hasten(outlook::Path& path, bool scale_up) {
  for (outlook::Crossing& one : path.crossings) {
    if (one.scale_up != scale_up) continue;
    one.bytes_per_second *= 2;
    one.line_bytes_per_second *= 2;
  }
}

Network Faster(Network network, bool scale_up) {
  for (outlook::Path& path : network.paths) Hasten(path, scale_up);
  Hasten(network.expert_gradients, scale_up);
  return network;
}

std::string RecomputationText(const Layout& layout) {
  return layout.model.recomputation == Recomputation::kFull ? "Full" : "None";
}

// The fastest variant of the same shape, however much memory it takes.
CandidateLayout WithMemory(const Ground& ground, const CandidateLayout& best) {
  CandidateLayout fastest = best;
  for (const Layout& one : outlook::VariantsOf(best.layout)) {
    const double seconds = StepSeconds(one, ground, best.network);
    if (seconds < fastest.seconds) fastest = {one, best.network, best.nodes, seconds, 0};
  }
  return fastest;
}

class Lifts {
 public:
  Lifts(const Ground& ground, const CandidateLayout& best)
      : ground_(ground), best_(best), now_(TokensPerAccelerator(best.layout, best.seconds)) {}

  void Add(std::string change, const Layout& layout, double seconds) {
    const double gain = TokensPerAccelerator(layout, seconds) / now_ - 1;
    if (gain >= kLeastGain) lifts_.push_back({std::move(change), gain});
  }

  void AddLinks() {
    for (const bool scale_up : {true, false}) {
      const double seconds = StepSeconds(best_.layout, ground_, Faster(best_.network, scale_up));
      Add(scale_up ? "links inside nodes and scale-up domains twice as fast"
                   : "links between nodes twice as fast",
          best_.layout, seconds);
    }
  }

  void AddMemory() {
    const CandidateLayout one = WithMemory(ground_, best_);
    const double bytes = outlook::MemoryPerGPU(one.layout).Total();
    Add(BytesText(static_cast<Int128>(bytes)) + " of memory for microBatchSize " +
            std::to_string(one.layout.model.micro_batch_size) + ", virtualPipeline " +
            std::to_string(one.layout.parallelism.virtual_pipeline) +
            " and activationRecomputation " + RecomputationText(one.layout),
        one.layout, one.seconds);
  }

  void AddBatch() {
    Layout larger = best_.layout;
    larger.model.global_batch_size *= 2;
    Add("a globalBatchSize of " + std::to_string(larger.model.global_batch_size), larger,
        StepSeconds(larger, ground_, best_.network));
  }

  std::vector<Lift> Take() {
    std::stable_sort(lifts_.begin(), lifts_.end(),
                     [](const Lift& a, const Lift& b) { return a.gain > b.gain; });
    return std::move(lifts_);
  }

 private:
  const Ground& ground_;
  const CandidateLayout& best_;
  const double now_;
  std::vector<Lift> lifts_;
};

}  // namespace

std::optional<CandidateLayout> OnNodes(const WorkloadView& workload, const Ground& ground,
                                       const Layout& layout) {
  const std::uint32_t each = ground.worker.Of(layout.ranks);
  const auto workers = static_cast<std::uint32_t>(layout.ranks / each);
  traffic::Model model;
  model.transformer = layout.model;
  const auto traffic = traffic::ComputeTraffic(model, layout.parallelism, workers, each);
  if (!traffic) return std::nullopt;
  std::optional<CandidateLayout> best;
  for (const std::vector<fabric::NodeIndex>& order : ground.orders) {
    if (order.size() < workers) continue;
    CandidateLayout one{layout, {}, objective::Nodes(std::span(order).first(workers))};
    one.network = outlook::NetworkOf(
        layout, *traffic, {ground.on->fabric.get(), one.nodes, workload.pod.claims_compute_domain});
    one.seconds = StepSeconds(layout, ground, one.network);
    if (!best || one.seconds < best->seconds) best = std::move(one);
  }
  return best;
}

bool Ranking::Wants(double seconds, double bytes) const {
  if (fastest_.size() < most_ || seconds < fastest_.back().seconds) return true;
  if (seconds > (1 + kEquallyFast) * fastest_.front().seconds) return false;
  return std::none_of(roomy_.begin(), roomy_.end(), [&](const CandidateLayout& other) {
    return other.seconds <= seconds && other.bytes <= bytes;
  });
}

void Ranking::Add(const CandidateLayout& one) {
  const auto slower = [&](const std::vector<CandidateLayout>& list) {
    return std::upper_bound(
        list.begin(), list.end(), one.seconds,
        [](double value, const CandidateLayout& other) { return value < other.seconds; });
  };
  fastest_.insert(slower(fastest_), one);
  if (fastest_.size() > most_) fastest_.pop_back();
  const double limit = (1 + kEquallyFast) * fastest_.front().seconds;
  std::erase_if(roomy_, [&](const CandidateLayout& other) {
    return other.seconds > limit || (other.seconds >= one.seconds && other.bytes >= one.bytes);
  });
  const auto at = slower(roomy_);
  const bool beaten = at != roomy_.begin() && std::prev(at)->bytes <= one.bytes;
  if (one.seconds <= limit && !beaten) roomy_.insert(at, one);
}

std::vector<CandidateLayout> Ranking::Take() {
  if (roomy_.empty()) return std::move(fastest_);
  const CandidateLayout first = std::move(roomy_.back());
  std::erase_if(fastest_, [&](const CandidateLayout& one) {
    return one.layout.parallelism == first.layout.parallelism &&
           one.layout.model == first.layout.model;
  });
  fastest_.insert(fastest_.begin(), first);
  if (fastest_.size() > most_) fastest_.pop_back();
  return std::move(fastest_);
}

std::vector<CandidateLayout> LayoutSearch::Best(const WorkloadView& workload, const Ground& ground,
                                                std::int64_t count, std::size_t most) {
  workload_ = &workload;
  Ranking best(most);
  const traffic::Transformer& model = *(*workload.model)->transformer;
  if (outlook::PeakRate(ground.accelerator, model.precision) <= 0) return {};
  for (const Layout& shape : outlook::ShapesOf(model, count, ground.per_domain)) {
    TryShape(shape, ground, best);
  }
  return best.Take();
}

void LayoutSearch::TryShape(const Layout& shape, const Ground& ground, Ranking& best) {
  const double capacity = outlook::UsableMemory(ground.accelerator);
  const std::vector<Layout> variants = outlook::VariantsOf(shape);
  tried_ += static_cast<std::int64_t>(variants.size());
  if (!CanFit(shape, ground.accelerator)) return;
  const auto on = OnNodes(*workload_, ground, shape);
  if (!on) return;
  for (const Layout& one : variants) {
    const double bytes = outlook::MemoryOn(one, ground.accelerator).Total();
    if (bytes > capacity) continue;
    ++fitting_;
    const double seconds = StepSeconds(one, ground, on->network);
    if (best.Wants(seconds, bytes)) best.Add({one, on->network, on->nodes, seconds, bytes});
  }
}

std::vector<Lift> LiftsOf(const WorkloadView& workload, const Ground& ground,
                          const CandidateLayout& best) {
  Lifts lifts(ground, best);
  lifts.AddLinks();
  lifts.AddMemory();
  lifts.AddBatch();
  const std::int64_t half = best.layout.ranks / 2;
  if (best.layout.ranks % 2 == 0 && ground.worker.Divides(half)) {
    LayoutSearch search;
    const auto fewer = search.Best(workload, ground, half, 1);
    if (!fewer.empty()) {
      lifts.Add("half as many accelerators (" + std::to_string(half) + ")", fewer[0].layout,
                fewer[0].seconds);
    }
  }
  return lifts.Take();
}

}  // namespace weft::report
