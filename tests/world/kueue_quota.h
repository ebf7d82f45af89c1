#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/world/api_server.h"

namespace weft::world {

// GPUs and the like, by flavor and resource.
using FlavorUsage = std::map<std::pair<std::string, std::string>, std::int64_t>;

// What an admitted Workload holds.
// Without that of pods that have succeeded.
FlavorUsage UsageOf(const Json& workload);
// What a ClusterQueue has.
FlavorUsage NominalOf(const Json& cluster_queue);
void AddTo(FlavorUsage& sum, const FlavorUsage& part, std::int64_t sign);

// Which flavors a Workload would get in a ClusterQueue of which so much is used.
struct FlavorAssignment {
  enum class Mode : std::uint8_t { kFit, kPreempt, kNoFit };
  Mode mode = Mode::kFit;
  Json admission;       // kFit, kPreempt
  FlavorUsage usage;    // kFit, kPreempt
  std::string reason;   // kNoFit: of the condition QuotaReserved
  std::string message;  // unless kFit
};
using FindFlavor = std::function<std::shared_ptr<const Json>(const std::string& name)>;
FlavorAssignment Assign(const Json& workload, const Json& cluster_queue, const FlavorUsage& used,
                        const FindFlavor& flavor);

// Workloads with quota that may be evicted so that `wanted` fits, as few as Kueue's classical
// preemption takes; empty if that is impossible.
std::vector<std::shared_ptr<const Json>> Victims(const Json& workload, const FlavorUsage& wanted,
                                                 const Json& cluster_queue, FlavorUsage used,
                                                 std::vector<std::shared_ptr<const Json>> holders);

// Whether `left` is before `right` in a queue.
bool IsBefore(const Json& left, const Json& right);

}  // namespace weft::world
