#include "operator/bound/axes.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/units.h"

namespace weft::bound {

using Edge = objective::UnitEdge;

namespace {

// Lines along one digit of the grid, or along several consecutive ones: `stride` from a vertex to
// the next, and the bytes between pairs of vertices of a line.
struct Lines {
  std::uint32_t stride = 1, size = 1;
  std::int64_t along = kSaturated, around = kSaturated, any = kSaturated;  // least bytes
  std::uint64_t pairs_along = 0, pairs_around = 0, pairs = 0;              // with any bytes

  bool Hold(const Edge& edge) const {
    WEFT_DCHECK(edge.a < edge.b);
    const std::uint32_t apart = edge.b - edge.a;
    return apart % stride == 0 && apart / stride + edge.a.Raw() / stride % size < size;
  }
  bool IsAlong(const Edge& edge) const { return edge.b - edge.a == stride; }
  bool IsAround(const Edge& edge) const {
    return size > 2 && edge.b - edge.a == (size - 1) * stride;
  }

  void Add(const Edge& edge) {
    if (!Hold(edge)) return;
    ++pairs;
    any = std::min(any, edge.bytes);
    if (IsAlong(edge)) {
      along = std::min(along, edge.bytes);
      ++pairs_along;
    } else if (IsAround(edge)) {
      around = std::min(around, edge.bytes);
      ++pairs_around;
    }
  }

  GridAxis Axis(std::uint64_t vertices) const {
    GridAxis axis;
    axis.size = size;
    const std::uint64_t lines = vertices / size;
    if (pairs_along < lines * (size - 1)) return axis;
    const bool all = size > 2 && pairs == lines * size * (size - 1) / 2;
    if (all) axis.each = any;
    axis.along = along - axis.each;
    if (size > 2 && pairs_around == lines) axis.around = around - axis.each;
    WEFT_CHECK(axis.each >= 0 && axis.along >= 0 && axis.around >= 0);  // parts of an edge's bytes
    return axis;
  }

  // The edge without the bytes that the axis accounts for.
  Edge Without(const GridAxis& axis, Edge edge) const {
    edge.bytes -= axis.each;
    if (IsAlong(edge)) edge.bytes -= axis.along;
    if (IsAround(edge)) edge.bytes -= axis.around;
    WEFT_DCHECK(edge.bytes >= 0);  // else bytes would count twice, and the bound be too high
    return edge;
  }
};

// The bytes on all lines of the axis, per vertex.
double BytesOf(const GridAxis& axis) {
  const double n = axis.size;
  const auto each = static_cast<double>(axis.each), along = static_cast<double>(axis.along),
             around = static_cast<double>(axis.around);
  double bytes = each * (n - 1) / 2 + (along * (n - 1) + around) / n;
  for (const GridAxis& inside : axis.inside) bytes += BytesOf(inside);
  return bytes;
}

// Divides a run of digits into axes.
class AxisSearch {
 public:
  explicit AxisSearch(std::span<const std::uint32_t> grid) : grid_(grid) {
    for (const std::uint32_t size : grid) vertices_ *= size;
  }

  // The axes of digits [begin, end) that account for most bytes. Without `whole`, a single axis of
  // all these digits is not allowed.
  std::vector<GridAxis> Best(std::span<const Edge> edges, std::size_t begin, std::size_t end,
                             bool whole) const {
    std::vector<std::vector<GridAxis>> best(end - begin + 1);  // by number of digits from `begin`
    std::vector<double> held(best.size(), 0);
    for (std::size_t last = begin; last < end; ++last) {
      const std::size_t to = last + 1 - begin;
      held[to] = -1;
      for (std::size_t first = begin; first <= last; ++first) {
        if (!whole && to - (first - begin) == end - begin) continue;
        GridAxis axis = AxisOf(edges, first, last + 1);
        const double sum = held[first - begin] + BytesOf(axis);
        if (sum <= held[to]) continue;
        held[to] = sum;
        best[to] = best[first - begin];
        best[to].push_back(std::move(axis));
      }
    }
    return best.back();
  }

 private:
  GridAxis AxisOf(std::span<const Edge> edges, std::size_t first, std::size_t end) const {
    Lines lines;
    for (std::size_t i = 0; i < first; ++i) lines.stride *= grid_[i];
    for (std::size_t i = first; i < end; ++i) lines.size *= grid_[i];
    for (const Edge& edge : edges) lines.Add(edge);
    GridAxis axis = lines.Axis(vertices_);
    if (end - first < 2 || BytesOf(axis) == 0) return axis;
    std::vector<Edge> left;
    for (const Edge& edge : edges) {
      if (!lines.Hold(edge)) continue;
      left.push_back(lines.Without(axis, edge));
      if (left.back().bytes == 0) left.pop_back();
    }
    if (!left.empty()) axis.inside = Best(left, first, end, false);
    return axis;
  }

  std::span<const std::uint32_t> grid_;
  std::uint64_t vertices_ = 1;
};

}  // namespace

double GridAxis::Leaving(std::uint64_t m) const {
  if (m == 0) return 0;
  if (m >= size) return Surplus();
  const double ends = static_cast<double>(along) * (size < 3 ? 1 : 2);
  return ends + static_cast<double>(each) * static_cast<double>(m) * static_cast<double>(size - m);
}

double GridAxis::Surplus() const {
  return size < 3 ? 0 : 2 * static_cast<double>(std::max<std::int64_t>(0, along - around));
}

std::vector<GridAxis> MeasureAxes(std::span<const Edge> edges,
                                  std::span<const std::uint32_t> digits) {
  std::vector<std::uint32_t> grid;
  for (const std::uint32_t size : digits) {
    if (size > 1) grid.push_back(size);
  }
  std::vector<GridAxis> axes = AxisSearch(grid).Best(edges, 0, grid.size(), true);
  std::stable_sort(axes.begin(), axes.end(),
                   [](const GridAxis& a, const GridAxis& b) { return BytesOf(a) > BytesOf(b); });
  return axes;
}

}  // namespace weft::bound
