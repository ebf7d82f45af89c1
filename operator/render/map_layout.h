#pragma once

#include <functional>
#include <vector>

#include "operator/fabric/fabric.h"

namespace weft::render {

// One domain in the picture, in pixels.
struct MapBox {
  fabric::Tier tier = 0;
  fabric::DomainIndex domain = 0;
  bool cell = false;  // a filled square; else a frame with a label and what it holds
  int x = 0, y = 0, width = 0, height = 0;
};

inline constexpr int kMapCell = 22;      // a cell's side
inline constexpr int kMapPad = 8;        // inside a frame and between frames
inline constexpr int kMapLabel = 30;     // a frame's label with the bar under it
inline constexpr int kMapWidth = 1'360;  // rows wrap here; a long label may stick out

struct MapLimits {
  std::uint32_t nodes = 0;    // drawn one by one
  std::uint32_t domains = 0;  // drawn as cells
};

// The tier whose domains are cells: the node where its limit allows it, else the narrowest that
// does (tier 1 where none does).
fabric::Tier MapCellTier(const fabric::Fabric& fabric, MapLimits limits);

// The narrowest tier whose domains are those of `tier` under other names (racks that are NVLink
// domains), down to the one above the cells; `tier` itself where the next one splits it.
fabric::Tier SameFrame(const fabric::Fabric& fabric, fabric::Tier tier, fabric::Tier cell_tier);

// The fabric as nested boxes, each frame before what it holds, `outside` first. Tiers with the same
// domains share a frame, that of the widest. Frames are in rows that wrap; frames of cells are
// about twice as wide as high, or as wide as the labels, with the same number of cells per row.
// `label_width`: pixels that a frame's label needs. Cost O(boxes x tiers).
std::vector<MapBox> LayOutMap(
    const fabric::Fabric& fabric, fabric::Tier cell_tier,
    const std::function<int(fabric::Tier, fabric::DomainIndex)>& label_width);

}  // namespace weft::render
