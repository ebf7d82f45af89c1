#include "operator/search/tiler.h"

#include <algorithm>

#include "operator/base/check.h"
#include "operator/search/align.h"
#include "operator/search/knapsack.h"

namespace weft::search {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

Tiler::Tiler(const objective::Instance& instance, const objective::Tree& tree)
    : instance_(instance), tree_(tree), rooms_(tree.node_tier() + 1) {
  for (Tier t{0}; t <= tree.node_tier(); ++t) rooms_[t].assign(tree.domains(t).size(), 0);
}

std::optional<ByWorker<NodeIndex>> Tiler::Lay(const Tiling& tiling) {
  WEFT_CHECK(tiling.walk.size() == instance_.workers());
  WEFT_CHECK(!tiling.steps.empty() && tiling.steps.back().unit == 1);  // takes what is left
  tiling_ = &tiling;
  walk_ = &known_[tiling.walk];
  free_.assign(tree_.slots().begin(), tree_.slots().end());
  nodes_.assign(instance_.workers(), NodeIndex{0});
  aligned_ = tiling.prices == RunPrices::Kind::kLeast;
  if (aligned_ && walk_->cuts.empty()) walk_->cuts = CutsOf(instance_.graph(), tiling.walk);
  if (!LayFrom(0, fabric::kOutside, DomainIndex{0}, tiling.walk)) return std::nullopt;
  return nodes_;
}

const RunPrices& Tiler::PricesOf(std::uint32_t unit) {
  const std::pair key(unit, tiling_->prices);
  const auto found = walk_->prices.find(key);
  if (found != walk_->prices.end()) return found->second;
  return walk_->prices
      .emplace(key, RunPrices(instance_.graph(), tree_, tiling_->walk, unit, tiling_->prices))
      .first->second;
}

// A unit fits in a domain if the smaller units that it consists of fit: the units of the next step
// that has smaller ones, each whole in one domain of that step's tier.
std::uint64_t Tiler::CountRooms(std::size_t step, Tier tier, DomainIndex domain) {
  const Tier last = tree_.node_tier();
  const TilingStep& wanted = tiling_->steps[step];
  TilingStep inner{1, last};
  std::uint32_t node_unit = 1;
  for (std::size_t i = tiling_->steps.size(); i-- > step + 1;) {
    const TilingStep& later = tiling_->steps[i];
    if (later.unit < wanted.unit && later.tier >= wanted.tier) inner = later;
    if (later.tier == last) node_unit = std::max(node_unit, later.unit);
  }
  const std::uint32_t begin = tree_.domains(tier).begin[domain];
  const std::uint32_t end = tree_.domains(tier).begin[domain + 1];
  fabric::ByDomain<std::uint32_t>& rooms = rooms_[wanted.tier];
  std::uint64_t sum = 0;
  if (wanted.tier == last) {
    for (std::uint32_t p = begin; p < end; ++p)
      sum += rooms[DomainIndex{p}] = free_[p] / wanted.unit;
    return sum;
  }
  const auto& domains = tree_.domains(wanted.tier);
  const auto& inner_domains = tree_.domains(inner.tier);
  for (std::uint32_t p = begin; p < end;) {
    const DomainIndex d = domains.of_position[p];
    std::uint32_t room = 0;
    while (p < domains.begin[d + 1]) {
      std::uint32_t slots = 0;
      const std::uint32_t inner_end = inner_domains.begin[inner_domains.of_position[p] + 1];
      for (; p < inner_end; ++p) slots += free_[p] - free_[p] % node_unit;
      room += slots - slots % inner.unit;
    }
    sum += rooms[d] = room / wanted.unit;
  }
  return sum;
}

bool Tiler::LayFrom(std::size_t step, Tier tier, DomainIndex domain, Workers workers) {
  const Tier last = tree_.node_tier();
  if (tier == last) {
    for (const WorkerIndex worker : workers) nodes_[worker] = tree_.node(domain.Raw());
    if (free_[domain.Raw()] < workers.size()) return false;
    free_[domain.Raw()] -= static_cast<std::uint32_t>(workers.size());
    return true;
  }
  for (; step < tiling_->steps.size() && !workers.empty(); ++step) {
    const TilingStep& wanted = tiling_->steps[step];
    const auto units = static_cast<std::uint32_t>(workers.size() / wanted.unit);
    if (wanted.tier <= tier || units == 0) continue;
    if (CountRooms(step, tier, domain) == 0) continue;
    Knapsack knapsack(tree_, PricesOf(wanted.unit), wanted.tier, rooms_[wanted.tier]);
    std::vector<Knapsack::Share> shares = knapsack.Choose(tier, domain, units);
    if (aligned_) {
      const auto first = static_cast<std::size_t>(workers.data() - tiling_->walk.data());
      AlignShares(tree_, tier, wanted, std::span(walk_->cuts).subspan(first), shares);
    }
    for (const Knapsack::Share& share : shares) {
      const std::size_t taken = std::size_t{share.units} * wanted.unit;
      WEFT_CHECK(taken <= workers.size());  // the knapsack shares out no more than was asked for
      if (!LayFrom(step + 1, wanted.tier, share.bin, workers.first(taken))) return false;
      workers = workers.subspan(taken);
    }
  }
  return workers.empty();
}

}  // namespace weft::search
