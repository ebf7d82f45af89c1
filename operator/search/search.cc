#include "operator/search/search.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>

#include "operator/base/check.h"
#include "operator/objective/hard_rules.h"
#include "operator/search/fill.h"
#include "operator/search/orders.h"
#include "operator/search/tiler.h"
#include "operator/search/tiling.h"
#include "operator/search/tilings.h"
#include "operator/search/torus_search.h"

namespace weft::search {

using fabric::DomainIndex;
using fabric::Tier;
using objective::Candidate;
using objective::PairCost;
using objective::Shape;
using objective::Tree;

namespace {

constexpr std::size_t kNarrowHomes = 8;  // homes tried at the narrowest tier that holds the job
constexpr std::size_t kWiderHomes = 2;   // homes tried at each wider tier that is allowed

// After the first tilings, only those are laid of which the forecast is within a tenth of the least
// (cost 0.00 % over 336 instances, a third of the time).
constexpr std::size_t kFirstTilings = 8;
constexpr int kPromisingPart = 10;

// A home among others of its tier; the one that comes first is tried first.
struct RankedHome {
  std::uint64_t children;
  std::uint64_t breaks;                 // wholly free ancestors, widest tier in the highest bit
  fabric::ByTier<std::uint64_t> slots;  // in the home and each wider domain around it, widest first
  DomainIndex domain;

  friend auto operator<=>(const RankedHome&, const RankedHome&) = default;
};

// The search for the homes of a tier that come first.
struct HomeSearch {
  Tier tier;
  std::size_t most;
  std::uint64_t fewest;  // children that any home needs
  // Of the domains around the homes; for narrower ones the least that counts.
  fabric::ByTier<std::uint64_t> slots;
  std::vector<RankedHome> kept;  // in order

  // Whether all homes come later than those kept if they have `breaks` and `slots` at least: they
  // are later in tree order.
  bool NoneBefore(std::uint64_t breaks) const {
    if (kept.size() < most) return false;
    const RankedHome& last = kept.back();
    return std::tie(last.children, last.breaks, last.slots) <= std::tie(fewest, breaks, slots);
  }
};

// Fills homes, the narrowest first; then places tilings in the widest homes that are allowed. The
// fillings end the search of most jobs early and keep domains free. Measured: without them, 15 of
// 250 jobs of 4 to 16 workers on 1,000 ragged nodes cost more, up to ten times, and in equal leaves
// half of such jobs leave more domains in part use. With tilings in the same homes instead, jobs of
// 64 and 256 workers take a quarter longer, and single jobs cost up to 60 % more.
class Greedy {
 public:
  Greedy(const objective::Instance& instance, const StandingOf& standing)
      : instance_(&instance),
        standing_(standing),
        plain_(instance, fabric::ByTier<std::uint32_t>(instance.node_tier() + 1, 1)),
        filler_(instance, plain_),
        grid_(instance.grid()) {}

  std::vector<Candidate> Run() {
    for (Tier limit : AllowedTiers(instance_->request())) {
      Within(limit);
      if (!candidates_.empty()) break;
    }
    return std::move(candidates_);
  }

 private:
  void Within(Tier limit);
  bool TryToruses(Tier limit);
  bool TryTilings(Home home);
  bool LayTilings(const Tree& tree);
  bool Known(const ByWorker<fabric::NodeIndex>& nodes) const;
  void Add(ByWorker<fabric::NodeIndex> nodes);
  void TryPlane(const PairCost::Plane& plane, Home home);
  void TryHome(Home home);
  void Try(Home home, Layout layout);
  std::vector<Layout> Layouts(Home home);
  void AddTiled(Home home, std::uint64_t node_room, std::vector<Layout>& layouts);
  std::uint64_t MostSlots(Home home) const;
  Rooms& RoomsFor(const fabric::ByTier<std::uint32_t>& units);
  std::vector<Home> Homes(Tier tier, std::size_t most);
  void FindHomes(Tier tier, DomainIndex domain, std::uint64_t breaks, HomeSearch& search);
  std::uint64_t FewestChildren(Tier tier) const;
  std::uint64_t ChildrenNeeded(Home home);

  const objective::Instance* instance_;
  const StandingOf& standing_;
  Rooms plain_;
  Filler filler_;
  const objective::JobGrid& grid_;
  std::map<fabric::ByTier<std::uint32_t>, Rooms> tiled_;
  std::vector<Candidate> candidates_;
  Standing best_ = Standing::kFar;  // of the candidates
};

void Greedy::Within(Tier limit) {
  if (TryToruses(limit)) return;
  for (Tier tier = instance_->node_tier() + 1; tier-- > limit;) {
    for (Home home : Homes(tier, candidates_.empty() ? kNarrowHomes : kWiderHomes)) TryHome(home);
    if (best_ == Standing::kEnough) return;
  }
  for (Home home : Homes(limit, kWiderHomes)) {
    if (TryTilings(home)) return;
  }
  for (const PairCost::Plane& plane : instance_->pair_cost().planes()) {
    for (Home home : Homes(limit, kWiderHomes)) TryPlane(plane, home);
  }
}

// Adds placements in toruses. Returns true if no other search is needed: a placement
// was found, and the job has no groups, whose rules are about levels.
bool Greedy::TryToruses(Tier limit) {
  if (instance_->pair_cost().torus() == nullptr) return false;
  for (Home home : Homes(limit, kWiderHomes)) {
    std::vector<Candidate> found = TorusCandidates(*instance_, home.tier, home.domain);
    for (const Candidate& candidate : found) best_ = std::max(best_, standing_(candidate));
    std::move(found.begin(), found.end(), std::back_inserter(candidates_));
  }
  return !candidates_.empty() && !instance_->has_groups();
}

// Returns true if one of the placements is enough.
bool Greedy::TryTilings(Home home) {
  if (home.tier == instance_->node_tier()) return false;
  if (LayTilings(Tree::OfLevels(*instance_, home.tier, home.domain))) return true;
  for (const PairCost::Plane& plane : instance_->pair_cost().planes()) {
    const auto tree = Tree::OfPlane(*instance_, plane, home.tier, home.domain);
    if (tree && LayTilings(*tree)) return true;
  }
  return false;
}

// The same for the tilings of one tree.
bool Greedy::LayTilings(const Tree& tree) {
  Tiler tiler(*instance_, tree);
  const std::vector<Tiling> tilings = TilingsFor(*instance_, tree);
  // With groups, planes or a torus the forecasts do not hold: which groups can be whole depends on
  // single rooms.
  const bool forecasts_hold = !instance_->has_groups() && !instance_->pair_cost().beside_tiers();
  Int128 promising = 0;
  for (const Tiling& tiling : tilings) {
    const Int128 forecast = tiling.forecast + tiling.forecast / kPromisingPart;
    promising = promising == 0 ? forecast : std::min(promising, forecast);
  }
  const objective::SearchLimits& limits = instance_->limits();
  const bool groups_prefer = !instance_->preferred_sets().empty();
  bool group_missed = groups_prefer;  // by every placement so far
  for (std::size_t i = 0; i < tilings.size(); ++i) {
    const std::uint32_t most =
        limits.TilingsFor(instance_->workers(), groups_prefer, best_ == Standing::kFar);
    if (i >= (group_missed ? limits.tilings_of_groups : most)) break;
    if (i >= kFirstTilings && tilings[i].forecast > promising && forecasts_hold) continue;
    auto nodes = tiler.Lay(tilings[i]);
    if (!nodes || Known(*nodes) || !objective::MeetsTopology(*instance_, *nodes)) continue;
    Add(std::move(*nodes));
    if (best_ == Standing::kEnough) return true;
    group_missed = group_missed && candidates_.back().preferences[objective::kGroupsMissed] > 0;
  }
  return false;
}

bool Greedy::Known(const ByWorker<fabric::NodeIndex>& nodes) const {
  return std::any_of(candidates_.begin(), candidates_.end(),
                     [&](const Candidate& candidate) { return candidate.nodes == nodes; });
}

void Greedy::Add(ByWorker<fabric::NodeIndex> nodes) {
  WEFT_DCHECK(objective::MeetsHardRules(*instance_, nodes));
  candidates_.push_back(objective::Evaluate(*instance_, std::move(nodes)));
  best_ = std::max(best_, standing_(candidates_.back()));
}

// Fills the domains of a plane one after the other, those with most slots first, instead of the
// domains of the tree. Without it, 9 of 1,000 jobs of 4 to 16 workers on ragged nodes cost more, up
// to seven times. A tree of the plane that keeps the plane's roomiest domains instead leaves 8 such
// jobs, up to 2.3 times as dear.
void Greedy::TryPlane(const PairCost::Plane& plane, Home home) {
  const fabric::ByNode<DomainIndex>& domain_of = *plane.of_node;
  const auto& begin = instance_->fabric().domains(home.tier).begin;
  std::map<DomainIndex, std::uint64_t> slots;
  std::vector<fabric::NodeIndex> nodes;
  for (fabric::NodeIndex n = begin[home.domain]; n < begin[home.domain + 1]; ++n) {
    if (instance_->slots()[n] == 0) continue;
    nodes.push_back(n);
    slots[domain_of[n]] += instance_->slots()[n];
  }
  std::stable_sort(nodes.begin(), nodes.end(), [&](fabric::NodeIndex a, fabric::NodeIndex b) {
    const DomainIndex x = domain_of[a], y = domain_of[b];
    if (x != y) return slots[x] != slots[y] ? slots[x] > slots[y] : x < y;
    return instance_->slots()[a] > instance_->slots()[b];
  });
  WEFT_CHECK(!nodes.empty());  // a home has a slot for every worker
  for (const Layout& layout : Layouts(home)) {
    ByWorker<fabric::NodeIndex> answer(instance_->workers());
    std::size_t at = 0;
    std::uint32_t left = instance_->slots()[nodes.front()];
    for (const WorkerIndex worker : layout.workers) {
      if (left == 0) left = instance_->slots()[nodes[++at]];
      WEFT_DCHECK(at < nodes.size() && left > 0);
      answer[worker] = nodes[at];
      --left;
    }
    if (!objective::MeetsHardRules(*instance_, answer)) continue;
    Add(std::move(answer));
  }
}

// The homes to try: first those that need the fewest children, then those that break up no wholly
// free domain, then those with the least slots in the domains around them (both as BreakTies ranks
// placements, widest tier first), then in tree order.
std::vector<Home> Greedy::Homes(Tier tier, std::size_t most) {
  HomeSearch search{tier, most, FewestChildren(tier), {}, {}};
  search.slots.assign(tier + 1, instance_->workers());
  if (instance_->fabric().node_count() > 0) FindHomes(fabric::kOutside, DomainIndex{0}, 0, search);
  std::vector<Home> homes;
  for (const RankedHome& home : search.kept) homes.push_back({tier, home.domain});
  return homes;
}

// Looks at the homes inside a domain. `breaks` is that of the domain.
void Greedy::FindHomes(Tier tier, DomainIndex domain, std::uint64_t breaks, HomeSearch& search) {
  if (instance_->capacity(tier, domain) < instance_->workers()) return;
  search.slots[tier] = instance_->SlotsIn(tier, domain);
  WEFT_DCHECK(tier <= search.tier);
  const std::uint32_t inside = search.tier - tier;
  const bool free = tier > fabric::kOutside && instance_->wholly_free(tier, domain);
  // What is inside a free domain is free too.
  if (search.NoneBefore(free ? ((breaks + 1) << inside) - 1 : breaks << inside)) {
  } else if (inside == 0) {
    RankedHome home{ChildrenNeeded({tier, domain}), breaks, search.slots, domain};
    search.kept.insert(std::upper_bound(search.kept.begin(), search.kept.end(), home), home);
    if (search.kept.size() > search.most) search.kept.pop_back();
  } else {
    const auto& child_begin = instance_->fabric().domains(tier).child_begin;
    for (DomainIndex c = child_begin[domain]; c < child_begin[domain + 1]; ++c) {
      const std::uint64_t breaks_up = instance_->wholly_free(tier + 1, c) ? 1 : 0;
      FindHomes(tier + 1, c, breaks << 1 | breaks_up, search);
    }
  }
  search.slots[tier] = instance_->workers();
}

// A lower bound of ChildrenNeeded in all domains of the tier.
std::uint64_t Greedy::FewestChildren(Tier tier) const {
  if (tier == instance_->node_tier()) return 0;
  const std::uint64_t most = std::max<std::uint64_t>(1, instance_->MostSlots(tier + 1));
  return (instance_->workers() + most - 1) / most;
}

std::uint64_t Greedy::ChildrenNeeded(Home home) {
  if (home.tier == instance_->node_tier()) return 0;
  std::uint64_t wanted = instance_->workers();
  std::uint64_t needed = 0;
  for (DomainIndex child : plain_.Children(home.tier, home.domain)) {
    if (wanted == 0) break;
    wanted -= std::min(wanted, instance_->capacity(home.tier + 1, child));
    ++needed;
  }
  return needed;
}

Rooms& Greedy::RoomsFor(const fabric::ByTier<std::uint32_t>& units) {
  if (std::all_of(units.begin(), units.end(), [](std::uint32_t unit) { return unit == 1; })) {
    return plain_;
  }
  return tiled_.try_emplace(units, *instance_, units).first->second;
}

std::uint64_t Greedy::MostSlots(Home home) const {
  const auto& begin = instance_->fabric().domains(home.tier).begin;
  const auto slots = instance_->slots().Items().subspan(
      begin[home.domain].Raw(), begin[home.domain + 1] - begin[home.domain]);
  WEFT_CHECK(!slots.empty());
  return *std::max_element(slots.begin(), slots.end());
}

// Adds layouts with tiles for nodes of `node_room` slots, and around these with tiles for the usual
// domain of each wider tier: one layout keeps tiles whole only in nodes, the other at every tier.
void Greedy::AddTiled(Home home, std::uint64_t node_room, std::vector<Layout>& layouts) {
  const Tier last = instance_->node_tier();
  const Shape all(grid_.sizes().begin(), grid_.sizes().end());
  Shape tile = grid_.BestTile(Shape(all.size(), 1), all, node_room);
  std::vector<Shape> nest = {tile};
  fabric::ByTier<std::uint32_t> units(last + 1, 1), all_units;
  units[last] = static_cast<std::uint32_t>(objective::Volume(tile));
  all_units = units;
  const std::vector<std::uint64_t> typical =
      RoomsFor(units).Typical(home.tier, home.domain, instance_->workers());
  for (Tier t = last; t-- > home.tier + 1;) {
    const std::size_t below = t - home.tier - 1;
    if (below >= typical.size()) continue;
    tile = grid_.BestTile(tile, all, typical[below]);
    nest.insert(nest.begin(), tile);
    all_units[t] = static_cast<std::uint32_t>(objective::Volume(tile));
  }
  std::vector<WorkerIndex> order = Walk(all, nest, grid_.heaviest_first());
  layouts.push_back({order, units});
  if (all_units != units) layouts.push_back({std::move(order), std::move(all_units)});
}

std::vector<Layout> Greedy::Layouts(Home home) {
  std::vector<Layout> layouts;
  const fabric::ByTier<std::uint32_t> ones(instance_->node_tier() + 1, 1);
  std::vector<WorkerIndex> natural(instance_->workers());
  std::iota(natural.begin(), natural.end(), WorkerIndex{0});
  if (grid_.sizes().size() < 2 || home.tier == instance_->node_tier()) {
    layouts.push_back({std::move(natural), ones});
    return layouts;
  }
  if (!instance_->has_groups()) {
    const std::uint64_t most = MostSlots(home);
    const auto typical = plain_.Typical(home.tier, home.domain, instance_->workers());
    AddTiled(home, most, layouts);
    if (!typical.empty() && typical.back() != most) AddTiled(home, typical.back(), layouts);
  }
  layouts.push_back({std::move(natural), ones});
  layouts.push_back({Walk(grid_.sizes(), {}, grid_.heaviest_first()), ones});
  return layouts;
}

void Greedy::Try(Home home, Layout layout) {
  KeepAtomsTogether(*instance_, layout.workers);
  auto nodes = filler_.Fill(home.tier, home.domain, layout.workers, RoomsFor(layout.units));
  if (!nodes) return;
  if (instance_->has_groups() && !objective::MeetsHardRules(*instance_, *nodes)) return;
  Add(std::move(*nodes));
}

void Greedy::TryHome(Home home) {
  std::vector<Layout> layouts = Layouts(home);
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    const auto before = layouts.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(layouts.begin(), before, layouts[i]) == before) Try(home, layouts[i]);
  }
}

}  // namespace

std::vector<Tier> AllowedTiers(const objective::Request& request) {
  const Tier widest = request.required.value_or(fabric::kOutside);
  const Tier best = std::max(request.preferred.value_or(widest), widest);
  std::vector<Tier> tiers;
  for (Tier tier = best + 1; tier-- > widest;) tiers.push_back(tier);
  return tiers;
}

std::vector<Candidate> GreedyCandidates(const objective::Instance& instance,
                                        const StandingOf& standing) {
  return Greedy(instance, standing).Run();
}

}  // namespace weft::search
