#include "operator/placement/search.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "operator/placement/fill.h"
#include "operator/placement/orders.h"

namespace weft::placement {

using fabric::DomainIndex;
using fabric::Tier;

namespace {

constexpr std::size_t kNarrowHomes = 8;  // homes tried at the narrowest tier that holds the job
constexpr std::size_t kWiderHomes = 2;   // and at each wider tier that is still allowed
constexpr std::size_t kSlotBuckets = 65;

class Greedy {
 public:
  explicit Greedy(const Instance& instance) : instance_(&instance), filler_(instance) {}

  std::vector<Candidate> Run() {
    for (Tier limit : AllowedTiers(instance_->request())) {
      Within(limit);
      if (!candidates_.empty()) break;
    }
    return std::move(candidates_);
  }

 private:
  void Within(Tier limit);
  void TryHomes(Tier tier, std::size_t most);
  void TryHome(Home home);
  std::vector<Home> Homes(Tier tier, std::size_t most);
  std::uint64_t ChildrenNeeded(Home home);
  std::vector<std::uint64_t> TypicalRoom(Home home);

  const Instance* instance_;
  Filler filler_;
  std::vector<Candidate> candidates_;
};

void Greedy::Within(Tier limit) {
  for (Tier tier = instance_->node_tier() + 1; tier-- > limit;) {
    TryHomes(tier, candidates_.empty() ? kNarrowHomes : kWiderHomes);
  }
}

void Greedy::TryHomes(Tier tier, std::size_t most) {
  for (Home home : Homes(tier, most)) TryHome(home);
}

// Fewest children needed first, then those that break no wholly free domain (widest tier first),
// then the tightest, then tree order.
std::vector<Home> Greedy::Homes(Tier tier, std::size_t most) {
  struct Ranked {
    std::uint64_t children;
    std::uint64_t breaks;  // wholly free ancestors, widest tier in the highest bit
    std::uint64_t left;
    DomainIndex domain;
  };
  std::vector<Ranked> ranked;
  const fabric::Fabric& fabric = instance_->fabric();
  for (DomainIndex d = 0; d < fabric.domains(tier).size(); ++d) {
    const std::uint64_t room = instance_->capacity(tier, d);
    if (room < instance_->workers()) continue;
    std::uint64_t breaks = 0;
    for (Tier t = 1; t <= tier; ++t) {
      const DomainIndex above = fabric.domains(t).of_node[fabric.domains(tier).begin[d]];
      breaks = breaks << 1 | (instance_->wholly_free(t, above) ? 1 : 0);
    }
    ranked.push_back({ChildrenNeeded({tier, d}), breaks, room - instance_->workers(), d});
  }
  const auto before = [](const Ranked& a, const Ranked& b) {
    return std::tie(a.children, a.breaks, a.left, a.domain) <
           std::tie(b.children, b.breaks, b.left, b.domain);
  };
  const std::size_t kept = std::min(most, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(kept),
                    ranked.end(), before);
  std::vector<Home> homes;
  for (std::size_t i = 0; i < kept; ++i) homes.push_back({tier, ranked[i].domain});
  return homes;
}

std::uint64_t Greedy::ChildrenNeeded(Home home) {
  if (home.tier == instance_->node_tier()) return 0;
  std::uint64_t wanted = instance_->workers();
  std::uint64_t needed = 0;
  if (home.tier + 1 == instance_->node_tier()) {
    std::array<std::uint32_t, kSlotBuckets> with{};
    const auto& begin = instance_->fabric().domains(home.tier).begin;
    for (DomainIndex n = begin[home.domain]; n < begin[home.domain + 1]; ++n) {
      ++with[std::min<std::uint64_t>(instance_->capacity(home.tier + 1, n), kSlotBuckets - 1)];
    }
    for (std::size_t slots = kSlotBuckets - 1; slots > 0 && wanted > 0; --slots) {
      const std::uint64_t nodes =
          std::min<std::uint64_t>(with[slots], (wanted + slots - 1) / slots);
      needed += nodes;
      wanted -= std::min<std::uint64_t>(wanted, nodes * slots);
    }
    return needed;
  }
  for (DomainIndex child : filler_.Children(home.tier, home.domain)) {
    if (wanted == 0) break;
    wanted -= std::min(wanted, instance_->capacity(home.tier + 1, child));
    ++needed;
  }
  return needed;
}

// Of the children that a greedy filling would use, the one in the middle, tier by tier.
std::vector<std::uint64_t> Greedy::TypicalRoom(Home home) {
  std::vector<std::uint64_t> room;
  std::uint64_t wanted = instance_->workers();
  while (home.tier < instance_->node_tier()) {
    const auto children = filler_.Children(home.tier, home.domain);
    if (children.empty()) break;
    std::size_t used = 0;
    std::uint64_t rest = wanted;
    for (; used < children.size() && rest > 0; ++used) {
      rest -= std::min(rest, instance_->capacity(home.tier + 1, children[used]));
    }
    const DomainIndex middle = children[(used - 1) / 2];
    wanted = std::min(wanted, instance_->capacity(home.tier + 1, middle));
    room.push_back(wanted);
    home = {home.tier + 1, middle};
  }
  return room;
}

void Greedy::TryHome(Home home) {
  for (const Filler::Order& order : CandidateOrders(*instance_, home.tier, TypicalRoom(home))) {
    auto nodes = filler_.Fill(home.tier, home.domain, order);
    if (!nodes) continue;
    if (instance_->has_groups() && !MeetsHardRules(*instance_, *nodes)) continue;
    candidates_.push_back(Evaluate(*instance_, std::move(*nodes)));
  }
}

}  // namespace

std::vector<Tier> AllowedTiers(const Request& request) {
  const Tier widest = request.required.value_or(fabric::kOutside);
  const Tier best = std::max(request.preferred.value_or(widest), widest);
  std::vector<Tier> tiers;
  for (Tier tier = best + 1; tier-- > widest;) tiers.push_back(tier);
  return tiers;
}

std::vector<Candidate> GreedyCandidates(const Instance& instance) { return Greedy(instance).Run(); }

}  // namespace weft::placement
