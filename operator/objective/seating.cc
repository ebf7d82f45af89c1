#include "operator/objective/seating.h"

#include <algorithm>
#include <bit>

#include "operator/base/check.h"

namespace weft::objective {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

constexpr std::uint32_t kEmpty = ~std::uint32_t{0};

// Numbers values in the order in which they first occur. Open addressing, at most half full; never
// iterated, so the hash does not affect any order.
class Numbering {
 public:
  explicit Numbering(std::size_t most)
      : mask_(std::bit_ceil(most * 2 + 1) - 1), table_(mask_ + 1, Entry{0, kEmpty}) {}

  std::uint32_t Number(DomainIndex domain, std::vector<DomainIndex>& values) {
    const std::uint32_t value = domain.Raw();
    constexpr std::uint32_t kGolden = 2654435769U;  // 2^32 / golden ratio: spreads runs of indices
    std::size_t i = ((value * kGolden) >> 7) & mask_;
    for (; table_[i].number != kEmpty; i = (i + 1) & mask_) {
      if (table_[i].value == value) return table_[i].number;
    }
    WEFT_CHECK(values.size() <= mask_ / 2);  // half full at most, so the loop above ends
    table_[i] = {value, static_cast<std::uint32_t>(values.size())};
    values.push_back(domain);
    return table_[i].number;
  }

 private:
  struct Entry {
    std::uint32_t value, number;
  };
  std::size_t mask_;
  std::vector<Entry> table_;
};

}  // namespace

Seating::Seating(const fabric::Fabric& fabric, Nodes nodes)
    : nodes_(nodes),
      tiers_(fabric.node_tier() + 1),
      seats_(nodes.size() * tiers_.Raw(), 0),
      domains_(tiers_) {
  SeatNodes();
  for (Tier tier = tiers_ - 1; tier-- > Tier{0};) SeatDomains(tier, fabric.domains(tier));
}

void Seating::SeatNodes() {
  const Tier last = tiers_ - 1;
  Numbering numbering(nodes_.size());
  domains_[last].reserve(nodes_.size());
  for (const WorkerIndex w : nodes_.Indices()) {
    const bool as_before = w > WorkerIndex{0} && nodes_[w] == nodes_[w - 1];
    seats_[std::size_t{w.Raw()} * tiers_.Raw() + last.Raw()] =
        as_before ? seat(w - 1, last) : numbering.Number(AsDomain(nodes_[w]), domains_[last]);
  }
}

void Seating::SeatDomains(Tier tier, const fabric::TierDomains& domains) {
  Numbering numbering(domains_[tier + 1].size());
  DomainIndex last_domain{0};
  std::uint32_t last_seat = kEmpty;
  for (const WorkerIndex w : nodes_.Indices()) {
    WEFT_DCHECK(nodes_[w] < domains.of_node.EndIndex());
    const DomainIndex domain = domains.of_node[nodes_[w]];
    if (last_seat == kEmpty || domain != last_domain) {
      last_seat = numbering.Number(domain, domains_[tier]);
      last_domain = domain;
    }
    seats_[std::size_t{w.Raw()} * tiers_.Raw() + tier.Raw()] = last_seat;
  }
}

std::uint32_t CountDistinct(std::vector<DomainIndex> values) {
  std::sort(values.begin(), values.end());
  return static_cast<std::uint32_t>(std::unique(values.begin(), values.end()) - values.begin());
}

}  // namespace weft::objective
