#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/objective/levels.h"
#include "operator/placement/relax.h"
#include "operator/plan/plan_report.h"
#include "operator/report/blast_radius.h"
#include "operator/report/cost_shares.h"

namespace weft::report {

struct RunnerUpText {
  std::vector<std::string> nodes;  // index = worker
  Int128 cost = 0;
  std::optional<std::int64_t> cost_percent;  // of the chosen cost, rounded up; absent if that is 0
  std::string spans;                         // "1 spine, 3 leaf, 8 node"
  std::string why_not;  // "costs 14 % more", "breaks up one more wholly free leaf", ...
};

// One domain of the level that a refusal names.
struct DomainAnswer {
  std::string domain;
  std::uint64_t nodes = 0;
  std::uint64_t slots = 0;   // workers that fit now
  std::uint64_t wanted = 0;  // workers that must fit in one such domain
  std::string sentence;  // "leaf-3: 5 of 8 workers fit; 12 of 16 nodes lack nvidia.com/gpu, ..."
};

struct Explanation {
  std::size_t entry = 0;  // into PlanReport::entries
  // If placed: why on these nodes.
  std::vector<CostShare> cost;  // by axis, then level widest first
  Int128 total_cost = 0;
  Int128 lower_bound = 0;
  std::optional<std::int64_t> over_lower_bound_percent;
  bool exact = false;
  std::optional<RunnerUpText> runner_up;
  std::vector<std::string> why_here;  // sentences
  std::vector<BlastRadius> blast;     // of a job that has its nodes already
  // If refused: why.
  std::string level;                  // the level of `domains`
  std::vector<DomainAnswer> domains;  // most slots first
  std::vector<placement::Relaxation> relaxations;
};

// Whether an entry of the plan has that name.
bool IsInPlan(const plan::PlanReport& report, const std::string& name);

// Explains the entries of a plan; `names` selects some ("ns/name" or "name"), empty means all.
// Errors  kInvalid for a name that no entry has.
Result<std::vector<Explanation>> Explain(const cluster::Cluster& cluster,
                                         const plan::PlanReport& report,
                                         const std::vector<std::string>& names);

nlohmann::ordered_json ExplainJson(const cluster::Cluster& cluster, const plan::PlanReport& report,
                                   const std::vector<Explanation>& explanations);

// Why a placement is good or not: whether it meets topology.required, then each level of the
// objective (objective::Describe), then where it is in the torus.
std::vector<std::string> WhyHereText(const objective::Instance& instance,
                                     const objective::Candidate& chosen);

}  // namespace weft::report
