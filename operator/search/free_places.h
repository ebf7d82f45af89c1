#pragma once

#include <cstdint>
#include <vector>

#include "operator/base/check.h"
#include "operator/objective/box.h"
#include "operator/objective/instance.h"

namespace weft::search {

// The free places of one torus: nodes in [begin, end) with room for `each` workers. All other
// places are holes. The free places of a box are counted in constant time (a summed-area table:
// Crow, "Summed-area tables for texture mapping", SIGGRAPH 1984).
//
// Cost  O(places of the torus) to make, eight times that where all dimensions wrap.
class FreePlaces {
 public:
  FreePlaces(const objective::Instance& instance, std::uint32_t torus, fabric::NodeIndex begin,
             fabric::NodeIndex end, std::uint32_t each);

  const fabric::Torus& torus() const { return torus_; }
  const fabric::TorusShape& shape() const { return shape_; }
  std::uint64_t count() const { return nodes_.size(); }
  // The nodes at free places, ascending.
  const std::vector<fabric::NodeIndex>& nodes() const { return nodes_; }
  bool IsFree(fabric::NodeIndex n) const { return n != fabric::Torus::kNoNode && free_[Flat(n)]; }
  // The node at this place of the box, counted from its corner; Torus::kNoNode if there is none.
  fabric::NodeIndex At(const objective::Box& box, const fabric::TorusPlace& inside) const;

  std::uint32_t Holes(const objective::Box& box) const {
    WEFT_DCHECK(FreeIn(box) <= box.size[0] * box.size[1] * box.size[2]);
    return box.size[0] * box.size[1] * box.size[2] - FreeIn(box);
  }
  std::uint32_t FreeIn(const objective::Box& box) const;

  // The `most` boxes of this size with the fewest holes, none with more than `most_holes`. Of boxes
  // with equally many holes, those with the fewest free places around them come first, because they
  // leave larger boxes to later jobs; then the one at the first place. None if the torus is smaller
  // than the box.
  // Cost  O(places).
  std::vector<objective::Box> Best(const objective::TorusSize& size, std::size_t most,
                                   std::uint32_t most_holes) const;

 private:
  std::uint32_t Flat(fabric::NodeIndex n) const { return shape_.Flat(torus_.place(n)); }
  std::uint32_t Sum(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    return sums_[(std::size_t{z} * extent_[1] + y) * extent_[0] + x];
  }
  objective::Box Grown(const objective::Box& box) const;
  void AddUp();

  const fabric::Torus& torus_;
  const fabric::TorusShape& shape_;
  std::uint32_t index_;
  std::vector<std::uint8_t> free_;  // by place
  std::vector<fabric::NodeIndex> nodes_;
  objective::TorusSize extent_{1, 1, 1};  // of the table
  std::vector<std::uint32_t> sums_;       // free places before, along every dimension
};

}  // namespace weft::search
