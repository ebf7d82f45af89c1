#include "operator/objective/job_grid.h"

#include <algorithm>
#include <numeric>

#include "operator/base/check.h"
#include "operator/base/random.h"

namespace weft::objective {

namespace {

constexpr std::uint32_t kSample = 192;  // workers whose traffic is measured
constexpr std::uint64_t kSeed = 1;      // any fixed number: same input, same answer
// Larger boxes are not used as units: no domain keeps so many workers together.
constexpr std::uint32_t kLargestUnit = 64;
constexpr std::size_t kMostTiles = 8;  // tiles of the heaviest digits come first
// The bytes per worker that leave a piece of a ring fall in proportion to its length. A tile is
// natural if fewer bytes leave it than this percentage of what that rule predicts from the next
// shorter tile.
constexpr int kNaturalPercent = 60;

std::vector<WorkerIndex> Sample(std::uint32_t workers) {
  std::vector<WorkerIndex> sample;
  if (workers <= kSample) {
    sample.resize(workers);
    std::iota(sample.begin(), sample.end(), WorkerIndex{0});
    return sample;
  }
  SplitMix64 random(kSeed);
  for (std::uint32_t i = 0; i < kSample; ++i) {
    sample.push_back(WorkerIndex::Of(random.Below(workers)));
  }
  return sample;
}

// Visits the bytes that a worker exchanges with each peer.
template <typename Visit>
void ForEachPeer(const traffic::WorkerGraph& graph, WorkerIndex worker, Visit visit) {
  for (const traffic::Neighbour& neighbour : graph.neighbours(worker)) {
    visit(neighbour.worker, Int128{neighbour.bytes});
  }
  for (const std::uint32_t c : graph.cliques_of(worker)) {
    const traffic::Clique& clique = graph.cliques()[c];
    Int128 own = 0;
    for (const traffic::Seat& member : clique.members) {
      if (member.worker == worker) own = member.ranks;
    }
    for (const traffic::Seat& member : clique.members) {
      if (member.worker == worker) continue;
      visit(member.worker, own * member.ranks * clique.bytes_per_rank_pair);
    }
  }
}

}  // namespace

std::vector<std::uint32_t> Divisors(std::uint32_t n) {
  std::vector<std::uint32_t> divisors;
  for (std::uint32_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    divisors.push_back(d);
    if (d != n / d) divisors.push_back(n / d);
  }
  std::sort(divisors.begin(), divisors.end());
  return divisors;
}

std::uint64_t Volume(const Shape& tile) {
  return std::accumulate(tile.begin(), tile.end(), std::uint64_t{1}, std::multiplies<>());
}

JobGrid::JobGrid(const traffic::WorkerGraph& graph, std::span<const std::uint32_t> grid)
    : workers_(graph.workers()), sizes_(grid.begin(), grid.end()) {
  if (sizes_.empty() && workers_ > 1) sizes_ = {workers_};
  const std::vector<WorkerIndex> sample = Sample(workers_);
  Split(graph, sample);
  Measure(graph, sample);
  heaviest_first_.resize(sizes_.size());
  std::iota(heaviest_first_.begin(), heaviest_first_.end(), std::size_t{0});
  std::stable_sort(heaviest_first_.begin(), heaviest_first_.end(),
                   [&](std::size_t a, std::size_t b) {
                     return digits_[a].leaving.front() > digits_[b].leaving.front();
                   });
}

// A digit is split at a length at which every worker has a peer at that distance.
void JobGrid::Split(const traffic::WorkerGraph& graph, std::span<const WorkerIndex> sample) {
  std::vector<std::uint32_t> split;
  std::uint32_t stride = 1;
  for (const std::uint32_t size : sizes_) {
    std::vector<std::uint32_t> has(size, 0), may(size, 0);  // sampled workers, by distance
    for (const WorkerIndex worker : sample) {
      const std::uint32_t digit = worker.Raw() / stride % size;
      for (std::uint32_t apart = 1; digit + apart < size; ++apart) ++may[apart];
      ForEachPeer(graph, worker, [&](WorkerIndex peer, Int128) {
        if (peer <= worker || (peer - worker) % stride != 0) return;
        const std::uint32_t apart = (peer - worker) / stride;
        if (digit + apart < size) ++has[apart];
      });
    }
    std::uint32_t inner = 1;
    for (std::uint32_t length = 2; length < size; ++length) {
      if (size % length != 0 || length % inner != 0) continue;
      if (may[length] == 0 || has[length] < may[length]) continue;
      split.push_back(length / inner);
      inner = length;
    }
    split.push_back(size / inner);
    stride *= size;
  }
  sizes_ = std::move(split);
}

void JobGrid::Measure(const traffic::WorkerGraph& graph, std::span<const WorkerIndex> sample) {
  std::uint32_t stride = 1;
  for (const std::uint32_t size : sizes_) {
    Digit digit{.lengths = Divisors(size), .leaving = {}};
    digit.leaving.assign(digit.lengths.size(), 0);
    for (const WorkerIndex worker : sample) {
      const std::uint32_t own = worker.Raw() / stride % size;
      ForEachPeer(graph, worker, [&](WorkerIndex peer, Int128 bytes) {
        const std::uint32_t other = peer.Raw() / stride % size;
        if (own == other) return;
        for (std::size_t i = 0; i < digit.lengths.size(); ++i) {
          if (own / digit.lengths[i] != other / digit.lengths[i]) digit.leaving[i] += bytes;
        }
      });
    }
    digits_.push_back(std::move(digit));
    stride *= size;
  }
}

Int128 JobGrid::Leaving(std::size_t digit, std::uint32_t length) const {
  const auto& lengths = digits_[digit].lengths;
  const auto found = std::lower_bound(lengths.begin(), lengths.end(), length);
  WEFT_DCHECK(found != lengths.end() && *found == length);  // a divisor of the digit
  return digits_[digit].leaving[static_cast<std::size_t>(found - lengths.begin())];
}

std::vector<Shape> JobGrid::NaturalTiles() const {
  std::vector<Shape> tiles;
  const auto add = [&](const Shape& tile) {
    const std::uint64_t size = Volume(tile);
    if (size < 2 || size > kLargestUnit || size * 2 > workers_) return;
    if (tiles.size() == kMostTiles) return;
    if (std::find(tiles.begin(), tiles.end(), tile) == tiles.end()) tiles.push_back(tile);
  };
  const auto add_lengths = [&](std::size_t at, const Shape& inner) {
    const Digit& digit = digits_[at];
    for (std::size_t i = 1; i < digit.lengths.size(); ++i) {
      const Int128 scaled = digit.leaving[i] * digit.lengths[i] * 100;
      if (scaled >= digit.leaving[i - 1] * digit.lengths[i - 1] * kNaturalPercent) continue;
      Shape tile = inner;
      tile[at] = digit.lengths[i];
      add(tile);
    }
  };
  const Shape ones(sizes_.size(), 1);
  Shape inner = ones;  // with the heavier digits whole
  for (const std::size_t at : heaviest_first_) {
    add_lengths(at, inner);
    inner[at] = sizes_[at];
  }
  for (const std::size_t at : heaviest_first_) add_lengths(at, ones);
  return tiles;
}

Shape JobGrid::BestTile(const Shape& inner, const Shape& outer, std::uint64_t room) const {
  struct Search {
    const JobGrid& grid;
    const Shape &inner, &outer;
    std::uint64_t room;
    Shape tile, best;
    Int128 least = -1;
    std::uint64_t volume_of_best = 0;

    void Visit(std::size_t digit, std::uint64_t volume, Int128 leaving) {
      if (least >= 0 && leaving > least) return;
      if (digit == tile.size()) {
        if (least >= 0 && leaving == least && volume <= volume_of_best) return;
        best = tile;
        least = leaving;
        volume_of_best = volume;
        return;
      }
      for (const std::uint32_t length : grid.digits_[digit].lengths) {
        if (length % inner[digit] != 0 || outer[digit] % length != 0) continue;
        const std::uint64_t grown = volume / inner[digit] * length;
        if (grown > room && length > inner[digit]) break;
        tile[digit] = length;
        Visit(digit + 1, grown, leaving + grid.Leaving(digit, length));
      }
    }
  };
  WEFT_CHECK(inner.size() == digits_.size() && outer.size() == digits_.size());
  Search search{*this, inner, outer, room, inner, inner, -1, 0};
  search.Visit(0, Volume(inner), 0);
  return search.best;
}

}  // namespace weft::objective
