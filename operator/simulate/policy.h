#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/random.h"
#include "operator/fabric/claims.h"
#include "operator/objective/request.h"
#include "operator/traffic/worker_graph.h"

namespace weft::simulate {

// Who chooses the nodes of a job: the number of a row of the table in policy.cc. Only weft, the
// operator's solver, has a name here. All policies meet the same node rules; report/baselines.h
// says how the others choose.
enum class Policy : std::uint8_t { kWeft };
std::span<const Policy> AllPolicies();
std::string_view PolicyName(Policy policy);  // "weft", "first-fit", ... as users write it
// All names as the help lists them, those that need it with a word of explanation: "weft, first-fit
// (by name), ...".
std::string PolicyList();
std::optional<Policy> FindPolicy(std::string_view name);

class Placer {
 public:
  // `seed`: of the random policy.
  Placer(Policy policy, std::uint64_t seed) : policy_(policy), random_(seed) {}

  // The node of each worker; nothing if the job does not fit. `empty`: as if nothing else ran.
  // Cost  as placement::Solve for weft, O(nodes log nodes) for the others.
  std::optional<ByWorker<fabric::NodeIndex>> Place(const fabric::Claims& claims,
                                                   const objective::Request& request,
                                                   const traffic::WorkerGraph& graph,
                                                   bool empty = false);
  // Nodes to keep free for the job, as the operator chooses them (plan::ReservationOptions).
  std::optional<ByWorker<fabric::NodeIndex>> Reserve(const fabric::Claims& claims,
                                                     const objective::Request& request,
                                                     const traffic::WorkerGraph& graph, bool empty);
  // Whether Place would find nodes; faster than Place, and leaves the random numbers alone.
  bool Fits(const fabric::Claims& claims, const objective::Request& request,
            const traffic::WorkerGraph& graph) const;

 private:
  Policy policy_;
  SplitMix64 random_;
};

}  // namespace weft::simulate
