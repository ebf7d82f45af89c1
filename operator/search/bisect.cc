#include "operator/search/bisect.h"

#include <algorithm>
#include <array>

#include "operator/base/check.h"

namespace weft::search {

using fabric::NodeIndex;
using fabric::TorusPlace;

namespace {

class Bisection {
 public:
  Bisection(std::span<const DigitTraffic> digits, const fabric::Torus& torus,
            const objective::Box& around, std::vector<NodeIndex> nodes)
      : digits_(digits),
        torus_(torus),
        shape_(torus.ShapeAround(nodes.front())),
        around_(around),
        nodes_(std::move(nodes)),
        of_vertex_(nodes_.size()) {}

  std::vector<NodeIndex> Run() {
    Part whole;
    for (const DigitTraffic& digit : digits_) whole.push_back({0, digit.size});
    Divide(whole, nodes_);
    return std::move(of_vertex_);
  }

 private:
  struct Range {
    std::uint32_t from = 0, to = 1;
    std::uint32_t size() const { return to - from; }
  };
  using Part = std::vector<Range>;  // of the grid, by digit

  void Divide(const Part& part, std::span<NodeIndex> nodes) {
    if (nodes.size() == 1) {
      of_vertex_[VertexOf(part)] = nodes.front();
      return;
    }
    const std::size_t digit = DigitToCut(part);
    WEFT_CHECK(digit < part.size());  // a part of several vertices has a digit to cut
    WEFT_DCHECK(nodes.size() % part[digit].size() == 0);
    Part low = part, high = part;
    low[digit].to = high[digit].from = part[digit].from + part[digit].size() / 2;
    const std::size_t of_low = nodes.size() / part[digit].size() * low[digit].size();
    SortAlongLongest(nodes);
    Divide(low, nodes.first(of_low));
    Divide(high, nodes.subspan(of_low));
  }

  std::size_t VertexOf(const Part& part) const {
    std::size_t vertex = 0, stride = 1;
    for (std::size_t i = 0; i < part.size(); ++i) {
      vertex += part[i].from * stride;
      stride *= digits_[i].size;
    }
    return vertex;
  }

  // The digit whose middle the fewest bytes cross. Bytes are known for all lines of a digit
  // together; the part has only a share of these lines.
  std::size_t DigitToCut(const Part& part) const {
    std::size_t least = part.size();
    Int128 least_bytes = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const Range& range = part[i];
      if (range.size() < 2) continue;
      const std::uint32_t middle = range.from + range.size() / 2;
      // The bytes of the part's lines, up to a factor that is the same for all digits.
      const Int128 bytes = digits_[i].Across(range.from, middle, range.to) / range.size() *
                           static_cast<Int128>(digits_[i].size);
      if (least == part.size() || bytes < least_bytes) {
        least = i;
        least_bytes = bytes;
      }
    }
    return least;
  }

  std::uint32_t Along(std::size_t d, NodeIndex n) const {
    const std::uint32_t size = shape_.sizes()[d];
    return (torus_.place(n)[d] + size - around_.at[d]) % size;
  }

  void SortAlongLongest(std::span<NodeIndex> nodes) const {
    std::array<std::size_t, fabric::kTorusDimensions> longest{};
    std::array<std::uint32_t, fabric::kTorusDimensions> extent{};
    for (std::size_t d = 0; d < extent.size(); ++d) {
      longest[d] = d;
      std::uint32_t least = ~0U, most = 0;
      for (const NodeIndex n : nodes) {
        least = std::min(least, Along(d, n));
        most = std::max(most, Along(d, n));
      }
      extent[d] = most - least;
    }
    std::stable_sort(longest.begin(), longest.end(),
                     [&](std::size_t a, std::size_t b) { return extent[a] > extent[b]; });
    std::stable_sort(nodes.begin(), nodes.end(), [&](NodeIndex a, NodeIndex b) {
      for (const std::size_t d : longest) {
        if (Along(d, a) != Along(d, b)) return Along(d, a) < Along(d, b);
      }
      return false;
    });
  }

  std::span<const DigitTraffic> digits_;
  const fabric::Torus& torus_;
  const fabric::TorusShape& shape_;
  const objective::Box& around_;
  std::vector<NodeIndex> nodes_;
  std::vector<NodeIndex> of_vertex_;
};

}  // namespace

std::vector<NodeIndex> LayByBisection(std::span<const DigitTraffic> digits,
                                      const fabric::Torus& torus, const objective::Box& around,
                                      std::vector<NodeIndex> nodes) {
  return Bisection(digits, torus, around, std::move(nodes)).Run();
}

}  // namespace weft::search
