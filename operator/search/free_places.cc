#include "operator/search/free_places.h"

#include <algorithm>
#include <tuple>

#include "operator/base/check.h"

namespace weft::search {

using fabric::NodeIndex;
using fabric::Torus;
using fabric::TorusPlace;
using objective::Box;

FreePlaces::FreePlaces(const objective::Instance& instance, std::uint32_t torus, NodeIndex begin,
                       NodeIndex end, std::uint32_t each)
    : torus_(*instance.fabric().torus()),
      shape_(torus_.shape(torus)),
      index_(torus),
      free_(shape_.volume(), 0) {
  for (NodeIndex n = begin; n < end; ++n) {
    if (torus_.torus_of(n) != torus || instance.slots()[n] < each) continue;
    nodes_.push_back(n);
    free_[Flat(n)] = 1;
  }
  AddUp();
}

// Along a dimension that wraps, the table goes round almost twice, so that a box past the end is
// one piece of the table.
void FreePlaces::AddUp() {
  const auto& sizes = shape_.sizes();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    extent_[d] = (shape_.wraps(d) ? 2 * sizes[d] - 1 : sizes[d]) + 1;
  }
  sums_.assign(std::size_t{extent_[0]} * extent_[1] * extent_[2], 0);
  const std::size_t row = extent_[0], plane = row * extent_[1];
  for (std::uint32_t z = 1; z < extent_[2]; ++z) {
    for (std::uint32_t y = 1; y < extent_[1]; ++y) {
      const std::size_t place = std::size_t{(z - 1) % sizes[2]} * sizes[1] + (y - 1) % sizes[1];
      std::uint32_t in_row = 0;
      for (std::uint32_t x = 1; x < extent_[0]; ++x) {
        in_row += free_[place * sizes[0] + (x - 1) % sizes[0]];
        const std::size_t at = z * plane + y * row + x;
        sums_[at] = in_row + sums_[at - row] + sums_[at - plane] - sums_[at - plane - row];
      }
    }
  }
}

NodeIndex FreePlaces::At(const Box& box, const TorusPlace& inside) const {
  TorusPlace place;
  for (std::size_t d = 0; d < place.size(); ++d) {
    place[d] = static_cast<std::uint16_t>((box.at[d] + inside[d]) % shape_.sizes()[d]);
  }
  return torus_.At(index_, place);
}

std::uint32_t FreePlaces::FreeIn(const Box& box) const {
  const std::uint32_t x = box.at[0], y = box.at[1], z = box.at[2];
  const std::uint32_t u = x + box.size[0], v = y + box.size[1], w = z + box.size[2];
  WEFT_DCHECK(u < extent_[0] && v < extent_[1] && w < extent_[2]);
  return Sum(u, v, w) - Sum(x, v, w) - Sum(u, y, w) - Sum(u, v, z) + Sum(x, y, w) + Sum(x, v, z) +
         Sum(u, y, z) - Sum(x, y, z);
}

// The box with one more place on every side, as far as the torus has places.
Box FreePlaces::Grown(const Box& box) const {
  Box grown = box;
  for (std::size_t d = 0; d < grown.at.size(); ++d) {
    const std::uint32_t size = shape_.sizes()[d];
    if (shape_.wraps(d)) {
      grown.size[d] = std::min(size, box.size[d] + 2);
      const std::uint32_t from = grown.size[d] == size ? 0 : (box.at[d] + size - 1) % size;
      grown.at[d] = static_cast<std::uint16_t>(from);
    } else {
      const std::uint32_t from = box.at[d] == 0 ? 0U : box.at[d] - 1U;
      grown.at[d] = static_cast<std::uint16_t>(from);
      grown.size[d] = std::min(size, box.at[d] + box.size[d] + 1) - from;
    }
  }
  return grown;
}

std::vector<Box> FreePlaces::Best(const objective::TorusSize& size, std::size_t most,
                                  std::uint32_t most_holes) const {
  struct Ranked {
    std::uint32_t holes = 0, around = 0;
    Box box;
  };
  objective::TorusSize starts;  // positions along each dimension; one if the box fills it
  for (std::size_t d = 0; d < size.size(); ++d) {
    if (size[d] > shape_.sizes()[d]) return {};
    const bool fills = size[d] == shape_.sizes()[d];
    starts[d] = fills ? 1 : shape_.wraps(d) ? shape_.sizes()[d] : shape_.sizes()[d] - size[d] + 1;
  }
  std::vector<Ranked> best;
  const auto before = [](const Ranked& a, const Ranked& b) {
    return std::tie(a.holes, a.around) < std::tie(b.holes, b.around);
  };
  const auto offer = [&](const Box& box) {
    const std::uint32_t holes = Holes(box);
    if (holes > most_holes || (best.size() == most && holes > best.back().holes)) return;
    WEFT_DCHECK(FreeIn(Grown(box)) >= FreeIn(box));
    const Ranked ranked{holes, FreeIn(Grown(box)) - FreeIn(box), box};
    if (best.size() == most && !before(ranked, best.back())) return;
    best.insert(std::upper_bound(best.begin(), best.end(), ranked, before), ranked);
    if (best.size() > most) best.pop_back();
  };
  const auto at = [](std::uint32_t place) { return static_cast<std::uint16_t>(place); };
  for (std::uint32_t z = 0; z < starts[2]; ++z) {
    for (std::uint32_t y = 0; y < starts[1]; ++y) {
      for (std::uint32_t x = 0; x < starts[0]; ++x) offer({{at(x), at(y), at(z)}, size});
    }
  }
  std::vector<Box> boxes;
  for (const Ranked& ranked : best) boxes.push_back(ranked.box);
  return boxes;
}

}  // namespace weft::search
