#include "operator/search/align.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"

namespace weft::search {

using fabric::Tier;

namespace {

using Shares = std::vector<Knapsack::Share>;

class Aligner {
 public:
  Aligner(const objective::Tree& tree, TilingStep step, std::span<const Int128> cuts)
      : tree_(tree), step_(step), cuts_(cuts) {}

  // Orders the shares inside one domain of the tier; the first of them begins at the run's worker
  // at_.
  void Align(Tier tier, std::span<const Knapsack::Share> shares) {
    if (tier == step_.tier) {
      out_.push_back(shares.front());
      at_ += std::size_t{shares.front().units} * step_.unit;
      return;
    }
    WEFT_DCHECK(tier < step_.tier && !shares.empty());
    std::vector<Part> parts = Split(tier + 1, shares);
    while (!parts.empty()) {
      const auto next = std::min_element(
          parts.begin(), parts.end(),
          [&](const Part& a, const Part& b) { return cuts_[at_ + a.size] < cuts_[at_ + b.size]; });
      const auto inside = next->shares;
      parts.erase(next);
      Align(tier + 1, inside);
    }
  }

  Shares Take() { return std::move(out_); }

 private:
  struct Part {
    std::span<const Knapsack::Share> shares;
    std::size_t size = 0;  // workers
  };

  // Divides the shares into parts, one for each domain of the tier.
  std::vector<Part> Split(Tier tier, std::span<const Knapsack::Share> shares) const {
    const auto& domain_of = tree_.domains(tier).of_position;
    const auto& begin = tree_.domains(step_.tier).begin;
    std::vector<Part> parts;
    for (std::size_t i = 0; i < shares.size();) {
      const auto domain = domain_of[begin[shares[i].bin]];
      Part part;
      std::size_t end = i;
      for (; end < shares.size() && domain_of[begin[shares[end].bin]] == domain; ++end) {
        part.size += std::size_t{shares[end].units} * step_.unit;
      }
      part.shares = shares.subspan(i, end - i);
      parts.push_back(part);
      i = end;
    }
    return parts;
  }

  const objective::Tree& tree_;
  const TilingStep step_;
  const std::span<const Int128> cuts_;
  std::size_t at_ = 0;
  Shares out_;
};

}  // namespace

std::vector<Int128> CutsOf(const traffic::WorkerGraph& graph, std::span<const WorkerIndex> walk) {
  ByWorker<std::uint32_t> at(walk.size());
  for (std::uint32_t i = 0; i < walk.size(); ++i) at[walk[i]] = i;
  std::vector<Int128> cuts(walk.size() + 1, 0);  // changes first, sums at the end
  for (const traffic::Edge& edge : graph.edges()) {
    const auto [first, last] = std::minmax(at[edge.a], at[edge.b]);
    cuts[first + 1] += edge.bytes;
    cuts[last + 1] -= edge.bytes;
  }
  std::vector<std::pair<std::uint32_t, std::int64_t>> members;
  for (const traffic::Clique& clique : graph.cliques()) {
    members.clear();
    Int128 all = 0, before = 0, crossing = 0;
    for (const traffic::Seat& seat : clique.members) {
      members.emplace_back(at[seat.worker], seat.ranks);
      all += seat.ranks;
    }
    std::sort(members.begin(), members.end());
    for (const auto& [position, ranks] : members) {
      before += ranks;
      const Int128 now = before * (all - before) * clique.bytes_per_rank_pair;
      cuts[position + 1] += now - crossing;
      crossing = now;
    }
  }
  for (std::size_t x = 1; x < cuts.size(); ++x) cuts[x] += cuts[x - 1];
  return cuts;
}

void AlignShares(const objective::Tree& tree, Tier tier, TilingStep step,
                 std::span<const Int128> cuts, Shares& shares) {
  if (shares.size() < 2) return;
  Aligner aligner(tree, step, cuts);
  aligner.Align(tier, shares);
  Shares aligned = aligner.Take();
  WEFT_CHECK(aligned.size() == shares.size());
  shares = std::move(aligned);
}

}  // namespace weft::search
