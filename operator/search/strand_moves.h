#pragma once

#include <cstdint>
#include <vector>

#include "operator/base/random.h"
#include "operator/search/seats.h"
#include "operator/search/strands.h"

namespace weft::search {

// Who sits where.
struct Seating {
  ByWorker<std::uint32_t> seat_of;
  std::vector<WorkerIndex> at;  // by seat: its worker, or kNoWorker
};

// Below `count`, without a division.
inline std::uint32_t Draw(SplitMix64& random, std::uint32_t count) {
  return static_cast<std::uint32_t>((random.Next() >> 32) * count >> 32);
}

// Proposes moves of several workers of a strand at once, which bring a worker's successor to a seat
// near the worker. Single moves seldom find these, because each of them raises the cost alone.
//   - a part of the strand is turned round
//   - a part takes the seat near the worker, and each worker of it the seat of the one before it
//   - the part behind the worker changes places with a part of another strand
// In half of the proposals for lighter digits whole clusters move, so that groups that exchange
// many bytes stay together.
//
// Source  2-opt and or-opt: Lin, "Computer solutions of the traveling salesman problem", 1965; Or,
//         1976; the exchange of parts: Taillard et al., "A tabu search heuristic for the vehicle
//         routing problem with soft time windows", Transportation Science 31, 1997 (CROSS).
class StrandMoves {
 public:
  // The arguments outlive it; the seating may change between calls.
  StrandMoves(const std::vector<Strands>& digits, const Seats& seats, const Seating& seating);

  // Workers and the seat that each of them gets: the seats that these workers have, or all of these
  // but one and a free one. Empty if the draw led nowhere.
  struct Move {
    WorkerIndex worker;
    std::uint32_t seat = 0;
  };
  const std::vector<Move>& Propose(SplitMix64& random);

 private:
  void Add(WorkerIndex worker, std::uint32_t seat) { moves_.push_back({worker, seat}); }
  void Shift(const Strands& strands, WorkerIndex worker, int direction, std::uint32_t seat,
             std::int64_t length);
  void Turn(const Strands& strands, WorkerIndex worker, int direction, std::int64_t length);
  void Swap(const Strands& strands, WorkerIndex worker, int direction, WorkerIndex other,
            int other_direction, std::int64_t length);
  bool Drag(const Strands& strands);
  // Whether this worker, or cluster, is new since the last call of Forget.
  bool IsNew(std::uint32_t index);
  void Forget() { ++round_; }

  const std::vector<Strands>& digits_;
  const Seats& seats_;
  const Seating& seating_;
  std::vector<Move> moves_;
  std::vector<std::uint64_t> seen_;  // by worker or cluster: the round it was last seen in
  std::uint64_t round_ = 0;
};

}  // namespace weft::search
