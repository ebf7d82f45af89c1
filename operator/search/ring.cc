#include "operator/search/ring.h"

#include <algorithm>
#include <array>
#include <optional>

#include "operator/base/check.h"
#include "operator/base/random.h"
#include "operator/objective/hard_rules.h"

namespace weft::search {
namespace {

using fabric::NodeIndex;
using objective::Candidate;

constexpr std::size_t kShortened = 1;     // candidates that are shortened
constexpr std::size_t kLongestMove = 3;   // hosts that or-opt moves together
constexpr std::size_t kShortestRing = 8;  // of shorter ones the other searches try everything
constexpr std::size_t kKickAtMost = 48;   // hosts from the first cut of a kick to the last

// The workers in the order of the ring; empty if the job's traffic is no single even ring.
std::vector<WorkerIndex> RingOf(const traffic::WorkerGraph& graph) {
  if (!graph.cliques().empty() || graph.edges().size() != graph.workers()) return {};
  const std::int64_t bytes = graph.edges().front().bytes;
  std::vector<WorkerIndex> ring = {WorkerIndex{0}};
  for (WorkerIndex before{~0U}; ring.size() <= graph.workers();) {
    const WorkerIndex here = ring.back();
    const auto next = graph.neighbours(here);
    if (next.size() != 2 || next[0].bytes != bytes || next[1].bytes != bytes) return {};
    ring.push_back(next[0].worker != before ? next[0].worker : next[1].worker);
    before = here;
    if (ring.back() == WorkerIndex{0}) break;
  }
  ring.pop_back();
  return ring.size() == graph.workers() ? ring : std::vector<WorkerIndex>{};
}

// A closed round trip over some hosts, and the hosts that it does not use.
struct Trip {
  std::vector<NodeIndex> at, free;
  std::int64_t length = 0;
};

class TripSearch {
 public:
  TripSearch(const objective::PairCost& prices, Trip start, std::uint64_t steps)
      : prices_(prices),
        now_(std::move(start)),
        left_(steps),
        open_(prices.fabric().node_count(), 1) {
    WEFT_CHECK(size() >= kShortestRing);  // moves take up to three hosts between two others
    now_.length = Length();
  }

  // The shortest trip found; the search ends early at the length `enough`.
  Trip Run(std::uint64_t seed, std::int64_t enough) {
    SplitMix64 random(seed);
    Descend();
    Trip best = now_;
    while (left_ > 0 && best.length > enough) {
      Kick(random);
      Descend();
      WEFT_DCHECK(now_.length == Length());  // gains that are off would have misled it
      if (now_.length <= best.length) {
        best = now_;
      } else {
        now_ = best;
      }
    }
    return best;
  }

 private:
  using Hosts = std::vector<NodeIndex>;

  std::size_t size() const { return now_.at.size(); }
  Hosts::iterator Host(std::size_t i) { return now_.at.begin() + static_cast<std::ptrdiff_t>(i); }
  std::int64_t Price(NodeIndex a, NodeIndex b) const { return prices_.Weight(a, b); }
  std::int64_t Leg(std::size_t i) const {
    return Price(now_.at[i], now_.at[i + 1 == size() ? 0 : i + 1]);
  }
  std::int64_t Length() const {
    std::int64_t length = 0;
    for (std::size_t i = 0; i < size(); ++i) length += Leg(i);
    return length;
  }
  void Spend(std::uint64_t steps) { left_ -= std::min(left_, steps); }

  // Applies gains until no leg of an open host has one, or the steps are over. Each long leg in
  // turn becomes the one from the last host to the first.
  void Descend() {
    std::size_t i = 0;
    for (std::size_t idle = 0; idle < size() && left_ > 0; ++idle) {
      if (open_[now_.at[i]] != 0) {
        if (Leg(i) > prices_.hop_weight()) {
          std::rotate(now_.at.begin(), Host(i + 1), now_.at.end());
          i = size() - 1;
          if (Exchange() || Turn() || Move()) {
            idle = 0;
            continue;  // the leg that now is there
          }
        }
        open_[now_.at[i]] = 0;
      }
      i = i + 1 == size() ? 0 : i + 1;
    }
  }

  // The legs of these hosts have changed.
  void Open(std::initializer_list<NodeIndex> hosts) {
    for (const NodeIndex host : hosts) open_[host] = 1;
  }

  // A free host instead of the first.
  bool Exchange() {
    const NodeIndex before = now_.at.back(), after = now_.at[1];
    const std::int64_t now = Leg(size() - 1) + Leg(0);
    std::int64_t most = 0;
    std::size_t best = 0;
    for (std::size_t f = 0; f < now_.free.size(); ++f) {
      const NodeIndex host = now_.free[f];
      const std::int64_t gain = now - Price(before, host) - Price(host, after);
      if (gain <= most) continue;
      most = gain;
      best = f;
    }
    Spend(now_.free.size());
    if (most == 0) return false;
    Open({before, now_.free[best], after});
    std::swap(now_.at.front(), now_.free[best]);
    now_.length -= most;
    return true;
  }

  // The last leg and another one, replaced by turning round what is between them.
  bool Turn() {
    const NodeIndex last = now_.at.back(), first = now_.at.front();
    const std::int64_t now = Price(last, first);
    std::int64_t most = 0;
    std::size_t best = 0;
    for (std::size_t j = 1; j + 2 < size(); ++j) {
      const std::int64_t gain =
          now + Leg(j) - Price(last, now_.at[j]) - Price(first, now_.at[j + 1]);
      if (gain <= most) continue;
      most = gain;
      best = j;
    }
    Spend(size());
    if (most == 0) return false;
    Open({last, first, now_.at[best], now_.at[best + 1]});
    std::reverse(now_.at.begin(), Host(best + 1));
    now_.length -= most;
    return true;
  }

  // The first hosts, up to three, between two other ones, either way round.
  bool Move() {
    const NodeIndex last = now_.at.back(), first = now_.at.front();
    std::int64_t most = 0;
    std::size_t count = 0, place = 0;
    bool turned = false;
    for (std::size_t n = 1; n <= kLongestMove; ++n) {
      const NodeIndex end = now_.at[n - 1];
      const std::int64_t out = Price(last, first) + Leg(n - 1) - Price(last, now_.at[n]);
      for (std::size_t j = n; j + 1 < size(); ++j) {
        const NodeIndex left = now_.at[j], right = now_.at[j + 1];
        const std::int64_t straight = Price(left, first) + Price(end, right);
        const std::int64_t around = Price(left, end) + Price(first, right);
        const std::int64_t gain = out + Leg(j) - std::min(straight, around);
        if (gain <= most) continue;
        most = gain;
        count = n;
        place = j;
        turned = around < straight;
      }
      Spend(2 * size());
    }
    if (most == 0) return false;
    Open({last, first, now_.at[count - 1], now_.at[count], now_.at[place], now_.at[place + 1]});
    if (turned) std::reverse(now_.at.begin(), Host(count));
    std::rotate(now_.at.begin(), Host(count), Host(place + 1));
    now_.length -= most;
    return true;
  }

  // Cuts the trip at four places near each other and swaps the two parts in the middle.
  void Kick(SplitMix64& random) {
    std::rotate(now_.at.begin(), Host(random.Below(size())), now_.at.end());
    std::array<std::size_t, 3> cut{};
    for (std::size_t& one : cut) one = 1 + random.Below(std::min(size() - 1, kKickAtMost));
    std::sort(cut.begin(), cut.end());
    for (const std::size_t one : cut) Open({now_.at[one - 1], now_.at[one]});
    std::rotate(Host(cut[0]), Host(cut[1]), Host(cut[2]));
    now_.length = Length();
    Spend(size());
  }

  const objective::PairCost& prices_;
  Trip now_;
  std::uint64_t left_;
  fabric::ByNode<std::uint8_t> open_;  // by host: a leg of it may have a gain
};

// Hosts of the candidate's torus that could take one of its workers; nothing if it uses several
// toruses, or a host for two workers.
std::optional<std::vector<NodeIndex>> FreeHosts(const objective::Instance& instance,
                                                objective::Nodes used) {
  const fabric::Torus& torus = *instance.pair_cost().torus();
  fabric::ByNode<std::uint8_t> taken(instance.fabric().node_count(), 0);
  for (const NodeIndex n : used) {
    if (taken[n] != 0 || !torus.SameTorus(n, used.front())) return std::nullopt;
    taken[n] = 1;
  }
  std::vector<NodeIndex> free;
  for (const NodeIndex n : taken.Indices()) {
    if (taken[n] == 0 && instance.slots()[n] > 0 && torus.SameTorus(n, used.front())) {
      free.push_back(n);
    }
  }
  return free;
}

// The candidate with a shorter ring, if one is found.
std::optional<Candidate> Shortened(const objective::Instance& instance,
                                   std::span<const WorkerIndex> ring, const Candidate& start) {
  auto free = FreeHosts(instance, start.nodes);
  if (!free) return std::nullopt;
  Trip trip{{}, *std::move(free)};
  for (const WorkerIndex worker : ring) trip.at.push_back(start.nodes[worker]);
  const objective::SearchLimits& limits = instance.limits();
  const auto hops = static_cast<std::int64_t>(ring.size());
  trip = TripSearch(instance.pair_cost(), std::move(trip), limits.ring_steps)
             .Run(limits.seed, hops * instance.pair_cost().hop_weight());
  WEFT_CHECK(trip.at.size() == ring.size());
  ByWorker<NodeIndex> nodes(start.nodes.size());
  for (std::size_t i = 0; i < ring.size(); ++i) nodes[ring[i]] = trip.at[i];
  if (!objective::MeetsTopology(instance, nodes)) return std::nullopt;
  Candidate found = objective::Evaluate(instance, std::move(nodes));
  return found.objective() < start.objective() ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace

void ShortenRings(const objective::Instance& instance, Int128 enough,
                  std::vector<Candidate>& candidates) {
  if (instance.pair_cost().torus() == nullptr || instance.workers() < kShortestRing) return;
  const std::vector<WorkerIndex> ring = RingOf(instance.graph());
  if (ring.empty()) return;
  const std::vector<Candidate> starts(
      candidates.begin(),
      candidates.begin() + static_cast<std::ptrdiff_t>(std::min(kShortened, candidates.size())));
  for (const Candidate& start : starts) {
    if (candidates.front().cost <= enough) return;
    if (auto found = Shortened(instance, ring, start)) {
      objective::InsertInOrder(*std::move(found), candidates);
    }
  }
}

}  // namespace weft::search
