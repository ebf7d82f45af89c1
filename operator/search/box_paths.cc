#include "operator/search/box_paths.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace weft::search {

using fabric::TorusPlace;

namespace {

TorusPlace Sum(const TorusPlace& a, const TorusPlace& b) {
  TorusPlace sum;
  for (std::size_t d = 0; d < sum.size(); ++d) sum[d] = static_cast<std::uint16_t>(a[d] + b[d]);
  return sum;
}

// A path back and forth along the first dimension, with one step along the next dimension at each
// turn.
BoxPath Snake(const objective::TorusSize& size, std::span<const std::size_t> dimensions) {
  BoxPath path = {TorusPlace{}};
  for (const std::size_t d : dimensions) {
    const BoxPath line = path;
    for (std::uint16_t at = 1; at < size[d]; ++at) {
      TorusPlace aside{};
      aside[d] = at;
      for (std::size_t i = 0; i < line.size(); ++i) {
        path.push_back(Sum(line[at % 2 == 0 ? i : line.size() - 1 - i], aside));
      }
    }
  }
  return path;
}

// A ring over a line: it visits every second place on the way out and the others on the way back.
BoxPath Folded(const BoxPath& line) {
  BoxPath path;
  for (std::size_t i = 0; i < line.size(); i += 2) path.push_back(line[i]);
  for (std::size_t i = line.size(); i-- > 0;) {
    if (i % 2 == 1) path.push_back(line[i]);
  }
  return path;
}

// A ring through the grid that two lines span; the number of rows is even. It visits all columns
// but the first row by row, back and forth, and returns along the first column.
BoxPath Ring(const BoxPath& rows, const BoxPath& columns) {
  BoxPath path;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 1; i < columns.size(); ++i) {
      path.push_back(Sum(rows[r], columns[r % 2 == 0 ? i : columns.size() - i]));
    }
  }
  for (std::size_t r = rows.size(); r-- > 0;) path.push_back(Sum(rows[r], columns.front()));
  return path;
}

}  // namespace

std::vector<BoxPath> PathsThrough(const objective::TorusSize& size,
                                  const objective::TorusSize& stride) {
  std::vector<std::size_t> dimensions;
  for (std::size_t d = 0; d < size.size(); ++d) {
    if (size[d] > 1) dimensions.push_back(d);
  }
  std::stable_sort(dimensions.begin(), dimensions.end(),
                   [&](std::size_t a, std::size_t b) { return stride[a] < stride[b]; });
  std::vector<BoxPath> paths = {Snake(size, dimensions)};
  if (dimensions.size() == 1) paths.push_back(Folded(paths.front()));
  // Rings with one dimension as rows and a snake through the other dimensions as columns.
  for (std::size_t i = 0; i < dimensions.size() && dimensions.size() > 1; ++i) {
    std::vector<std::size_t> others = dimensions;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const BoxPath one = Snake(size, std::span(dimensions).subspan(i, 1));
    const BoxPath rest = Snake(size, others);
    if (one.size() % 2 == 0) paths.push_back(Ring(one, rest));
    if (rest.size() % 2 == 0 && dimensions.size() > 2) paths.push_back(Ring(rest, one));
  }
  return paths;
}

}  // namespace weft::search
