#include "operator/bound/hop_bound.h"

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "operator/base/check.h"

namespace weft::bound {

namespace {

// The least cost of a byte from any slot to the k-th nearest other slot.
class NearestSlots {
 public:
  explicit NearestSlots(const objective::Instance& instance) {
    const objective::PairCost& pair_cost = instance.pair_cost();
    const fabric::Torus& torus = *pair_cost.torus();
    const std::uint64_t each = *std::max_element(instance.slots().begin(), instance.slots().end());
    WEFT_CHECK(each > 0);  // there are slots
    // The least weight of a pair that the torus does not carry.
    std::int64_t most = pair_cost.LeastOffTorus();
    for (std::size_t hops = 0; hops < torus.PlacesWithin().size(); ++hops) {
      const std::int64_t weight =
          std::min(most, static_cast<std::int64_t>(hops) * pair_cost.hop_weight());
      Add(torus.PlacesWithin()[hops] * each - 1, weight);
      if (weight == most) break;
    }
    Add(~std::uint64_t{0}, most);
  }

  // Sum over peers of the bytes, heaviest first, times the weight of the next nearest slot.
  Int128 Least(std::span<const std::int64_t> heaviest_first) const {
    Int128 sum = 0;
    std::size_t shell = 0;
    for (std::size_t k = 0; k < heaviest_first.size(); ++k) {
      while (k >= shells_[shell].slots) ++shell;
      WEFT_DCHECK(shell < shells_.size());  // the last has room for all
      sum += static_cast<Int128>(heaviest_first[k]) * shells_[shell].weight;
    }
    return sum;
  }

 private:
  struct Shell {
    std::uint64_t slots = 0;  // slots in this shell and in those inside it
    std::int64_t weight = 0;
  };
  void Add(std::uint64_t slots, std::int64_t weight) { shells_.push_back({slots, weight}); }

  std::vector<Shell> shells_;
};

}  // namespace

Int128 HopBound(const objective::Instance& instance) {
  if (instance.pair_cost().torus() == nullptr || instance.TotalSlots() == 0) return 0;
  const NearestSlots nearest(instance);
  Int128 twice = 0;
  std::vector<std::int64_t> bytes, before;
  Int128 last = 0;
  for (const WorkerIndex w : Range<WorkerIndex>(instance.workers())) {
    bytes.clear();
    for (const traffic::Neighbour& peer : instance.graph().neighbours(w)) {
      bytes.push_back(peer.bytes);
    }
    std::sort(bytes.begin(), bytes.end(), std::greater<>());
    // Consecutive workers usually have equal byte lists; reuse the last result.
    if (bytes != before) last = nearest.Least(bytes);
    twice += last;
    before = bytes;
  }
  for (const traffic::Clique& clique : instance.graph().cliques()) {
    std::vector<std::int64_t> ranks;
    for (const traffic::Seat& member : clique.members) ranks.push_back(member.ranks);
    std::sort(ranks.begin(), ranks.end(), std::greater<>());
    std::int64_t own = 0;  // ranks of the last member; most members have equally many
    for (const traffic::Seat& member : clique.members) {
      if (member.ranks != own) {
        own = member.ranks;
        std::vector<std::int64_t> peers = ranks;
        peers.erase(std::find(peers.begin(), peers.end(), own));
        last = nearest.Least(peers) * own;
      }
      twice += last * clique.bytes_per_rank_pair;
    }
  }
  return twice / 2;
}

}  // namespace weft::bound
