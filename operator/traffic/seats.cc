#include "operator/traffic/seats.h"

#include <algorithm>

#include "operator/base/units.h"

namespace weft::traffic {

namespace {

// WorkerOf each rank, without a division: multiplies by 2^64 / perWorker, rounded up, which is exact
// for 32-bit ranks.
// Source  Lemire, Kaser, Kurz, "Faster remainder by direct computation", 2019, theorem 1.
std::vector<WorkerIndex> WorkersOf(std::span<const RankIndex> ranks, std::uint32_t per_worker) {
  std::vector<WorkerIndex> workers;
  workers.reserve(ranks.size());
  for (const RankIndex rank : ranks) workers.push_back(WorkerOf(rank, 1));
  if (per_worker == 1) return workers;
  const std::uint64_t inverse = ~std::uint64_t{0} / per_worker + 1;
  for (WorkerIndex& worker : workers) {
    worker = WorkerIndex(static_cast<std::uint32_t>((Int128{worker.Raw()} * inverse) >> 64));
  }
  return workers;
}

}  // namespace

SeatedGroups::SeatedGroups(std::span<const RankIndex> members, std::uint32_t group_size,
                           std::uint32_t per_worker) {
  const std::vector<WorkerIndex> workers = WorkersOf(members, per_worker);
  const auto size = static_cast<std::ptrdiff_t>(group_size);
  for (auto at = workers.begin(); at != workers.end(); at += size) {
    if (at != workers.begin() && std::equal(at, at + size, at - size)) {
      ++groups_.back();
    } else {
      Add({at, at + size});
    }
  }
}

void SeatedGroups::Add(std::span<const WorkerIndex> workers) {
  for (std::size_t i = 0, end = 0; i < workers.size(); i = end) {
    for (end = i + 1; end < workers.size() && workers[end] == workers[i];) ++end;
    seats_.push_back({workers[i], static_cast<std::uint32_t>(end - i)});
  }
  begin_.push_back(static_cast<std::uint32_t>(seats_.size()));
  groups_.push_back(1);
}

}  // namespace weft::traffic
