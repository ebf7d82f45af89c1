#pragma once

#include <functional>
#include <vector>

#include "operator/fabric/fabric.h"

namespace weft::render {

// One domain in the picture, in pixels.
struct MapBox {
  fabric::Tier tier{0};
  fabric::DomainIndex domain{0};
  bool cell = false;  // a filled square; else a frame with a label and contents
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

// The tier whose domains are drawn as cells: the node tier if `limits` allows, else the narrowest
// allowed tier (tier 1 if none is).
fabric::Tier MapCellTier(const fabric::Fabric& fabric, MapLimits limits);

// The narrowest tier above the cells that has the same domains as `tier` under other names (racks
// that are NVLink domains); `tier` itself if the next tier divides them.
fabric::Tier SameFrame(const fabric::Fabric& fabric, fabric::Tier tier, fabric::Tier cell_tier);

// The fabric as nested boxes, each frame before its contents, `outside` first. Tiers with the same
// domains share the frame of the widest. Frames are in rows that wrap. A frame of cells is about
// twice as wide as high, or as wide as its label, and all have the same number of cells per row.
// `label_width`: pixels that a frame's label needs.
// Cost  O(boxes x tiers).
std::vector<MapBox> LayOutMap(
    const fabric::Fabric& fabric, fabric::Tier cell_tier,
    const std::function<int(fabric::Tier, fabric::DomainIndex)>& label_width);

}  // namespace weft::render
