#include "operator/search/strand_moves.h"

#include <algorithm>

#include "operator/base/check.h"

namespace weft::search {

namespace {

constexpr std::uint32_t kLongestPart = 12;  // 8 and 16 are as good, 40 is worse

}  // namespace

StrandMoves::StrandMoves(const std::vector<Strands>& digits, const Seats& seats,
                         const Seating& seating)
    : digits_(digits), seats_(seats), seating_(seating), seen_(seating.seat_of.size(), 0) {}

bool StrandMoves::IsNew(std::uint32_t index) {
  if (seen_[index] == round_) return false;
  seen_[index] = round_;
  return true;
}

const std::vector<StrandMoves::Move>& StrandMoves::Propose(SplitMix64& random) {
  moves_.clear();
  if (digits_.empty()) return moves_;
  const Strands& strands = digits_[Draw(random, static_cast<std::uint32_t>(digits_.size()))];
  const WorkerIndex worker(Draw(random, static_cast<std::uint32_t>(seen_.size())));
  const int direction = Draw(random, 2) == 0 ? 1 : -1;
  const WorkerIndex next = strands.Along(worker, direction);
  const auto near = seats_.Near(seating_.seat_of[worker]);
  if (next == kNoWorker || near.empty()) return moves_;
  const std::uint32_t seat = near[Draw(random, static_cast<std::uint32_t>(near.size()))];
  const WorkerIndex other = seating_.at[seat];
  if (other == next) return moves_;
  const bool drag = strands.largest_cluster() > 1 && Draw(random, 2) == 0;
  const std::uint32_t most =
      std::max(1U, drag ? kLongestPart / strands.largest_cluster() : kLongestPart);
  const std::int64_t length = (drag ? 1 : 2) + std::int64_t{Draw(random, most)};
  if (other == kNoWorker) {
    // A cluster has no one seat to go to.
    if (!drag) Shift(strands, worker, direction, seat, length);
    return moves_;
  }
  const std::int64_t apart = strands.StepsTo(worker, other, direction);
  if (apart < 2 || apart > most) {
    Swap(strands, worker, direction, other, Draw(random, 2) == 0 ? 1 : -1, length);
  } else if (Draw(random, 2) == 0) {
    Turn(strands, worker, direction, apart);
  } else {
    Shift(strands, worker, direction, seat, apart);
  }
  if (drag && !Drag(strands)) moves_.clear();
  return moves_;
}

// The first of `length` workers behind this one takes the seat, and each of the others the seat of
// the one before it. The seat is free, or that of the last of them.
void StrandMoves::Shift(const Strands& strands, WorkerIndex worker, int direction,
                        std::uint32_t seat, std::int64_t length) {
  for (std::int64_t i = 1; i <= length; ++i) {
    const WorkerIndex moved = strands.Along(worker, direction * i);
    if (moved == kNoWorker || moved == worker) return;
    Add(moved, seat);
    seat = seating_.seat_of[moved];
  }
}

void StrandMoves::Turn(const Strands& strands, WorkerIndex worker, int direction,
                       std::int64_t length) {
  for (std::int64_t i = 1; i <= length; ++i) {
    const WorkerIndex opposite = strands.Along(worker, direction * (length + 1 - i));
    WEFT_DCHECK(opposite != kNoWorker);
    Add(strands.Along(worker, direction * i), seating_.seat_of[opposite]);
  }
}

// What follows `worker` changes places with `other` and what follows that, up to where the parts
// meet or a strand ends.
void StrandMoves::Swap(const Strands& strands, WorkerIndex worker, int direction, WorkerIndex other,
                       int other_direction, std::int64_t length) {
  Forget();
  for (std::int64_t i = 0; i < length; ++i) {
    const WorkerIndex a = strands.Along(worker, direction * (i + 1));
    const WorkerIndex b = strands.Along(other, other_direction * i);
    if (a == kNoWorker || b == kNoWorker || !IsNew(a.Raw()) || !IsNew(b.Raw())) return;
    Add(a, seating_.seat_of[b]);
    Add(b, seating_.seat_of[a]);
  }
}

// Lets the other members of clusters follow: where a worker takes the seat of another, its cluster
// takes the seats of the other's cluster. Returns false if that cannot be.
bool StrandMoves::Drag(const Strands& strands) {
  Forget();
  const std::size_t count = moves_.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!IsNew(strands.cluster_of(moves_[i].worker))) return false;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const WorkerIndex worker = moves_[i].worker, to = seating_.at[moves_[i].seat];
    WEFT_DCHECK(to != kNoWorker);  // clusters follow only to seats that are taken
    const auto from = strands.cluster(strands.cluster_of(worker));
    const auto into = strands.cluster(strands.cluster_of(to));
    // The clusters that are left and those that are taken must be the same.
    if (from.size() != into.size() || seen_[strands.cluster_of(to)] != round_) return false;
    const std::size_t size = from.size();
    const std::size_t turn = strands.in_cluster(to) + size - strands.in_cluster(worker);
    for (std::size_t k = 0; k < size; ++k) {
      if (from[k] != worker) Add(from[k], seating_.seat_of[into[(k + turn) % size]]);
    }
  }
  return true;
}

}  // namespace weft::search
