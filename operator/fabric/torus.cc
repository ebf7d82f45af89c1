#include "operator/fabric/torus.h"

#include <algorithm>

namespace weft::fabric {

Torus::Torus(const TorusSpec& spec, std::vector<std::uint32_t> torus_of,
             std::vector<TorusPlace> places)
    : torus_of_(std::move(torus_of)), places_(std::move(places)) {
  for (std::size_t d = 0; d < spec.dimensions.size(); ++d) {
    sizes_[d] = spec.dimensions[d].size;
    wraps_[d] = spec.dimensions[d].wraps;
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
  for (const std::uint32_t torus : torus_of_) count_ = std::max(count_, torus + 1);
  node_at_.assign(std::size_t{count_} * volume(), kNoNode);
  for (NodeIndex n = 0; n < places_.size(); ++n) {
    node_at_[std::size_t{torus_of_[n]} * volume() + Flat(places_[n])] = n;
  }
}

}  // namespace weft::fabric
