#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "operator/fabric/spec.h"
#include "operator/fabric/tiers.h"

namespace weft::fabric {

inline constexpr std::size_t kTorusDimensions = 3;
// Most nodes along one dimension, and most places of one torus: as many as a fabric may have
// nodes.
inline constexpr std::uint32_t kTorusSizeAtMost = 1024, kTorusPlacesAtMost = 1 << 20;

// A node's place, in the order of TorusSpec::dimensions; 0 along absent dimensions.
using TorusPlace = std::array<std::uint16_t, kTorusDimensions>;

// The size of a torus and where it wraps; the distances between its places.
class TorusShape {
 public:
  explicit TorusShape(std::span<const TorusDimension> dimensions);

  // Sizes of the dimensions; 1 for absent ones.
  const std::array<std::uint32_t, kTorusDimensions>& sizes() const { return sizes_; }
  bool wraps(std::size_t dimension) const { return wraps_[dimension]; }
  std::uint32_t volume() const { return sizes_[0] * sizes_[1] * sizes_[2]; }  // places
  // A place as one number below volume(), the first dimension fastest.
  std::uint32_t Flat(const TorusPlace& place) const {
    return (place[2] * sizes_[1] + place[1]) * sizes_[0] + place[0];
  }
  // How many links lie between two places, the shorter way along every dimension.
  std::uint32_t Hops(const TorusPlace& from, const TorusPlace& to) const {
    std::uint32_t hops = 0;
    for (std::size_t d = 0; d < kTorusDimensions; ++d) {
      hops += hops_[d][from[d] > to[d] ? from[d] - to[d] : to[d] - from[d]];
    }
    return hops;
  }
  // PlacesWithin()[h]: how many places are at most h hops from a place that has the most of them,
  // itself included; up to volume().
  std::span<const std::uint32_t> PlacesWithin() const { return places_within_; }

 private:
  std::array<std::uint32_t, kTorusDimensions> sizes_{1, 1, 1};
  std::array<bool, kTorusDimensions> wraps_{};
  std::array<std::vector<std::uint16_t>, kTorusDimensions> hops_;  // by difference of places
  std::vector<std::uint32_t> places_within_;
};

// The toruses of a fabric: the place of every node, and the distances between nodes. The shapes of
// two toruses may differ; a place may be empty.
class Torus {
 public:
  static constexpr NodeIndex kNoNode{~0U};

  // Shapes  shape_of: by torus, an index into `shapes`. torus_of, places: no two nodes of one
  //         torus have the same place.
  Torus(std::vector<TorusShape> shapes, std::vector<std::uint32_t> shape_of,
        ByNode<std::uint32_t> torus_of, ByNode<TorusPlace> places);

  std::uint32_t count() const { return static_cast<std::uint32_t>(shape_of_.size()); }
  // The number of the torus's shape: equal for toruses of one shape.
  std::uint32_t shape_of(std::uint32_t torus) const { return shape_of_[torus]; }
  const TorusShape& shape(std::uint32_t torus) const { return shapes_[shape_of_[torus]]; }
  const TorusShape& ShapeAround(NodeIndex n) const { return shape(torus_of_[n]); }

  std::uint32_t torus_of(NodeIndex n) const { return torus_of_[n]; }
  const TorusPlace& place(NodeIndex n) const { return places_[n]; }
  // The node at the place; kNoNode if the place is empty.
  NodeIndex At(std::uint32_t torus, const TorusPlace& place) const {
    return node_at_[first_place_[torus] + shape(torus).Flat(place)];
  }

  bool SameTorus(NodeIndex a, NodeIndex b) const { return torus_of_[a] == torus_of_[b]; }
  // How many links lie between two nodes of one torus.
  std::uint32_t Hops(NodeIndex a, NodeIndex b) const {
    return ShapeAround(a).Hops(places_[a], places_[b]);
  }
  // TorusShape::PlacesWithin, for every number of hops that of the torus that has the most.
  std::span<const std::uint32_t> PlacesWithin() const { return places_within_; }

 private:
  std::vector<TorusShape> shapes_;
  std::vector<std::uint32_t> shape_of_;   // by torus
  std::vector<std::size_t> first_place_;  // by torus: where its places begin in node_at_
  ByNode<std::uint32_t> torus_of_;
  ByNode<TorusPlace> places_;
  std::vector<NodeIndex> node_at_;  // places of the first torus, of the second, ...
  std::vector<std::uint32_t> places_within_;
};

}  // namespace weft::fabric
