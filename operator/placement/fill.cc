#include "operator/placement/fill.h"

#include <algorithm>

namespace weft::placement {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

std::optional<std::vector<NodeIndex>> Filler::Fill(Tier tier, DomainIndex domain,
                                                   const Order& order) {
  order_ = &order;
  nodes_.assign(order.workers.size(), 0);
  if (!Lay(tier, domain, order.workers)) return std::nullopt;
  return std::move(nodes_);
}

std::span<const DomainIndex> Filler::Children(Tier tier, DomainIndex domain) {
  auto [entry, is_new] = sorted_[tier].try_emplace(domain);
  std::vector<DomainIndex>& children = entry->second;
  if (!is_new) return children;
  const Tier child_tier = tier + 1;
  const auto& begin = instance_->fabric().domains(tier).child_begin;
  for (DomainIndex c = begin[domain]; c < begin[domain + 1]; ++c) {
    if (instance_->capacity(child_tier, c) > 0) children.push_back(c);
  }
  std::stable_sort(children.begin(), children.end(), [&](DomainIndex a, DomainIndex b) {
    const std::uint64_t room_a = instance_->capacity(child_tier, a);
    const std::uint64_t room_b = instance_->capacity(child_tier, b);
    if (room_a != room_b) return room_a > room_b;
    return !instance_->wholly_free(child_tier, a) && instance_->wholly_free(child_tier, b);
  });
  return children;
}

bool Filler::Lay(Tier tier, DomainIndex domain, Workers workers) {
  if (tier == instance_->node_tier()) {
    for (std::uint32_t worker : workers) nodes_[worker] = domain;
    return workers.size() <= instance_->slots()[domain];
  }
  const auto children = Children(tier, domain);
  if (children.empty()) return false;
  if (instance_->capacity(tier + 1, children.front()) >= workers.size()) {
    const std::size_t fit = TightestFit(tier + 1, children, 0, workers.size());
    if (Lay(tier + 1, children[fit], workers)) return true;
  }
  return Split(tier + 1, children, workers);
}

// Children stand largest first: the last one that still has room for all, and among equals the
// first of them (in use before wholly free).
std::size_t Filler::TightestFit(Tier child_tier, std::span<const DomainIndex> children,
                                std::size_t first, std::uint64_t wanted) const {
  const auto end = std::partition_point(
      children.begin() + static_cast<std::ptrdiff_t>(first), children.end(),
      [&](DomainIndex c) { return instance_->capacity(child_tier, c) >= wanted; });
  const std::uint64_t room = instance_->capacity(child_tier, *(end - 1));
  const auto begin = std::partition_point(
      children.begin() + static_cast<std::ptrdiff_t>(first), end,
      [&](DomainIndex c) { return instance_->capacity(child_tier, c) > room; });
  return static_cast<std::size_t>(begin - children.begin());
}

// The last place in (from, to] where the workers may be cut without splitting an atom; `from`
// where there is none.
std::size_t Filler::CutBefore(Tier tier, Workers workers, std::size_t from, std::size_t to,
                              bool soft) const {
  const auto joined = [&](std::span<const std::uint32_t> atoms, std::size_t at) {
    return !atoms.empty() && atoms[workers[at - 1]] == atoms[workers[at]];
  };
  if (to >= workers.size()) return workers.size();
  std::span<const std::uint32_t> tiles;
  if (soft && !order_->tiles.empty()) tiles = order_->tiles[tier];
  const auto atoms = soft ? instance_->soft_atoms(tier) : instance_->hard_atoms(tier);
  while (to > from && (joined(atoms, to) || joined(tiles, to))) --to;
  return to;
}

bool Filler::Split(Tier child_tier, std::span<const DomainIndex> children, Workers workers) {
  std::vector<Share> shares;
  std::vector<bool> used(children.size(), false);
  std::size_t done = 0;
  for (std::size_t i = 0; i < children.size() && done < workers.size(); ++i) {
    if (used[i]) continue;
    const std::size_t rest = workers.size() - done;
    std::size_t at = i;
    if (done > 0 && instance_->capacity(child_tier, children[i]) >= rest) {
      at = TightestFit(child_tier, children, i, rest);
    }
    const std::uint64_t room = instance_->capacity(child_tier, children[at]);
    const std::size_t limit = done + static_cast<std::size_t>(std::min<std::uint64_t>(room, rest));
    const std::size_t end = CutBefore(child_tier, workers, done, limit, true);
    used[at] = true;
    shares.push_back({children[at], room - (end - done), {}});
    const auto taken = workers.subspan(done, end - done);
    shares.back().workers.assign(taken.begin(), taken.end());
    done = end;
  }
  if (done < workers.size() && !Leftover(child_tier, workers.subspan(done), shares)) return false;
  for (const Share& share : shares) {
    if (share.workers.empty()) continue;
    if (!Lay(child_tier, share.child, share.workers)) return false;
  }
  return true;
}

// What soft atoms left over goes where there is room, hard atoms whole.
bool Filler::Leftover(Tier child_tier, Workers rest, std::vector<Share>& shares) const {
  std::size_t done = 0;
  for (Share& share : shares) {
    if (done == rest.size()) break;
    const std::size_t limit =
        done + static_cast<std::size_t>(std::min<std::uint64_t>(share.room, rest.size() - done));
    const std::size_t end = CutBefore(child_tier, rest, done, limit, false);
    share.workers.insert(share.workers.end(), rest.begin() + static_cast<std::ptrdiff_t>(done),
                         rest.begin() + static_cast<std::ptrdiff_t>(end));
    done = end;
  }
  return done == rest.size();
}

}  // namespace weft::placement
