#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "operator/render/map_input.h"

namespace weft::render {

// How the GPUs of one domain are used.
struct DomainUsage {
  std::int64_t total = 0;
  std::int64_t earlier = 0;                                   // held by earlier pods
  std::vector<std::pair<std::size_t, std::int64_t>> planned;  // (job, GPUs), by job
  std::int64_t off = 0;   // unclaimed, on nodes that are unusable or cordoned
  std::int64_t free = 0;  // unclaimed after the plan, on other nodes
};

// The plan's workers by node.
class MapUsage {
 public:
  explicit MapUsage(const MapInput& map);

  // Cost O(nodes and workers in the domain).
  DomainUsage In(fabric::Tier tier, fabric::DomainIndex domain) const;
  // Workers of the job in the domain, ascending.
  std::vector<WorkerIndex> Workers(fabric::Tier tier, fabric::DomainIndex domain,
                                   std::size_t job) const;

 private:
  struct PlannedWorker {
    fabric::NodeIndex node{0};
    std::size_t job = 0;
    WorkerIndex worker;

    friend auto operator<=>(const PlannedWorker&, const PlannedWorker&) = default;
  };
  std::span<const PlannedWorker> PlannedIn(fabric::Tier tier, fabric::DomainIndex domain) const;

  const MapInput& map_;
  std::vector<PlannedWorker> planned_;  // ascending
};

// The numbers of ascending workers as text, with runs folded: "0-7, 12".
std::string WorkerRanges(const std::vector<WorkerIndex>& workers);

}  // namespace weft::render
