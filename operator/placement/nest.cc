#include "operator/placement/nest.h"

#include <algorithm>
#include <limits>

namespace weft::placement {

using fabric::DomainIndex;
using fabric::NodeIndex;

namespace {

using Costs = std::vector<double>;  // by number of units

// The least sum of one entry of each whose numbers add up, for at most `most` units; the last entry
// for more too, where `or_more`.
Costs Sum(const Costs& a, const Costs& b, std::size_t most, bool or_more, std::uint64_t& steps) {
  const std::size_t size = std::min(most + 1, a.size() + b.size() - 1);
  Costs sum(size, std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j < b.size(); ++j) {
    const std::size_t end = std::min(a.size(), size - std::min(size, j));
    for (std::size_t i = 0; i < end; ++i) sum[i + j] = std::min(sum[i + j], a[i] + b[j]);
    steps += end;
    for (std::size_t i = end; or_more && i < a.size(); ++i) {
      sum.back() = std::min(sum.back(), a[i] + b[j]);
    }
  }
  return sum;
}

}  // namespace

std::vector<double> LeastOverNest(const Instance& instance, std::span<const Level> nest, Run run,
                                  Grain grain, std::span<const double> leaving,
                                  std::uint64_t most_steps) {
  if (most_steps == 0) return {};
  const std::size_t most = leaving.size() - 1;
  std::uint64_t steps = 0;
  // Units that fit in each domain of the narrowest level become its table of costs.
  std::vector<std::uint64_t> slots(nest.front().domains, 0);
  for (NodeIndex n = run.begin; n < run.end; ++n) {
    slots[nest.front().Of(n)] += instance.slots()[n];
  }
  std::vector<Costs> tables(nest.front().domains);
  for (DomainIndex d = 0; d < tables.size(); ++d) {
    const std::uint64_t more = grain.whole ? 0 : grain.size - 1;
    tables[d].assign(std::min<std::uint64_t>((slots[d] + more) / grain.size, most) + 1, 0);
  }
  for (std::size_t level = 0; level < nest.size(); ++level) {
    const bool last = level + 1 == nest.size();
    std::vector<Costs> wider(last ? 1 : nest[level + 1].domains);
    std::vector<std::uint8_t> done(tables.size(), 0);
    for (NodeIndex n = run.begin; n < run.end; ++n) {
      const DomainIndex d = nest[level].Of(n);
      if (done[d] != 0) continue;
      done[d] = 1;
      Costs& table = tables[d];
      if (table.size() <= 1) continue;
      for (std::size_t k = 1; k < table.size(); ++k) {
        table[k] += leaving[k] / 2 * static_cast<double>(nest[level].step);
      }
      Costs& into = wider[last ? 0 : nest[level + 1].Of(n)];
      into = into.empty() ? std::move(table) : Sum(into, table, most, !grain.whole, steps);
      if (steps > most_steps) return {};
    }
    tables = std::move(wider);
  }
  return tables.front();
}

}  // namespace weft::placement
