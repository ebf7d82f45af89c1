#include "operator/placement/move_more.h"

#include <algorithm>
#include <utility>

#include "operator/base/check.h"
#include "operator/placement/place.h"
#include "operator/search/adjacency.h"

namespace weft::placement {

using fabric::NodeIndex;
using objective::Candidate;
using objective::Instance;

namespace {

using WorkerList = std::vector<WorkerIndex>;

// Sets of healthy workers up to this number are all tried.
constexpr std::size_t kMostSets = 128;

bool Holds(const WorkerList& ascending, WorkerIndex w) {
  return std::binary_search(ascending.begin(), ascending.end(), w);
}

WorkerList Adding(WorkerList ascending, WorkerIndex w) {
  ascending.insert(std::lower_bound(ascending.begin(), ascending.end(), w), w);
  return ascending;
}

// Finds cheaper placements by opening healthy workers one after the other.
class Opener {
 public:
  Opener(const Replacer& replacer, const Replaced& fixed)
      : replacer_(replacer), instance_(replacer.instance()), best_(fixed.placement) {
    for (const WorkerIndex w : best_.nodes.Indices()) {
      const bool moved = Holds(fixed.moved, w);
      (moved ? open_ : healthy_).push_back(w);
    }
  }

  const Candidate& best() const { return best_; }
  std::size_t healthy() const { return healthy_.size(); }

  // Opens one more worker. Returns false if none is left.
  bool Next() {
    before_ = best_.objective();
    if (opened_ + 1 <= 2 && SetsOf(opened_ + 1) <= kMostSets) return TryAll(opened_ + 1);
    const WorkerList tried = MostPromising();
    if (tried.empty()) return false;
    WorkerList next = Adding(open_, tried.front());
    for (const WorkerIndex w : tried) {
      WorkerList wider = Adding(open_, w);
      if (Adopt(wider)) next = std::move(wider);
    }
    open_ = std::move(next);
    ++opened_;
    return true;
  }

 private:
  std::size_t SetsOf(std::uint32_t size) const {
    const std::size_t n = healthy_.size();
    return size == 1 ? n : n * (n - 1) / 2;
  }

  // Every set of one or two healthy workers beside those that move anyway.
  bool TryAll(std::uint32_t size) {
    if (healthy_.size() < size) return false;
    const WorkerList first = opened_ == 0 ? open_ : moved_anyway_;
    if (opened_ == 0) moved_anyway_ = open_;
    WorkerList next = Adding(open_, FirstClosed());
    for (std::size_t i = 0; i < healthy_.size(); ++i) {
      const WorkerList one = Adding(first, healthy_[i]);
      if (size == 1 && Adopt(one)) next = one;
      for (std::size_t j = i + 1; size == 2 && j < healthy_.size(); ++j) {
        WorkerList two = Adding(one, healthy_[j]);
        if (Adopt(two)) next = std::move(two);
      }
    }
    open_ = std::move(next);
    ++opened_;
    return true;
  }

  WorkerIndex FirstClosed() const {
    for (const WorkerIndex w : healthy_) {
      if (!Holds(open_, w)) return w;
    }
    return healthy_.front();
  }

  // Equal ones are compared by the later levels, if both are cheaper than with fewer moves.
  bool Adopt(const WorkerList& open) {
    auto found = replacer_.Solve(open);
    if (!found || found->best.objective() > best_.objective()) return false;
    if (found->best.objective() == best_.objective()) {
      if (best_.objective() >= before_) return false;
      const objective::TieBreakers ties = objective::BreakTies(instance_, best_.nodes);
      const objective::TieBreakers theirs = objective::BreakTies(instance_, found->best.nodes);
      if (objective::CompareTies(instance_.fabric(), {&theirs, found->best.nodes},
                                 {&ties, best_.nodes}) >= 0) {
        return false;
      }
    }
    best_ = std::move(found->best);
    return true;
  }

  // The healthy workers whose swap with an open worker saves most.
  WorkerList MostPromising() const {
    std::vector<std::vector<traffic::Neighbour>> of_open;
    const std::size_t most = std::min<std::size_t>(open_.size(), kMostTried);
    for (std::size_t o = 0; o < most; ++o) {
      of_open.push_back(search::NeighboursOf(instance_.graph(), open_[o]));
    }
    std::vector<std::pair<Int128, WorkerIndex>> saved;
    for (const WorkerIndex w : healthy_) {
      if (Holds(open_, w)) continue;
      const std::vector<traffic::Neighbour> own = search::NeighboursOf(instance_.graph(), w);
      Int128 least = 0;
      for (std::size_t o = 0; o < most; ++o) {
        const Int128 change = Change(own, w, open_[o]) + Change(of_open[o], open_[o], w);
        if (o == 0 || change < least) least = change;
      }
      saved.emplace_back(least, w);
    }
    const std::size_t kept = std::min<std::size_t>(saved.size(), kMostTried);
    std::partial_sort(saved.begin(), saved.begin() + static_cast<std::ptrdiff_t>(kept),
                      saved.end());
    WorkerList tried;
    for (std::size_t i = 0; i < kept; ++i) tried.push_back(saved[i].second);
    return tried;
  }

  // What a worker's traffic costs more on the other's node, without that between the two.
  Int128 Change(std::span<const traffic::Neighbour> neighbours, WorkerIndex worker,
                WorkerIndex other) const {
    Int128 change = 0;
    const NodeIndex from = best_.nodes[worker], to = best_.nodes[other];
    for (const traffic::Neighbour& neighbour : neighbours) {
      if (neighbour.worker == other) continue;
      const NodeIndex at = best_.nodes[neighbour.worker];
      const std::int64_t more =
          instance_.pair_cost().Weight(to, at) - instance_.pair_cost().Weight(from, at);
      change += Int128{neighbour.bytes} * more;
    }
    return change;
  }

  const Replacer& replacer_;
  const Instance& instance_;
  Candidate best_;
  objective::Objective before_;               // of the best with fewer moves
  WorkerList open_, healthy_, moved_anyway_;  // ascending
  std::uint32_t opened_ = 0;
};

// Weighs placements against the one with the others fixed.
class Weigher {
 public:
  Weigher(const Loss& loss, const Replaced& fixed, const MoveTerms& terms)
      : loss_(loss), fixed_(fixed), terms_(terms), step_(terms.step(fixed.placement)) {}

  void Add(const Candidate& candidate) {
    const auto& options = choice_.options;
    const objective::Objective before =
        options.empty() ? fixed_.placement.objective() : options.back().placement.objective();
    if (candidate.objective() >= before) return;
    MoveOption option{candidate, More(candidate), Seconds{0}, Seconds{0}};
    const double step = terms_.step(candidate);
    if (step <= 0) return;
    const Seconds lasts = std::min(terms_.until_next_failure, terms_.remaining);
    option.gain = (step_ / step - 1) * lasts;
    option.loss = terms_.restart(option.more) - terms_.restart(More(fixed_.placement));
    choice_.options.push_back(std::move(option));
  }

  MoveChoice Choose() {
    Seconds best{0};
    for (std::size_t i = 0; i < choice_.options.size(); ++i) {
      const Seconds net = choice_.options[i].gain - choice_.options[i].loss;
      if (net <= best) continue;
      best = net;
      choice_.chosen = i;
    }
    return std::move(choice_);
  }

 private:
  std::uint32_t More(const Candidate& candidate) const {
    std::uint32_t more = 0;
    for (const WorkerIndex w : candidate.nodes.Indices()) {
      more += candidate.nodes[w] != loss_.nodes[w] && !Holds(loss_.failed, w) ? 1 : 0;
    }
    return more;
  }

  const Loss& loss_;
  const Replaced& fixed_;
  const MoveTerms& terms_;
  double step_;
  MoveChoice choice_;
};

}  // namespace

MoveChoice MoveMore(const Replacer& replacer, const Replaced& fixed, const MoveTerms& terms,
                    bool all) {
  WEFT_CHECK(terms.step && terms.restart);
  Weigher weigher(replacer.loss(), fixed, terms);
  Opener opener(replacer, fixed);
  for (std::uint32_t moved = 1, next = 1; moved <= kMostMoved && opener.Next(); ++moved) {
    if (moved != next) continue;
    weigher.Add(opener.best());
    next *= 2;
  }
  weigher.Add(opener.best());  // if the workers ran out between two of these numbers
  if (all) {
    const Instance& instance = replacer.instance();
    objective::Request request = instance.request();
    request.previous_nodes = replacer.loss().nodes;
    if (auto plan = Solve(instance.claims(), request, instance.graph())) {
      weigher.Add(plan->candidate());
    }
  }
  return weigher.Choose();
}

}  // namespace weft::placement
