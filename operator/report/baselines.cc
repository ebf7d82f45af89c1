#include "operator/report/baselines.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace weft::report {
namespace {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

class LabelCounting {
 public:
  LabelCounting(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& slots)
      : fabric_(fabric), before_(slots.size() + 1, 0) {
    for (const NodeIndex n : slots.Indices()) before_[n + 1] = before_[n] + slots[n];
  }

  Nodes Run(std::uint64_t workers) {
    if (before_.back() < workers) return {};
    for (Tier tier = fabric_.node_tier() + 1; tier-- > Tier{0};) {
      const std::vector<DomainIndex> all = All(tier);
      if (const auto one = Tightest(tier, all, workers)) {
        Fill(tier, *one, workers);
        return std::move(nodes_);
      }
    }
    return {};
  }

 private:
  using Share = std::pair<DomainIndex, std::uint64_t>;  // workers in a domain

  std::uint64_t Room(Tier tier, DomainIndex domain) const {
    const auto& begin = fabric_.domains(tier).begin;
    return before_[begin[domain + 1]] - before_[begin[domain]];
  }

  const std::string& Label(Tier tier, DomainIndex domain) const {
    return tier == fabric_.node_tier() ? fabric_.node(AsNode(domain)).name
                                       : fabric_.domains(tier).names[domain];
  }

  std::vector<DomainIndex> All(Tier tier) const {
    std::vector<DomainIndex> all(fabric_.domains(tier).size());
    for (std::uint32_t d = 0; d < all.size(); ++d) all[d] = DomainIndex{d};
    return all;
  }

  // The least roomy domain that takes all; on a tie, by label.
  std::optional<DomainIndex> Tightest(Tier tier, const std::vector<DomainIndex>& among,
                                      std::uint64_t workers) const {
    std::optional<DomainIndex> best;
    for (const DomainIndex d : among) {
      if (Room(tier, d) < workers) continue;
      const bool better =
          !best || Room(tier, d) < Room(tier, *best) ||
          (Room(tier, d) == Room(tier, *best) && Label(tier, d) < Label(tier, *best));
      if (better) best = d;
    }
    return best;
  }

  std::vector<Share> Fewest(Tier tier, std::vector<DomainIndex> among,
                            std::uint64_t workers) const {
    std::sort(among.begin(), among.end(), [&](DomainIndex a, DomainIndex b) {
      const std::uint64_t room_a = Room(tier, a), room_b = Room(tier, b);
      return room_a != room_b ? room_a > room_b : Label(tier, a) < Label(tier, b);
    });
    std::vector<Share> shares;
    for (std::size_t i = 0; i < among.size() && workers > 0; ++i) {
      DomainIndex chosen = among[i];
      if (Room(tier, chosen) >= workers) {
        const std::vector<DomainIndex> rest(among.begin() + static_cast<std::ptrdiff_t>(i),
                                            among.end());
        chosen = *Tightest(tier, rest, workers);
      }
      const std::uint64_t take = std::min(workers, Room(tier, chosen));
      shares.push_back({chosen, take});
      workers -= take;
    }
    std::sort(shares.begin(), shares.end(), [&](const Share& a, const Share& b) {
      return Label(tier, a.first) < Label(tier, b.first);
    });
    return shares;
  }

  void Fill(Tier tier, DomainIndex domain, std::uint64_t workers) {
    if (tier == fabric_.node_tier()) {
      nodes_.insert(nodes_.end(), workers, AsNode(domain));
      return;
    }
    const auto& child_begin = fabric_.domains(tier).child_begin;
    std::vector<DomainIndex> children;
    for (DomainIndex c = child_begin[domain]; c < child_begin[domain + 1]; ++c) {
      if (Room(tier + 1, c) > 0) children.push_back(c);
    }
    for (const auto& [child, share] : Fewest(tier + 1, std::move(children), workers)) {
      Fill(tier + 1, child, share);
    }
  }

  const fabric::Fabric& fabric_;
  fabric::ByNode<std::uint64_t> before_;  // slots of all nodes before this one
  Nodes nodes_;
};

// Adds up to `workers` workers to `nodes`, on the nodes of one domain by name.
void FillByName(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& slots,
                std::pair<NodeIndex, NodeIndex> domain, std::size_t workers, Nodes& nodes) {
  std::vector<NodeIndex> by_name;
  for (NodeIndex n = domain.first; n < domain.second; ++n) {
    if (slots[n] > 0) by_name.push_back(n);
  }
  std::sort(by_name.begin(), by_name.end(),
            [&](NodeIndex a, NodeIndex b) { return fabric.name_rank(a) < fabric.name_rank(b); });
  for (const NodeIndex n : by_name) {
    const std::size_t take = std::min<std::size_t>(slots[n], workers);
    nodes.insert(nodes.end(), take, n);
    workers -= take;
  }
}

// The tier whose domains are Slurm's blocks.
Tier BlockTier(const fabric::Fabric& fabric) {
  const Tier node = fabric.node_tier();
  const auto nested = fabric.nested_scale_up();
  if (nested && fabric.domains(*nested).size() == fabric.node_count()) return *nested - 1;
  return node - 1;
}

struct Block {
  DomainIndex domain;
  std::uint64_t room;  // slots
};

// The blocks that take the job's segments, with the segments of each, in order of domain.
std::vector<std::pair<DomainIndex, std::uint64_t>> ShareSegments(std::vector<Block> blocks,
                                                                 std::uint64_t segments,
                                                                 std::uint64_t size) {
  std::sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
    return a.room != b.room ? a.room > b.room : a.domain < b.domain;
  });
  std::vector<std::pair<DomainIndex, std::uint64_t>> shares;
  for (std::size_t b = 0; b < blocks.size() && segments > 0; ++b) {
    if (blocks[b].room / size >= segments) {  // the last block: the tightest that holds the rest
      while (b + 1 < blocks.size() && blocks[b + 1].room / size >= segments) ++b;
    }
    const std::uint64_t take = std::min(segments, blocks[b].room / size);
    if (take > 0) shares.push_back({blocks[b].domain, take});
    segments -= take;
  }
  if (segments > 0) shares.clear();
  std::sort(shares.begin(), shares.end());
  return shares;
}

}  // namespace

Nodes PackNodes(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& slots,
                std::uint32_t workers) {
  std::vector<NodeIndex> fullest;
  for (const NodeIndex n : slots.Indices()) {
    if (slots[n] > 0) fullest.push_back(n);
  }
  std::sort(fullest.begin(), fullest.end(), [&](NodeIndex a, NodeIndex b) {
    return slots[a] != slots[b] ? slots[a] < slots[b] : fabric.name_rank(a) < fabric.name_rank(b);
  });
  Nodes nodes;
  for (const NodeIndex n : fullest) {
    nodes.insert(nodes.end(), std::min<std::size_t>(slots[n], workers - nodes.size()), n);
    if (nodes.size() == workers) return nodes;
  }
  return {};
}

Nodes TightestDomain(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& slots,
                     std::uint32_t workers) {
  for (Tier tier = fabric.node_tier() + 1; tier-- > Tier{0};) {
    const auto& begin = fabric.domains(tier).begin;
    std::optional<DomainIndex> best;
    std::uint64_t least = 0;
    for (DomainIndex d{0}; d < fabric.domains(tier).EndIndex(); ++d) {
      std::uint64_t room = 0;
      for (NodeIndex n = begin[d]; n < begin[d + 1]; ++n) room += slots[n];
      if (room < workers || (best && room >= least)) continue;
      best = d;
      least = room;
    }
    if (!best) continue;
    Nodes nodes;
    FillByName(fabric, slots, {begin[*best], begin[*best + 1]}, workers, nodes);
    return nodes;
  }
  return {};
}

Nodes BlockSegments(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& slots,
                    std::uint32_t workers) {
  const Tier tier = BlockTier(fabric);
  const auto& begin = fabric.domains(tier).begin;
  std::vector<Block> blocks;
  std::uint64_t largest = 0;
  for (DomainIndex d{0}; d < fabric.domains(tier).EndIndex(); ++d) {
    Block block{d, 0};
    for (NodeIndex n = begin[d]; n < begin[d + 1]; ++n) block.room += slots[n];
    largest = std::max<std::uint64_t>(largest, begin[d + 1] - begin[d]);
    blocks.push_back(block);
  }
  constexpr std::uint64_t kSegments[] = {16, 4, 1};
  std::uint64_t size = 1;
  for (const std::uint64_t one : kSegments) {
    size = std::max(size, one <= workers && one <= largest ? one : 1);
  }
  Nodes nodes;
  std::uint64_t left = workers;
  for (const auto& [domain, segments] : ShareSegments(blocks, (workers + size - 1) / size, size)) {
    const std::uint64_t take = std::min(left, segments * size);
    FillByName(fabric, slots, {begin[domain], begin[domain + 1]}, take, nodes);
    left -= take;
  }
  return nodes;
}

Nodes FirstFit(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& slots,
               std::uint32_t workers) {
  std::vector<NodeIndex> by_name(slots.size());
  for (const NodeIndex n : slots.Indices()) by_name[fabric.name_rank(n)] = n;
  Nodes nodes;
  for (const NodeIndex n : by_name) {
    const std::size_t take = std::min<std::size_t>(slots[n], workers - nodes.size());
    nodes.insert(nodes.end(), take, n);
  }
  if (nodes.size() < workers) nodes.clear();
  return nodes;
}

Nodes FewestDomains(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& slots,
                    std::uint32_t workers) {
  return LabelCounting(fabric, slots).Run(workers);
}

Nodes RandomFit(const fabric::ByNode<std::uint32_t>& slots, std::uint32_t workers,
                SplitMix64& random) {
  std::vector<NodeIndex> all;
  for (const NodeIndex n : slots.Indices()) all.insert(all.end(), slots[n], n);
  if (all.size() < workers) return {};
  for (std::size_t i = 0; i < workers; ++i) {
    std::swap(all[i], all[i + random.Below(all.size() - i)]);
  }
  all.resize(workers);
  return Nodes(std::move(all));
}

}  // namespace weft::report
