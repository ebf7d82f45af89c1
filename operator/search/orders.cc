#include "operator/search/orders.h"

#include <algorithm>

#include "operator/base/check.h"

namespace weft::search {

using fabric::Tier;
using objective::Shape;

namespace {

// The workers of boxes `inner` in `box`, along the first of the digits first.
class Offsets {
 public:
  Offsets(std::span<const std::uint32_t> grid, std::span<const std::size_t> digits)
      : digits_(digits), at_(grid.size(), 0) {
    std::uint32_t stride = 1;
    for (const std::uint32_t size : grid) {
      stride_.push_back(stride);
      stride *= size;
    }
  }

  // In each inner box the workers that are there what `inside` are in the first.
  std::vector<WorkerIndex> In(const Shape& box, const Shape& inner,
                              std::span<const WorkerIndex> inside) {
    std::vector<WorkerIndex> workers;
    workers.reserve(objective::Volume(box));
    std::uint32_t here = 0;
    std::size_t k = 0;
    do {
      for (const WorkerIndex worker : inside) workers.push_back(worker + here);
      for (k = 0; k < digits_.size(); ++k) {
        const std::size_t i = digits_[k];
        at_[i] += inner[i];
        here += inner[i] * stride_[i];
        if (at_[i] < box[i]) break;
        here -= at_[i] * stride_[i];
        at_[i] = 0;
      }
    } while (k < digits_.size());
    return workers;
  }

 private:
  std::span<const std::size_t> digits_;
  Shape at_;  // zeros between calls
  Shape stride_;
};

}  // namespace

std::vector<WorkerIndex> Walk(std::span<const std::uint32_t> grid, std::span<const Shape> nest,
                              std::span<const std::size_t> digits) {
  Offsets offsets(grid, digits);
  std::vector<WorkerIndex> walk = {WorkerIndex{0}};
  Shape inner(grid.size(), 1);
  for (std::size_t depth = nest.size(); depth-- > 0;) {
    walk = offsets.In(nest[depth], inner, walk);
    inner = nest[depth];
  }
  walk = offsets.In(Shape(grid.begin(), grid.end()), inner, walk);
  WEFT_DCHECK(walk.size() ==
              objective::Volume(Shape(grid.begin(), grid.end())));  // each worker once
  return walk;
}

// Sorts workers by the position at which their atoms first occur, widest tier first. Atoms nest, so
// one stable sort per tier, from narrow to wide, is enough.
void KeepAtomsTogether(const objective::Instance& instance, std::vector<WorkerIndex>& workers) {
  if (!instance.has_groups()) return;
  std::vector<std::uint32_t> first(workers.size());
  const auto gather = [&](IndexSpan<WorkerIndex, const std::uint32_t> atoms) {
    if (atoms.empty()) return;
    WEFT_CHECK(atoms.size() == workers.size());
    for (std::uint32_t i = static_cast<std::uint32_t>(workers.size()); i-- > 0;) {
      first[atoms[workers[i]]] = i;
    }
    std::stable_sort(workers.begin(), workers.end(), [&](WorkerIndex a, WorkerIndex b) {
      return first[atoms[a]] < first[atoms[b]];
    });
  };
  for (Tier t = instance.node_tier(); t >= Tier{1}; --t) gather(instance.soft_atoms(t));
  for (Tier t = instance.node_tier(); t >= Tier{1}; --t) gather(instance.hard_atoms(t));
}

}  // namespace weft::search
