#include "operator/render/map_layout.h"

#include <algorithm>
#include <cmath>

namespace weft::render {

using fabric::DomainIndex;
using fabric::Tier;

namespace {

constexpr int kCellGap = 3;

class Layout {
 public:
  Layout(const fabric::Fabric& fabric, Tier cell_tier,
         const std::function<int(Tier, DomainIndex)>& label_width)
      : fabric_(fabric), cell_tier_(cell_tier), label_width_(label_width) {
    CountColumns();
  }

  std::vector<MapBox> Run() {
    Place(fabric::kOutside, DomainIndex{0}, {kMapPad, kMapPad}, kMapWidth - 2 * kMapPad);
    return std::move(boxes_);
  }

 private:
  struct Point {
    int x = 0, y = 0;
  };

  // Chooses the cells per row: the fullest frame is about twice as wide as high, or as wide as
  // labels need.
  void CountColumns() {
    const auto& begin = fabric_.domains(cell_tier_ - 1).child_begin;
    int most = 1, label = 0;
    for (DomainIndex d{0}; d + 1 < begin.EndIndex(); ++d) {
      most = std::max(most, static_cast<int>(begin[d + 1] - begin[d]));
      label = std::max(label, label_width_(cell_tier_ - 1, d));
    }
    constexpr int kStep = kMapCell + kCellGap;
    const int fit = (kMapWidth - 2 * kMapPad * static_cast<int>(cell_tier_.Raw() + 1)) / kStep;
    const int rows = std::max(1, static_cast<int>(std::lround(std::sqrt(most / 2.0))));
    columns_ = std::max((most + rows - 1) / rows, (label - kMapPad + kCellGap) / kStep);
    columns_ = std::clamp(columns_, 1, std::max(fit, 1));
    const int full_rows = (most + columns_ - 1) / columns_;
    columns_ = (most + full_rows - 1) / full_rows;  // avoids a short last row
  }

  void Place(Tier tier, DomainIndex domain, Point at, int most_width) {
    const std::size_t self = boxes_.size();
    boxes_.push_back({.tier = tier, .domain = domain, .x = at.x, .y = at.y});
    const Point inside{at.x + kMapPad, at.y + kMapLabel};
    // Tiers with the same domains have the same number of them.
    const Tier inner = SameFrame(fabric_, tier, cell_tier_);
    const Point end = inner + 1 == cell_tier_
                          ? PlaceCells(inner, domain, inside)
                          : PlaceFrames(inner, domain, inside, most_width - 2 * kMapPad);
    MapBox& box = boxes_[self];
    box.width = std::max(end.x - at.x, label_width_(tier, domain)) + kMapPad;
    box.height = end.y - at.y + kMapPad;
  }

  // Both functions return the lower right corner of what they placed.
  Point PlaceCells(Tier tier, DomainIndex domain, Point at) {
    const auto& begin = fabric_.domains(tier).child_begin;
    Point end = at;
    int column = 0, row = 0;
    for (DomainIndex c = begin[domain]; c < begin[domain + 1]; ++c) {
      if (column == columns_) {
        column = 0;
        ++row;
      }
      const int x = at.x + column * (kMapCell + kCellGap), y = at.y + row * (kMapCell + kCellGap);
      boxes_.push_back({tier + 1, c, true, x, y, kMapCell, kMapCell});
      end = {std::max(end.x, x + kMapCell), y + kMapCell};
      ++column;
    }
    return end;
  }

  Point PlaceFrames(Tier tier, DomainIndex domain, Point at, int most_width) {
    const auto& begin = fabric_.domains(tier).child_begin;
    Point next = at, end = at;
    for (DomainIndex c = begin[domain]; c < begin[domain + 1]; ++c) {
      const std::size_t first = boxes_.size();
      Place(tier + 1, c, next, most_width);
      if (next.x > at.x && next.x + boxes_[first].width > at.x + most_width) {
        Move(first, {at.x - next.x, end.y + kMapPad - next.y});
      }
      const MapBox& box = boxes_[first];
      end = {std::max(end.x, box.x + box.width), std::max(end.y, box.y + box.height)};
      next = {box.x + box.width + kMapPad, box.y};
    }
    return end;
  }

  void Move(std::size_t first, Point by) {
    for (std::size_t b = first; b < boxes_.size(); ++b) {
      boxes_[b].x += by.x;
      boxes_[b].y += by.y;
    }
  }

  const fabric::Fabric& fabric_;
  Tier cell_tier_;
  const std::function<int(Tier, DomainIndex)>& label_width_;
  int columns_ = 1;
  std::vector<MapBox> boxes_;
};

}  // namespace

Tier MapCellTier(const fabric::Fabric& fabric, MapLimits limits) {
  Tier tier = fabric.node_tier();
  if (tier > Tier{1} && fabric.node_count() > limits.nodes) --tier;
  while (tier > Tier{1} && fabric.domains(tier).size() > std::max(limits.nodes, limits.domains))
    --tier;
  return tier;
}

Tier SameFrame(const fabric::Fabric& fabric, Tier tier, Tier cell_tier) {
  if (tier == fabric::kOutside) return tier;
  while (tier + 1 < cell_tier && fabric.domains(tier).size() == fabric.domains(tier + 1).size()) {
    ++tier;
  }
  return tier;
}

std::vector<MapBox> LayOutMap(const fabric::Fabric& fabric, Tier cell_tier,
                              const std::function<int(Tier, DomainIndex)>& label_width) {
  return Layout(fabric, cell_tier, label_width).Run();
}

}  // namespace weft::render
