#include "tests/bench/anneal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "operator/base/random.h"
#include "operator/objective/hard_rules.h"
#include "operator/objective/units.h"
#include "tests/bench/anneal_groups.h"

namespace weft::quality {

using fabric::NodeIndex;
using fabric::Tier;
using objective::Candidate;
using objective::Instance;

namespace {

using Slot = std::uint32_t;  // room for one worker on a node
constexpr WorkerIndex kEmpty{~0U};

constexpr std::uint32_t kLargestUnit = 256;
constexpr std::uint64_t kOftenUnit = 8;    // units up to this size are proposed most
constexpr std::uint64_t kBlocks = 64;      // consecutive placements that LayBlock compares
constexpr std::size_t kSampled = 2'000;    // proposals that set the first temperature
constexpr double kLastTemperature = 1e-4;  // of the first
constexpr std::uint32_t kReach = 2;        // hops along a dimension of a torus

// The slots of the domain that the job must stay in, in the fabric's order: neighbours in the list
// are near each other.
std::vector<NodeIndex> SlotsOf(const Instance& instance, const Candidate& like) {
  const Tier tier = objective::HomeTier(instance.request(), like.preferences);
  const auto& domains = instance.fabric().domains(tier);
  const auto domain = domains.of_node[like.nodes.front()];
  std::vector<NodeIndex> slots;
  for (NodeIndex n = domains.begin[domain]; n < domains.begin[domain + 1]; ++n) {
    slots.insert(slots.end(), instance.slots()[n], n);
  }
  return slots;
}

// The slots of each domain of one network, and each slot's domain.
struct Division {
  std::vector<std::uint32_t> of_slot;
  std::vector<std::vector<Slot>> slots;
};

Division Divide(std::span<const NodeIndex> slots,
                const fabric::ByNode<fabric::DomainIndex>& of_node) {
  Division division;
  for (Slot slot = 0; slot < slots.size(); ++slot) {
    const std::uint32_t domain = of_node[slots[slot]].Raw();
    division.of_slot.push_back(domain);
    if (domain >= division.slots.size()) division.slots.resize(domain + 1);
    division.slots[domain].push_back(slot);
  }
  return division;
}

// Sets of workers that send each other much, which move together; all of one size.
using Units = std::vector<std::vector<WorkerIndex>>;

// The job's units, by the tile that makes them.
std::vector<Units> UnitsOf(const Instance& instance) {
  std::vector<objective::Shape> tiles = instance.grid().NaturalTiles();
  const auto sizes = instance.grid().sizes();
  for (std::size_t digit = 0; digit < sizes.size(); ++digit) {
    tiles.emplace_back(sizes.size(), 1);
    tiles.back()[digit] = sizes[digit];
  }
  std::vector<Units> all;
  for (const objective::Shape& tile : tiles) {
    const auto size = objective::Volume(tile);
    if (size < 2 || size > std::min(kLargestUnit, instance.workers() / 2)) continue;
    const objective::Units units = objective::MakeUnits(sizes, tile, instance.workers());
    Units members(units.count());
    for (const WorkerIndex w : units.of.Indices()) members[units.of[w].Raw()].push_back(w);
    all.push_back(std::move(members));
  }
  return all;
}

class Annealer {
 public:
  Annealer(const Instance& instance, const Candidate& start, const AnnealOptions& options)
      : instance_(instance),
        graph_(instance.graph()),
        options_(options),
        random_(options.seed),
        slots_(SlotsOf(instance, start)),
        nodes_(start.nodes),
        groups_(instance, nodes_),
        units_(UnitsOf(instance)) {
    at_.assign(slots_.size(), kEmpty);
    slot_of_.resize(nodes_.size());
    for (const WorkerIndex w : nodes_.Indices()) {
      Slot slot = FirstSlot(nodes_[w]);
      while (at_[slot] != kEmpty) ++slot;
      at_[slot] = w;
      slot_of_[w] = slot;
    }
    moved_stamp_.assign(nodes_.size(), 0);
    const fabric::Fabric& fabric = instance.fabric();
    for (Tier t{1}; t < fabric.node_tier(); ++t) {
      divisions_.push_back(Divide(slots_, fabric.domains(t).of_node));
    }
    for (const auto& plane : instance.pair_cost().planes()) {
      divisions_.push_back(Divide(slots_, *plane.of_node));
    }
    best_nodes_ = nodes_;
  }

  ByWorker<NodeIndex> Run() {
    const double first = FirstTemperature();
    const std::uint64_t last = steps_ + options_.steps;
    const std::uint64_t begin = steps_;
    while (steps_ < last && first > 0) {
      const double done = static_cast<double>(steps_ - begin) / static_cast<double>(options_.steps);
      Step(first * std::pow(kLastTemperature, done));
    }
    return at_best_ ? nodes_ : best_nodes_;
  }

 private:
  Slot FirstSlot(NodeIndex node) const {
    return static_cast<Slot>(std::lower_bound(slots_.begin(), slots_.end(), node) - slots_.begin());
  }
  double Fraction() { return static_cast<double>(random_.Next() >> 11) * 0x1.0p-53; }
  WorkerIndex AnyWorker() { return WorkerIndex::Of(random_.Below(nodes_.size())); }
  Slot AnySlot() { return static_cast<Slot>(random_.Below(slots_.size())); }

  // A worker that exchanges bytes with this one.
  WorkerIndex Partner(WorkerIndex worker) {
    const auto cliques = graph_.cliques_of(worker);
    const auto neighbours = graph_.neighbours(worker);
    if (!cliques.empty() && (neighbours.empty() || random_.Below(2) == 0)) {
      const auto& members = graph_.cliques()[cliques[random_.Below(cliques.size())]].members;
      return members[random_.Below(members.size())].worker;
    }
    if (neighbours.empty()) return AnyWorker();
    return neighbours[random_.Below(neighbours.size())].worker;
  }

  // A slot near the slot: in one of its domains, or a few hops away.
  Slot Near(Slot slot) {
    const fabric::Torus* torus = instance_.pair_cost().torus();
    if (torus != nullptr && random_.Below(4) != 0) {
      const NodeIndex from = slots_[slot];
      fabric::TorusPlace place = torus->place(from);
      for (std::size_t d = 0; d < place.size(); ++d) {
        const std::uint32_t size = torus->ShapeAround(from).sizes()[d];
        const auto hops = static_cast<std::uint32_t>(random_.Below(2 * kReach + 1));
        place[d] = static_cast<std::uint16_t>((place[d] + size * kReach + hops - kReach) % size);
      }
      const NodeIndex node = torus->At(torus->torus_of(from), place);
      if (node == fabric::Torus::kNoNode) return slot;
      const Slot near = FirstSlot(node);
      return near < slots_.size() && slots_[near] == node ? near : slot;
    }
    const std::uint64_t draw = random_.Below(divisions_.size() + 1);
    if (draw == divisions_.size()) return AnySlot();
    const Division& division = divisions_[draw];
    const auto& same = division.slots[division.of_slot[slot]];
    return same[random_.Below(same.size())];
  }

  // Fills from_ and to_ with slots whose contents the next proposal exchanges.
  void Propose() {
    from_.clear();
    to_.clear();
    if (units_.empty() || random_.Below(3) == 0) return ProposeWorker();
    const Units& same = units_[random_.Below(units_.size())];
    // Moves of large units cost most, and there are few of them.
    if (random_.Below(same.front().size()) >= kOftenUnit) return ProposeWorker();
    ProposeUnit(same);
  }

  void ProposeWorker() {
    const WorkerIndex worker = AnyWorker();
    from_.push_back(slot_of_[worker]);
    to_.push_back(Near(slot_of_[Partner(worker)]));
  }

  void ProposeUnit(const Units& same) {
    const auto& unit = same[random_.Below(same.size())];
    const WorkerIndex partner = Partner(unit[random_.Below(unit.size())]);
    for (const WorkerIndex worker : unit) from_.push_back(slot_of_[worker]);
    switch (random_.Below(3)) {
      case 0:  // with another unit of the same size
        for (const WorkerIndex worker : same[random_.Below(same.size())]) {
          to_.push_back(slot_of_[worker]);
        }
        break;
      case 1:
        TakeSlots(Near(slot_of_[partner]), unit.size(), true);
        break;
      default:
        TakeSlots(Near(slot_of_[partner]), unit.size(), false);
    }
  }

  // So many slots from `begin` on, or only empty ones.
  void TakeSlots(Slot begin, std::size_t size, bool only_empty) {
    // What lies further away than this is not near any more.
    const std::size_t end = std::min(slots_.size(), begin + 8 * size);
    for (Slot slot = begin; slot < end && to_.size() < size; ++slot) {
      if (!only_empty || at_[slot] == kEmpty) to_.push_back(slot);
    }
  }

  // False if there is nothing to exchange. A slot in both lists would be exchanged twice.
  bool Listed() {
    if (to_.size() != from_.size()) return false;
    moved_.clear();
    ++stamp_;
    for (std::size_t i = 0; i < from_.size(); ++i) {
      for (const Slot slot : {from_[i], to_[i]}) {
        const WorkerIndex worker = at_[slot];
        if (worker == kEmpty) continue;
        if (moved_stamp_[worker] == stamp_) return false;
        moved_stamp_[worker] = stamp_;
        moved_.push_back(worker);
      }
    }
    return true;
  }

  void Exchange() {
    for (std::size_t i = 0; i < from_.size(); ++i) {
      std::swap(at_[from_[i]], at_[to_[i]]);
      for (const Slot slot : {from_[i], to_[i]}) {
        if (at_[slot] == kEmpty) continue;
        slot_of_[at_[slot]] = slot;
        nodes_[at_[slot]] = slots_[slot];
      }
    }
  }

  // The cost of all pairs with a moved worker.
  double MovedCost() const {
    const objective::PairCost& prices = instance_.pair_cost();
    double sum = 0;
    for (const WorkerIndex worker : moved_) {
      const NodeIndex node = nodes_[worker];
      const auto price = [&](WorkerIndex other) {
        const auto weight = static_cast<double>(prices.Weight(node, nodes_[other]));
        return moved_stamp_[other] == stamp_ ? weight / 2 : weight;  // met from both ends
      };
      for (const auto& [other, bytes] : graph_.neighbours(worker)) {
        sum += static_cast<double>(bytes) * price(other);
      }
      for (const std::uint32_t c : graph_.cliques_of(worker)) {
        const traffic::Clique& clique = graph_.cliques()[c];
        double pairs = 0, ranks = 0;
        for (const traffic::Seat& member : clique.members) {
          pairs += static_cast<double>(member.ranks) * price(member.worker);
          if (member.worker == worker) ranks = static_cast<double>(member.ranks);
        }
        sum += pairs * ranks * static_cast<double>(clique.bytes_per_rank_pair);
      }
    }
    return sum;
  }

  // Makes the proposal; returns by how much it raises the cost.
  double Try() {
    const double before = MovedCost();
    Exchange();
    return MovedCost() - before;
  }

  void Step(double temperature) {
    Propose();
    ++steps_;
    if (!Listed()) return;
    steps_ += moved_.size() - 1;
    const double change = Try();
    if (change > 0 && Fraction() >= std::exp(-change / temperature)) return Exchange();
    if (groups_.any()) {
      const auto misses = groups_.Change(moved_, nodes_);
      if (!misses || *misses > 0) return Exchange();
      groups_.Keep();
      if (*misses < 0) best_ = cost_ + change;  // better at any cost
    }
    if (change > 0 && at_best_) KeepBest();
    cost_ += change;
    at_best_ = cost_ <= best_;
    best_ = std::min(best_, cost_);
  }

  // Copies the placement before the last exchange: only when the best one is left, because most
  // improvements are followed by another.
  void KeepBest() {
    Exchange();
    best_nodes_ = nodes_;
    Exchange();
  }

  double FirstTemperature() {
    std::vector<double> rises;
    for (std::size_t i = 0; i < kSampled; ++i) {
      Propose();
      if (!Listed()) continue;
      const double change = Try();
      Exchange();
      if (change > 0) rises.push_back(change);
    }
    if (rises.empty()) return 0;
    std::nth_element(rises.begin(), rises.begin() + rises.size() / 2, rises.end());
    return rises[rises.size() / 2] / -std::log(options_.first_accepted);
  }

  const Instance& instance_;
  const traffic::WorkerGraph& graph_;
  const AnnealOptions options_;
  SplitMix64 random_;
  const std::vector<NodeIndex> slots_;  // ascending
  ByWorker<NodeIndex> nodes_;
  Groups groups_;
  std::vector<Units> units_;
  std::vector<Division> divisions_;
  std::vector<WorkerIndex> at_;  // by slot
  ByWorker<Slot> slot_of_;
  std::vector<Slot> from_, to_;
  std::vector<WorkerIndex> moved_;
  ByWorker<std::uint64_t> moved_stamp_;
  std::uint64_t stamp_ = 0, steps_ = 0;
  double cost_ = 0, best_ = 0;  // over that of the start
  bool at_best_ = true;
  ByWorker<NodeIndex> best_nodes_;
};

}  // namespace

Candidate Anneal(const Instance& instance, const Candidate& start, const AnnealOptions& options) {
  if (instance.workers() < 2) return start;
  Candidate found = objective::Evaluate(instance, Annealer(instance, start, options).Run());
  if (!objective::MeetsHardRules(instance, found.nodes)) return start;
  return found.objective() < start.objective() ? found : start;
}

std::optional<Candidate> LayBlock(const Instance& instance, const Candidate& like) {
  const std::vector<NodeIndex> slots = SlotsOf(instance, like);
  const std::size_t spare = slots.size() - instance.workers();
  std::optional<Candidate> best;
  for (std::uint64_t i = 0; i <= kBlocks; ++i) {
    const auto begin = slots.begin() + static_cast<std::ptrdiff_t>(spare * i / kBlocks);
    ByWorker<NodeIndex> nodes(begin, begin + instance.workers());
    if (!objective::MeetsHardRules(instance, nodes)) continue;
    Candidate laid = objective::Evaluate(instance, std::move(nodes));
    if (!best || laid.objective() < best->objective()) best = std::move(laid);
  }
  return best;
}

}  // namespace weft::quality
