#include "operator/fabric/torus.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"

namespace weft::fabric {

TorusShape::TorusShape(std::span<const TorusDimension> dimensions) {
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    sizes_[d] = dimensions[d].size;
    wraps_[d] = dimensions[d].wraps;
  }
  // Fills hops_ by the difference of two places, and counts, by hops, the places that are so far
  // from a place in the middle.
  places_within_ = {1};
  for (std::size_t d = 0; d < kTorusDimensions; ++d) {
    std::vector<std::uint32_t> along(sizes_[d], 0);  // places by hops
    const std::uint32_t middle = wraps_[d] ? 0 : sizes_[d] / 2;
    for (std::uint32_t apart = 0; apart < sizes_[d]; ++apart) {
      const std::uint32_t back = wraps_[d] ? std::min(apart, sizes_[d] - apart) : apart;
      hops_[d].push_back(static_cast<std::uint16_t>(back));
      const std::uint32_t from_middle = apart > middle ? apart - middle : middle - apart;
      ++along[wraps_[d] ? back : from_middle];
    }
    std::vector<std::uint32_t> both(places_within_.size() + along.size() - 1, 0);
    for (std::size_t i = 0; i < places_within_.size(); ++i) {
      for (std::size_t j = 0; j < along.size(); ++j) both[i + j] += places_within_[i] * along[j];
    }
    while (both.back() == 0) both.pop_back();
    places_within_ = std::move(both);
  }
  for (std::size_t hops = 1; hops < places_within_.size(); ++hops) {
    places_within_[hops] += places_within_[hops - 1];
  }
}

Torus::Torus(std::vector<TorusShape> shapes, std::vector<std::uint32_t> shape_of,
             ByNode<std::uint32_t> torus_of, ByNode<TorusPlace> places)
    : shapes_(std::move(shapes)),
      shape_of_(std::move(shape_of)),
      torus_of_(std::move(torus_of)),
      places_(std::move(places)),
      places_within_({1}) {
  std::size_t all = 0;
  for (std::uint32_t torus = 0; torus < count(); ++torus) {
    first_place_.push_back(all);
    all += shape(torus).volume();
    const std::span<const std::uint32_t> within = shape(torus).PlacesWithin();
    for (std::size_t hops = 0; hops < within.size(); ++hops) {
      if (hops == places_within_.size()) places_within_.push_back(places_within_.back());
      places_within_[hops] = std::max(places_within_[hops], within[hops]);
    }
    // Beyond its last hop a torus has all its places.
    for (std::size_t hops = within.size(); hops < places_within_.size(); ++hops) {
      places_within_[hops] = std::max(places_within_[hops], within.back());
    }
  }
  node_at_.assign(all, kNoNode);
  for (const NodeIndex n : places_.Indices()) {
    const std::size_t at = first_place_[torus_of_[n]] + ShapeAround(n).Flat(places_[n]);
    WEFT_CHECK(node_at_[at] == kNoNode);  // else two workers would be placed as if on one host
    node_at_[at] = n;
  }
}

}  // namespace weft::fabric
