#include "operator/search/spread.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "operator/base/check.h"

namespace weft::search {

using fabric::NodeIndex;
using fabric::TorusPlace;
using objective::Box;

namespace {

class Spreading {
 public:
  Spreading(const BoxLayout& layout, const fabric::Torus& torus, const fabric::TorusShape& shape,
            const Box& around)
      : layout_(layout),
        torus_(torus),
        shape_(shape),
        around_(around),
        of_vertex_(layout.places.size()) {}

  std::vector<NodeIndex> Run(std::vector<NodeIndex> nodes) {
    WEFT_CHECK(nodes.size() == layout_.places.size());  // one for each vertex
    std::vector<std::uint32_t> vertices(nodes.size());
    std::iota(vertices.begin(), vertices.end(), 0U);
    Divide(vertices, nodes, {TorusPlace{}, layout_.size});
    return std::move(of_vertex_);
  }

 private:
  // `part`: the box of the layout that these vertices fill.
  void Divide(std::span<std::uint32_t> vertices, std::span<NodeIndex> nodes, const Box& part) {
    if (nodes.size() == 1) {
      of_vertex_[vertices.front()] = nodes.front();
      return;
    }
    const auto longest = std::max_element(part.size.begin(), part.size.end());
    const auto d = static_cast<std::size_t>(longest - part.size.begin());
    Box low = part, high = part;
    low.size[d] = part.size[d] / 2;
    high.size[d] = part.size[d] - low.size[d];
    high.at[d] = static_cast<std::uint16_t>(part.at[d] + low.size[d]);
    const auto middle =
        std::stable_partition(vertices.begin(), vertices.end(),
                              [&](std::uint32_t v) { return layout_.places[v][d] < high.at[d]; });
    const auto of_low = static_cast<std::size_t>(middle - vertices.begin());
    WEFT_DCHECK(of_low > 0 && of_low < vertices.size());
    const auto key = [&](NodeIndex n) {
      return std::tuple(Along(d, n), Along((d + 1) % 3, n), Along((d + 2) % 3, n));
    };
    std::sort(nodes.begin(), nodes.end(),
              [&](NodeIndex a, NodeIndex b) { return key(a) < key(b); });
    Divide(vertices.first(of_low), nodes.first(of_low), low);
    Divide(vertices.subspan(of_low), nodes.subspan(of_low), high);
  }

  std::uint32_t Along(std::size_t d, NodeIndex n) const {
    const std::uint32_t size = shape_.sizes()[d];
    return (torus_.place(n)[d] + size - around_.at[d]) % size;
  }

  const BoxLayout& layout_;
  const fabric::Torus& torus_;
  const fabric::TorusShape& shape_;
  const Box& around_;
  std::vector<NodeIndex> of_vertex_;
};

}  // namespace

std::vector<NodeIndex> SpreadLayout(const BoxLayout& layout, const fabric::Torus& torus,
                                    const Box& around, std::vector<NodeIndex> nodes) {
  const fabric::TorusShape& shape = torus.ShapeAround(nodes.front());
  return Spreading(layout, torus, shape, around).Run(std::move(nodes));
}

}  // namespace weft::search
