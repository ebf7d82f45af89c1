#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/plan/plan_report.h"
#include "operator/report/levels.h"

namespace weft::report {

// The policy that chooses the nodes. All policies meet the same node rules; the last three ignore
// traffic.
enum class Policy : std::uint8_t {
  kWeft,
  kFirstFit,       // nodes by name, each filled before the next
  kFewestDomains,  // one domain of the narrowest level that fits, else the fewest domains
  kRandom,         // a random node with room for each worker; median of five seeds
};
inline constexpr std::size_t kPolicies = 4;
std::string_view PolicyName(Policy policy);  // "weft", "first fit", "fewest domains", "random"

// Cost of one policy's placement of one job. A job without a model counts as one ring over its
// ranks with one byte per rank.
struct PolicyOutcome {
  bool placed = false;
  Int128 cost = 0;
  Int128 cross_node_bytes = 0;
  std::vector<LevelBytes> levels;            // widest first, outside first
  std::optional<std::int64_t> cost_percent;  // of Weft's cost, rounded; absent if that is 0
  double communication_milliseconds = 0;
};

struct CompareJob {
  api::ObjectKey key;
  std::size_t fabric = 0;
  bool modelled = false;
  std::array<PolicyOutcome, kPolicies> by_policy;  // by Policy
};

// The outcome per job, and sums over the jobs with a model that all four policies placed. Levels
// are added by name, in the order of the first fabric that has them.
struct CompareReport {
  std::vector<CompareJob> jobs;  // input order; jobs without a fabric are left out
  std::array<PolicyOutcome, kPolicies> total;
  std::array<std::size_t, kPolicies> placed{};  // jobs placed
  std::size_t compared = 0;                     // jobs in `total`
};

struct CompareOptions {
  std::uint64_t seed = 1;
};

// Plans the same queue from the same state once per policy, each with its own claims.
// Cost  O(jobs x nodes) per policy.
CompareReport Compare(const cluster::Cluster& cluster, const plan::PlanReport& report,
                      const CompareOptions& options = {});

}  // namespace weft::report
