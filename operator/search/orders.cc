#include "operator/search/orders.h"

#include <algorithm>

namespace weft::placement {

using fabric::Tier;

namespace {

class Walker {
 public:
  Walker(std::span<const std::uint32_t> grid, std::span<const Shape> nest,
         std::span<const std::size_t> digits)
      : nest_(nest),
        digits_(digits),
        ones_(grid.size(), 1),
        at_(nest.size() + 1, Shape(grid.size(), 0)) {
    std::uint32_t stride = 1;
    for (const std::uint32_t size : grid) {
      stride_.push_back(stride);
      stride *= size;
    }
    out_.reserve(stride);
    Visit(0, Shape(grid.begin(), grid.end()), 0);
  }
  std::vector<std::uint32_t> Take() { return std::move(out_); }

 private:
  // Visits the box at `here`. Its counter is 0 again at the end, so that the next box of this depth
  // can use it.
  void Visit(std::size_t depth, const Shape& box, std::uint32_t here) {
    const bool innermost = depth == nest_.size();
    const Shape& inner = innermost ? ones_ : nest_[depth];
    Shape& at = at_[depth];
    while (true) {
      if (innermost) {
        out_.push_back(here);
      } else {
        Visit(depth + 1, inner, here);
      }
      std::size_t k = 0;
      for (; k < digits_.size(); ++k) {
        const std::size_t i = digits_[k];
        at[i] += inner[i];
        here += inner[i] * stride_[i];
        if (at[i] < box[i]) break;
        here -= at[i] * stride_[i];
        at[i] = 0;
      }
      if (k == digits_.size()) return;
    }
  }

  std::span<const Shape> nest_;
  std::span<const std::size_t> digits_;
  const Shape ones_;
  std::vector<Shape> at_;  // by depth
  Shape stride_;
  std::vector<std::uint32_t> out_;
};

}  // namespace

std::vector<std::uint32_t> Walk(std::span<const std::uint32_t> grid, std::span<const Shape> nest,
                                std::span<const std::size_t> digits) {
  return Walker(grid, nest, digits).Take();
}

// Sorts workers by the position at which their atoms first occur, widest tier first. Atoms nest, so
// one stable sort per tier, from narrow to wide, is enough.
void KeepAtomsTogether(const Instance& instance, std::vector<std::uint32_t>& workers) {
  if (!instance.has_groups()) return;
  std::vector<std::uint32_t> first(workers.size());
  const auto gather = [&](std::span<const std::uint32_t> atoms) {
    if (atoms.empty()) return;
    for (std::uint32_t i = static_cast<std::uint32_t>(workers.size()); i-- > 0;) {
      first[atoms[workers[i]]] = i;
    }
    std::stable_sort(workers.begin(), workers.end(), [&](std::uint32_t a, std::uint32_t b) {
      return first[atoms[a]] < first[atoms[b]];
    });
  };
  for (Tier t = instance.node_tier(); t >= 1; --t) gather(instance.soft_atoms(t));
  for (Tier t = instance.node_tier(); t >= 1; --t) gather(instance.hard_atoms(t));
}

}  // namespace weft::placement
