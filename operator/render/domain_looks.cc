#include "operator/render/domain_looks.h"

#include <algorithm>
#include <map>

namespace weft::render {

using fabric::DomainIndex;
using fabric::Tier;

namespace {

// Numbers values in the order in which they first occur.
template <typename Value>
class Numbering {
 public:
  std::uint32_t Of(const Value& value) {
    return numbers_.try_emplace(value, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  std::map<Value, std::uint32_t> numbers_;
};

}  // namespace

Fill FillOf(const DomainCount& count) {
  if (count.free == 0) return Fill::kNothingFree;
  return count.free == count.accelerators ? Fill::kAllFree : Fill::kPartlyFree;
}

DomainLooks::DomainLooks(const fabric::Claims& claims) {
  const fabric::Fabric& fabric = claims.fabric();
  const Tier last = fabric.node_tier();
  counts_.resize(last + 1);
  looks_.resize(last + 1);
  Numbering<DomainCount> nodes;
  for (DomainIndex n{0}; n < fabric.domains(last).EndIndex(); ++n) {
    counts_[last].push_back(CountIn(claims, last, n));
    looks_[last].push_back(nodes.Of(counts_[last].back()));
  }
  for (Tier t = last; t-- > Tier{0};) {
    Numbering<std::vector<std::uint32_t>> domains;
    const auto& child_begin = fabric.domains(t).child_begin;
    for (DomainIndex d{0}; d < fabric.domains(t).EndIndex(); ++d) {
      const auto first = looks_[t + 1].begin() + child_begin[d].Raw();
      const auto end = looks_[t + 1].begin() + child_begin[d + 1].Raw();
      std::vector<std::uint32_t> below(first, end);
      std::sort(below.begin(), below.end());
      looks_[t].push_back(domains.Of(below));
      counts_[t].emplace_back();
      for (DomainIndex c = child_begin[d]; c < child_begin[d + 1]; ++c) {
        counts_[t].back().Add(counts_[t + 1][c]);
      }
    }
  }
}

}  // namespace weft::render
