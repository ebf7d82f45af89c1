#include "operator/search/even_parts.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "operator/base/check.h"
#include "operator/objective/hard_rules.h"
#include "operator/objective/ring_rate.h"

namespace weft::search {
namespace {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using traffic::Seat;

// Groups whose k-th members are in the same domain for every k. The workers of all k-th members are
// a row; rows have the same size.
struct Bundle {
  std::vector<DomainIndex> domains;  // by row
  std::vector<std::vector<WorkerIndex>> rows;
  std::uint32_t ranks = 0;  // of a group in a row, the fewest
};

// A job in hundreds of fragments stays as it is.
constexpr std::size_t kMostRuns = 256;

// Consecutive rows in one domain.
struct Run {
  DomainIndex domain{0};
  std::size_t length = 0;
  std::size_t room = 0;   // rows that the domain can take
  std::size_t least = 0;  // rows that it is to take
};

class Evener {
 public:
  Evener(const objective::Instance& instance, const objective::Candidate& start)
      : instance_(instance),
        tier_(*instance.fabric().nested_scale_up()),
        of_node_(instance.fabric().domains(tier_).of_node),
        nodes_(start.nodes),
        free_(instance.slots().begin(), instance.slots().end()) {
    for (const NodeIndex n : nodes_) {
      WEFT_CHECK(free_[n] > 0);  // the start has no more workers than slots
      --free_[n];
    }
  }

  std::optional<ByWorker<NodeIndex>> Make() {
    const auto bundles = Bundles(*instance_.request().ring);
    if (!bundles) return std::nullopt;
    bool changed = false;
    for (const Bundle& bundle : *bundles) changed |= Even(bundle);
    return changed ? std::optional(std::move(nodes_)) : std::nullopt;
  }

 private:
  // Nothing if a worker is in two groups, or twice in one.
  std::optional<std::vector<Bundle>> Bundles(const traffic::SeatedGroups& ring) const {
    std::map<std::vector<DomainIndex>, Bundle> bundles;
    ByWorker<bool> seen(nodes_.size());
    for (std::size_t b = 0; b < ring.batches(); ++b) {
      std::vector<DomainIndex> domains;
      for (const Seat& seat : ring.seats(b)) {
        if (seen[seat.worker]) return std::nullopt;
        seen[seat.worker] = true;
        domains.push_back(of_node_[nodes_[seat.worker]]);
      }
      Bundle& bundle = bundles[domains];
      bundle.rows.resize(domains.size());
      for (std::size_t i = 0; i < domains.size(); ++i) {
        const Seat& seat = ring.seats(b)[i];
        bundle.rows[i].push_back(seat.worker);
        bundle.ranks = bundle.ranks == 0 ? seat.ranks : std::min(bundle.ranks, seat.ranks);
      }
      bundle.domains = std::move(domains);
    }
    std::vector<Bundle> list;
    for (auto& [domains, bundle] : bundles) list.push_back(std::move(bundle));
    return list;
  }

  bool Even(const Bundle& bundle) {
    const std::size_t rows = bundle.rows.size();
    std::size_t first = 0;  // where a run begins
    while (first < rows && bundle.domains[first] == bundle.domains[(first + rows - 1) % rows]) {
      ++first;
    }
    if (first == rows) return false;  // all in one domain
    std::vector<Run> runs = RunsFrom(bundle, first);
    std::vector<DomainIndex> used;
    for (const Run& run : runs) used.push_back(run.domain);
    std::sort(used.begin(), used.end());
    if (std::adjacent_find(used.begin(), used.end()) != used.end() || runs.size() > kMostRuns) {
      return false;
    }
    const std::vector<Run> before = runs;
    const std::size_t wanted = RowsWanted(bundle);
    FindUsed(bundle);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const auto shared = [&](std::size_t other) {
        return SharedTier(before[r].domain, before[other % before.size()].domain);
      };
      const Tier near = std::max(shared(r + 1), shared(r + before.size() - 1));
      FindRoom(bundle.rows.front().size(), wanted, near, runs[r]);
    }
    if (!Divide(rows, wanted, runs)) return false;
    MoveTo(bundle, first, before, runs);
    return true;
  }

  std::vector<Run> RunsFrom(const Bundle& bundle, std::size_t first) const {
    const std::size_t rows = bundle.rows.size();
    std::vector<Run> runs;
    for (std::size_t i = 0; i < rows; ++i) {
      const DomainIndex domain = bundle.domains[(first + i) % rows];
      if (runs.empty() || runs.back().domain != domain) runs.push_back({domain});
      ++runs.back().length;
    }
    return runs;
  }

  // Rows with which the ring is as fast over the widest tier that it crosses as inside a domain.
  std::size_t RowsWanted(const Bundle& bundle) const {
    std::vector<WorkerIndex> workers;
    for (const auto& row : bundle.rows) workers.push_back(row.front());
    const objective::PairCost& cost = instance_.pair_cost();
    const std::int64_t between = cost.TierWeight(instance_.HullOf(workers, nodes_));
    const std::int64_t inside = cost.TierWeight(tier_) * bundle.ranks;
    return static_cast<std::size_t>((between + inside - 1) / inside);
  }

  std::size_t FreeIn(DomainIndex domain) const {
    const auto& begin = instance_.fabric().domains(tier_).begin;
    return std::accumulate(free_.begin() + begin[domain].Raw(),
                           free_.begin() + begin[domain + 1].Raw(), std::size_t{0});
  }

  Tier SharedTier(DomainIndex a, DomainIndex b) const {
    const auto& begin = instance_.fabric().domains(tier_).begin;
    return instance_.fabric().SharedTier(begin[a], begin[b]);
  }

  // Fills used_ and others_ before the runs of a bundle are moved.
  void FindUsed(const Bundle& bundle) {
    ByWorker<bool> in_bundle(nodes_.size());
    for (const auto& row : bundle.rows) {
      for (const WorkerIndex worker : row) in_bundle[worker] = true;
    }
    used_.clear();
    others_.clear();
    for (const WorkerIndex worker : nodes_.Indices()) {
      used_.insert(of_node_[nodes_[worker]]);
      if (!in_bundle[worker]) others_.insert(of_node_[nodes_[worker]]);
    }
  }

  // Sets the run's room. If it is less than wanted, the run goes to an unused domain that shares
  // the tier `near` with its own, so that it is not farther from the runs beside it: to that with
  // the least room that is enough, or with the most room.
  void FindRoom(std::size_t width, std::size_t wanted, Tier near, Run& run) {
    run.room = run.length + FreeIn(run.domain) / width;
    if (run.room >= wanted) return;
    DomainIndex best = run.domain;
    std::size_t best_room = run.room;
    for (DomainIndex d{0}; d < instance_.fabric().domains(tier_).EndIndex(); ++d) {
      const std::size_t room = instance_.SlotsIn(tier_, d) / width;
      const bool better =
          best_room < wanted ? room > best_room : wanted <= room && room < best_room;
      if (!better || used_.contains(d) || SharedTier(d, run.domain) < near) continue;
      best = d;
      best_room = room;
    }
    if (best == run.domain) return;
    if (!others_.contains(run.domain)) used_.erase(run.domain);
    used_.insert(best);
    run.domain = best;
    run.room = best_room;
  }

  // Gives each run as many rows as are wanted, or equally many if there are too few. Returns false
  // if nothing changes.
  static bool Divide(std::size_t rows, std::size_t wanted, std::vector<Run>& runs) {
    const auto taken = [&](std::size_t level) {
      std::size_t sum = 0;
      for (const Run& run : runs) sum += std::min(level, run.room);
      return sum;
    };
    while (wanted > 1 && taken(wanted) > rows) --wanted;
    std::size_t sum = 0;
    bool changed = false;
    for (Run& run : runs) {
      run.least = std::min(wanted, run.room);
      changed |= run.length < run.least;
      run.length = std::max(run.length, run.least);
      sum += run.length;
    }
    for (; sum > rows; --sum) {
      Run* longest = nullptr;
      for (Run& run : runs) {
        if (run.length <= run.least) continue;
        if (longest == nullptr || run.length > longest->length) longest = &run;
      }
      WEFT_CHECK(longest != nullptr);  // together the least are no more than the rows
      --longest->length;
    }
    WEFT_CHECK(sum == rows);  // each row has one run
    return changed;
  }

  void MoveTo(const Bundle& bundle, std::size_t first, const std::vector<Run>& before,
              const std::vector<Run>& runs) {
    const std::size_t rows = bundle.rows.size(), width = bundle.rows.front().size();
    for (const auto& row : bundle.rows) {
      for (const WorkerIndex worker : row) ++free_[nodes_[worker]];
    }
    ByWorker<NodeIndex> own(nodes_);
    std::size_t at = first, was = first;
    for (std::size_t r = 0; r < runs.size(); ++r) {
      std::vector<NodeIndex> kept;
      for (std::size_t i = 0; i < before[r].length; ++i, ++was) {
        for (const WorkerIndex worker : bundle.rows[was % rows]) kept.push_back(own[worker]);
      }
      if (before[r].domain != runs[r].domain) kept.clear();
      const std::vector<NodeIndex> slots =
          SlotsOf(runs[r].domain, std::move(kept), runs[r].length * width);
      std::size_t next = 0;
      for (std::size_t i = 0; i < runs[r].length; ++i, ++at) {
        for (const WorkerIndex worker : bundle.rows[at % rows]) nodes_[worker] = slots[next++];
      }
    }
    for (const auto& row : bundle.rows) {
      for (const WorkerIndex worker : row) {
        WEFT_CHECK(free_[nodes_[worker]] > 0);
        --free_[nodes_[worker]];
      }
    }
  }

  // So many free slots of the domain, in the order of nodes: first those on `kept`, then on nodes
  // in use by others, then on free nodes.
  std::vector<NodeIndex> SlotsOf(DomainIndex domain, std::vector<NodeIndex> kept,
                                 std::size_t count) const {
    std::sort(kept.begin(), kept.end());
    std::vector<NodeIndex> slots(
        kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(std::min(count, kept.size())));
    const auto& begin = instance_.fabric().domains(tier_).begin;
    for (const bool whole : {false, true}) {
      for (NodeIndex n = begin[domain]; n < begin[domain + 1] && slots.size() < count; ++n) {
        if (instance_.wholly_free(instance_.node_tier(), AsDomain(n)) != whole) continue;
        const auto mine = std::equal_range(kept.begin(), kept.end(), n);
        WEFT_CHECK(free_[n] >= static_cast<std::size_t>(mine.second - mine.first));
        const std::size_t open = free_[n] - static_cast<std::size_t>(mine.second - mine.first);
        slots.insert(slots.end(), std::min(open, count - slots.size()), n);
      }
    }
    WEFT_CHECK(slots.size() == count);  // FindRoom counted them
    std::sort(slots.begin(), slots.end());
    return slots;
  }

  const objective::Instance& instance_;
  const Tier tier_;  // of the scale-up network
  const fabric::ByNode<DomainIndex>& of_node_;
  ByWorker<NodeIndex> nodes_;
  fabric::ByNode<std::uint32_t> free_;  // slots
  std::set<DomainIndex> used_;          // where workers are, or runs of the bundle are to go
  std::set<DomainIndex> others_;        // where workers of other bundles are
};

}  // namespace

std::optional<objective::Candidate> EvenParts(const objective::Instance& instance,
                                              const objective::Candidate& start) {
  if (objective::RingPercent(instance, start.nodes).value_or(0) <= 100) return std::nullopt;
  auto nodes = Evener(instance, start).Make();
  if (!nodes || !objective::MeetsHardRules(instance, *nodes)) return std::nullopt;
  return objective::Evaluate(instance, *std::move(nodes));
}

}  // namespace weft::search
