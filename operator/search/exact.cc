#include "operator/search/exact.h"

#include <algorithm>
#include <numeric>

#include "operator/base/check.h"
#include "operator/objective/hard_rules.h"
#include "operator/search/automorphism.h"
#include "operator/search/exact_board.h"

namespace weft::search {

using fabric::NodeIndex;
using fabric::Tier;
using objective::Candidate;
using objective::Instance;
using objective::Preferences;

namespace {

// Limit of nodes that may hold a worker, before interchangeable ones are removed, because finding
// these sorts all nodes.
constexpr std::uint32_t kMostCandidates = 4096;
constexpr std::size_t kMostNodes = 64;

// More than any cost. (The standard library has no limits of 128-bit integers.)
template <typename Sum>
constexpr Sum kInfinite = Sum{1} << (sizeof(Sum) * 8 - 2);

// Workers that are put on places one after the other and taken back in reverse order, and for each
// worker of the rest what its traffic with those would cost on every place. `Sum`: an integer that
// holds every cost in `unit`.
template <typename Sum>
class Board {
 public:
  Board(const Instance& instance, const Places& places, const std::vector<std::int64_t>& bytes,
        const CostUnit& unit, std::vector<WorkerIndex> order)
      : instance_(instance),
        places_(places),
        unit_(unit),
        order_(std::move(order)),
        bytes_(bytes.size()),
        weight_(places.weight.size()),
        attach_((order_.size() + 1) * order_.size() * places.size(), 0),
        free_(places.slots),
        barred_(order_.size() * places.size(), 0),
        automorphisms_(instance, bytes, order_),
        placed_(order_.size(), objective::kUnplaced),
        seen_(places.kinds, 0) {
    WEFT_CHECK(order_.size() == instance.workers());
    WEFT_CHECK(bytes.size() == order_.size() * order_.size());
    WEFT_CHECK(places.slots.size() == places.size() && places.domain.size() == places.kind.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes_[i] = bytes[i] / unit.bytes;
    for (std::size_t i = 0; i < weight_.size(); ++i) weight_[i] = places.weight[i] / unit.weight;
    for (const Int128 within : CostWithin(instance, bytes, order_)) {
      within_.push_back(static_cast<Sum>(within / unit.size()));
    }
    for (Tier t{0}; t < places.domain.EndIndex(); ++t) {
      in_domain_.emplace_back(places.domains[t], 0);
      if (t > fabric::kOutside) narrow_first_.insert(narrow_first_.begin(), t);
    }
    // So that the rest of the workers always has a free place.
    WEFT_CHECK(std::accumulate(free_.begin(), free_.end(), std::uint64_t{0}) >= order_.size());
    const objective::Request& request = instance.request();
    ruled_ = instance.has_groups() || request.required || request.preferred;
  }

  std::size_t depth() const { return at_.size(); }
  bool full() const { return at_.size() == order_.size(); }
  Sum cost() const { return cost_; }
  NodeIndex node(std::size_t place) const { return places_.nodes[place]; }
  const ByWorker<NodeIndex>& placed() const { return placed_; }
  const Instance& instance() const { return instance_; }
  const CostUnit& unit() const { return unit_; }

  // The cost of the next worker's traffic with the placed ones, on this place.
  Sum Attach(std::size_t place) const { return Row(at_.size(), at_.size())[place]; }
  // A lower bound of the cost between the workers after the next and the placed workers, and
  // between all that have no place.
  Sum LeastOfRest() const {
    Sum sum = within_[at_.size()];
    for (std::size_t i = at_.size() + 1; i < order_.size(); ++i) {
      const Sum* row = Row(at_.size(), i);
      Sum least = kInfinite<Sum>;
      const std::uint32_t* barred = &barred_[i * places_.size()];
      for (std::size_t p = 0; p < places_.size(); ++p) {
        if (free_[p] > 0 && barred[p] == 0) least = std::min(least, row[p]);
      }
      if (least == kInfinite<Sum>) return kInfinite<Sum> / 2;  // barred from every free place
      sum += least;
    }
    return sum;
  }

  // The places to try for the next worker, by name; of interchangeable ones only the first.
  void Choices(std::vector<std::uint32_t>& choices) {
    choices.clear();
    ++look_;
    const std::uint32_t* barred = &barred_[at_.size() * places_.size()];
    for (std::uint32_t p = 0; p < places_.size(); ++p) {
      if (free_[p] == 0 || barred[p] > 0) continue;
      std::uint64_t& seen = seen_[KindOf(p)];
      if (seen == look_) continue;
      seen = look_;
      choices.push_back(p);
    }
  }

  void Put(std::size_t place) {
    const std::size_t depth = at_.size();
    WEFT_DCHECK(!full());
    cost_ += Attach(place);
    placed_[order_[depth]] = places_.nodes[place];
    Book(place, true);
    at_.push_back(static_cast<std::uint32_t>(place));
    const Sum* weight = &weight_[place * places_.size()];
    for (std::size_t i = depth + 1; i < order_.size(); ++i) {
      const Sum bytes = bytes_[order_[depth].Raw() * order_.size() + order_[i].Raw()];
      const Sum* before = Row(depth, i);
      Sum* after = &attach_[((depth + 1) * order_.size() + i) * places_.size()];
      for (std::size_t p = 0; p < places_.size(); ++p) after[p] = before[p] + bytes * weight[p];
    }
  }
  void Take() {
    WEFT_DCHECK(!at_.empty());
    const std::size_t place = at_.back();
    at_.pop_back();
    Book(place, false);
    placed_[order_[at_.size()]] = objective::kUnplaced;
    cost_ -= Attach(place);
    WEFT_DCHECK(cost_ >= 0);
  }

  // After the next worker was tried on a place, with all completions: bars that place, and those
  // that are interchangeable with it, for the workers that could change roles with it. A placement
  // that has one of these there was tried already, under other names. Lift undoes it.
  void Bar(std::size_t place) { AddBars(place, 1); }
  void Lift(std::size_t place) { AddBars(place, ~0U); }

  // Whether a completion may meet the rules, and lower bounds of its preferences.
  bool MeetsRules() const { return !ruled_ || objective::MeetsTopology(instance_, placed_); }
  Preferences preferences() const {
    return ruled_ ? objective::Prefer(instance_, placed_) : Preferences{};
  }

 private:
  // By place: what the worker at index `i` of the order would cost after `depth` others.
  const Sum* Row(std::size_t depth, std::size_t i) const {
    return &attach_[(depth * order_.size() + i) * places_.size()];
  }
  // Places of one kind are interchangeable now.
  std::uint32_t KindOf(std::size_t place) const {
    for (const Tier t : narrow_first_) {
      if (in_domain_[t][places_.domain[t][place]] > 0) return places_.kind[t][place];
    }
    return places_.kind[fabric::kOutside][place];
  }
  void AddBars(std::size_t place, std::uint32_t by) {
    const auto orbit = automorphisms_.Orbit(at_.size());
    if (orbit.empty()) return;
    const std::uint32_t kind = KindOf(place);
    for (std::size_t p = 0; p < places_.size(); ++p) {
      if (free_[p] == 0 || KindOf(p) != kind) continue;
      for (const std::uint32_t i : orbit) {
        std::uint32_t& barred = barred_[i * places_.size() + p];
        WEFT_DCHECK(by == 1 || barred > 0);  // Lift undoes a Bar
        barred += by;
      }
    }
  }
  void Book(std::size_t place, bool put) {
    WEFT_DCHECK(put ? free_[place] > 0 : free_[place] < places_.slots[place]);
    free_[place] += put ? -1 : 1;
    for (Tier t{0}; t < in_domain_.EndIndex(); ++t) {
      std::uint32_t& workers = in_domain_[t][places_.domain[t][place]];
      WEFT_DCHECK(put || workers > 0);
      workers += put ? 1 : -1;
    }
  }

  const Instance& instance_;
  const Places& places_;
  const CostUnit& unit_;
  std::vector<WorkerIndex> order_;
  std::vector<Sum> bytes_, weight_;
  std::vector<Sum> within_;            // by depth: CostWithin of the workers without a place
  std::vector<Sum> attach_;            // depth x order x place
  std::vector<std::uint32_t> free_;    // slots by place
  std::vector<std::uint32_t> barred_;  // order x place: how often Bar has excluded the place
  Automorphisms automorphisms_;
  fabric::ByTier<std::vector<std::uint32_t>> in_domain_;  // workers, by tier x domain
  std::vector<Tier> narrow_first_;
  std::vector<std::uint32_t> at_;  // the place of each placed worker, in order
  ByWorker<NodeIndex> placed_;
  std::vector<std::uint64_t> seen_;  // by kind: the last look that saw it
  std::uint64_t look_ = 0;
  Sum cost_ = 0;
  bool ruled_ = false;  // whether topology.required, preferred or groups are given
};

// Each next worker is the one with most bytes to the earlier ones, so that bad starts are pruned
// early.
std::vector<WorkerIndex> ByAttachment(std::span<const std::int64_t> bytes, std::size_t workers) {
  ByWorker<Int128> to_earlier(workers, 0);
  ByWorker<bool> done(workers, false);
  std::vector<WorkerIndex> order;
  const WorkerIndex none = WorkerIndex::Of(workers);
  while (order.size() < workers) {
    WorkerIndex next = none;
    for (const WorkerIndex w : Range<WorkerIndex>(workers)) {
      if (!done[w] && (next == none || to_earlier[w] > to_earlier[next])) next = w;
    }
    done[next] = true;
    order.push_back(next);
    for (const WorkerIndex w : Range<WorkerIndex>(workers)) {
      to_earlier[w] += bytes[next.Raw() * workers + w.Raw()];
    }
  }
  return order;
}

// First search: least preferences, then least cost.
template <typename Sum>
class LeastCost {
 public:
  // `steps` counts down over all homes.
  LeastCost(Board<Sum>& board, std::uint32_t& steps, const std::optional<Candidate>& known)
      : board_(board), steps_(steps), choices_(kMostExactWorkers), best_(known) {
    if (best_) limit_ = static_cast<Sum>((best_->cost - 1) / board.unit().size() + 1);
  }

  // Returns false if the steps ran out.
  bool Run() { return Visit(Preferences{}); }
  const std::optional<Candidate>& best() const { return best_; }

 private:
  bool Visit(const Preferences& preferences);
  bool CanWin(const Preferences& preferences, Sum least) const {
    if (!best_ || preferences != best_->preferences) {
      return !best_ || preferences < best_->preferences;
    }
    return least < limit_;
  }

  Board<Sum>& board_;
  std::uint32_t& steps_;
  std::vector<std::vector<std::uint32_t>> choices_;  // by depth
  std::optional<Candidate> best_;
  Sum limit_ = kInfinite<Sum>;  // the best cost
};

template <typename Sum>
bool LeastCost<Sum>::Visit(const Preferences& preferences) {
  const Sum least = board_.cost() + board_.LeastOfRest();
  if (!CanWin(preferences, least)) return true;
  if (board_.full()) {
    best_ = objective::Evaluate(board_.instance(), board_.placed());
    WEFT_DCHECK(best_->cost == Int128{board_.cost()} * board_.unit().size());
    limit_ = board_.cost();
    return true;
  }
  std::vector<std::uint32_t>& choices = choices_[board_.depth()];
  board_.Choices(choices);
  std::sort(choices.begin(), choices.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(board_.Attach(a), a) < std::pair(board_.Attach(b), b);
  });
  std::size_t tried = 0;
  bool finished = true;
  for (; finished && tried < choices.size(); ++tried) {
    // The places that follow cost as much or more, and no preference gets better by them.
    if (!CanWin(preferences, least + board_.Attach(choices[tried]))) break;
    if (steps_ == 0) return false;
    --steps_;
    board_.Put(choices[tried]);
    finished = !board_.MeetsRules() || Visit(board_.preferences());
    board_.Take();
    board_.Bar(choices[tried]);
  }
  while (tried > 0) board_.Lift(choices[--tried]);
  return finished;
}

// Second search: among placements with the least preferences and a cost within the limit, the best
// by the levels after the cost, then by names. Workers go in index order and places in name order,
// so that the first of equal placements is the least.
template <typename Sum>
class LeastTies {
 public:
  LeastTies(Board<Sum>& board, const Preferences& preferences, Sum limit, std::uint32_t& steps,
            const Candidate& known)
      : board_(board), preferences_(preferences), limit_(limit), steps_(steps) {
    Know(known);
  }

  void Run() { Visit(); }
  const Candidate& best() const { return *best_; }

 private:
  bool Visit();
  bool CanWin() const;
  void Know(const Candidate& candidate) {
    best_ = candidate;
    ties_ = objective::BreakTies(board_.instance(), candidate.nodes);
  }

  Board<Sum>& board_;
  Preferences preferences_;
  Sum limit_;
  std::uint32_t& steps_;
  std::optional<Candidate> best_;
  objective::TieBreakers ties_;  // of the best placement
};

// Whether the partial placement can still become less than the best; a whole placement must be
// less.
template <typename Sum>
bool LeastTies<Sum>::CanWin() const {
  const objective::TieBreakers least = objective::BreakTies(board_.instance(), board_.placed());
  const auto order = objective::CompareTies(board_.instance().fabric(), {&least, board_.placed()},
                                            {&ties_, best_->nodes});
  return order < 0 || (order == 0 && !board_.full());
}

template <typename Sum>
bool LeastTies<Sum>::Visit() {
  if (board_.full()) {
    Know(objective::Evaluate(board_.instance(), board_.placed()));
    return true;
  }
  const Sum least = board_.cost() + board_.LeastOfRest();
  if (least > limit_) return true;
  std::vector<std::uint32_t> choices;
  board_.Choices(choices);
  for (const std::uint32_t place : choices) {
    if (least + board_.Attach(place) > limit_) continue;
    if (steps_ == 0) return false;
    --steps_;
    board_.Put(place);
    const bool finished =
        !board_.MeetsRules() || board_.preferences() > preferences_ || !CanWin() || Visit();
    board_.Take();
    if (!finished) return false;
  }
  return true;
}

bool HasTooManyCandidates(const Instance& instance) {
  std::uint32_t count = 0;
  for (NodeIndex n{0}; n < instance.slots().EndIndex() && count <= kMostCandidates; ++n) {
    count += MayHold(instance, n);
  }
  return count > kMostCandidates;
}

// Both searches over all homes.
template <typename Sum>
class Searches {
 public:
  Searches(const Instance& instance, const std::vector<Places>& homes,
           const std::vector<std::int64_t>& bytes, const CostUnit& unit)
      : instance_(instance), homes_(homes), bytes_(bytes), unit_(unit) {}

  // The least objective; `best` is a known placement. Returns false if the steps ran out.
  bool FindLeast(std::uint32_t steps, std::optional<Candidate>& best) const {
    for (const Places& home : homes_) {
      Board<Sum> board(instance_, home, bytes_, unit_, ByAttachment(bytes_, instance_.workers()));
      LeastCost<Sum> search(board, steps, best);
      const bool finished = search.Run();
      best = search.best();
      if (!finished) return false;
    }
    return true;
  }

  // Of placements that cost at most `limit`, the best by the later levels.
  Candidate BreakTiesWithin(Int128 limit, std::uint32_t steps, Candidate best) const {
    std::vector<WorkerIndex> order(instance_.workers());
    std::iota(order.begin(), order.end(), WorkerIndex{0});
    const Preferences preferences = best.preferences;
    for (const Places& home : homes_) {
      Board<Sum> board(instance_, home, bytes_, unit_, order);
      LeastTies<Sum> search(board, preferences, static_cast<Sum>(limit / unit_.size()), steps,
                            best);
      search.Run();
      best = search.best();
    }
    return best;
  }

 private:
  const Instance& instance_;
  const std::vector<Places>& homes_;
  const std::vector<std::int64_t>& bytes_;
  const CostUnit& unit_;
};

template <typename Sum>
ExactResult Search(const Searches<Sum>& searches, const Instance& instance,
                   std::span<const Candidate> known, Int128 bound, int tolerance_percent,
                   const ExactLimits& limits) {
  ExactResult result;
  std::vector<Candidate> incumbents(known.begin(), known.end());
  const auto least =
      std::min_element(incumbents.begin(), incumbents.end(),
                       [](const auto& a, const auto& b) { return a.objective() < b.objective(); });
  if (least != incumbents.end()) result.best = *least;
  const bool proven =
      result.best && result.best->preferences == Preferences{} && result.best->cost <= bound;
  if (!proven) {
    if (!searches.FindLeast(limits.steps, result.best)) return result;
    if (!result.best) return result;
    incumbents.push_back(*result.best);
  }
  WEFT_DCHECK(bound <= result.best->cost || result.best->preferences != Preferences{});
  result.finished = true;
  result.least = result.best->objective();
  const Candidate first = incumbents[objective::Best(instance, incumbents, tolerance_percent)];
  result.best = searches.BreakTiesWithin(objective::CostLimit(result.least.cost, tolerance_percent),
                                         limits.tie_steps, first);
  return result;
}

}  // namespace

ExactResult SearchExactly(const Instance& instance, std::span<const Candidate> known, Int128 bound,
                          int tolerance_percent, const ExactLimits& limits) {
  if (limits.steps == 0 || instance.workers() == 0 || instance.workers() > kMostExactWorkers ||
      HasTooManyCandidates(instance)) {
    return {};
  }
  const Symmetry symmetry(instance);
  std::vector<Places> homes;
  for (std::vector<NodeIndex>& nodes : symmetry.Representatives(kMostNodes)) {
    homes.emplace_back(instance, symmetry, std::move(nodes));
  }
  if (homes.empty()) return {};
  const std::vector<std::int64_t> bytes = BytesBetween(instance.graph());
  const CostUnit unit = CommonUnit(bytes, homes);
  if (unit.narrow) {
    return Search(Searches<std::int64_t>(instance, homes, bytes, unit), instance, known, bound,
                  tolerance_percent, limits);
  }
  return Search(Searches<Int128>(instance, homes, bytes, unit), instance, known, bound,
                tolerance_percent, limits);
}

}  // namespace weft::search
