#include "operator/simulate/policy.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "operator/placement/fits.h"
#include "operator/placement/place.h"
#include "operator/plan/reservation.h"
#include "operator/report/baselines.h"
#include "operator/rules/node_filter.h"

namespace weft::simulate {
namespace {

using Slots = fabric::ByNode<std::uint32_t>;

struct PolicyRow {
  std::string_view name;  // as users write it
  std::string_view hint;  // behind the name in the help; "": none
  // The nodes of the workers; empty if the job does not fit. Null: the solver chooses.
  report::Nodes (*choose)(const fabric::Fabric& fabric, const Slots& slots, std::uint32_t workers,
                          SplitMix64& random);
  // Whether a job always fits where enough slots are free; else only `choose` knows.
  bool takes_any_slots = true;
};

template <report::Nodes (*choose)(const fabric::Fabric&, const Slots&, std::uint32_t)>
report::Nodes By(const fabric::Fabric& fabric, const Slots& slots, std::uint32_t workers,
                 SplitMix64&) {
  return choose(fabric, slots, workers);
}

report::Nodes ByChance(const fabric::Fabric&, const Slots& slots, std::uint32_t workers,
                       SplitMix64& random) {
  return report::RandomFit(slots, workers, random);
}

// To add a policy, add its row here and its function in report/baselines.h. weft stays the first.
constexpr auto kPolicies = std::to_array<PolicyRow>({
    {"weft", "", nullptr},
    {"first-fit", "by name", By<report::FirstFit>},
    {"random", "", ByChance},
    {"pack", "the fullest nodes", By<report::PackNodes>},
    {"fewest-domains", "Kueue, Koordinator", By<report::FewestDomains>},
    {"tightest-domain", "kube-scheduler", By<report::TightestDomain>},
    {"slurm-block", "", By<report::BlockSegments>, /*takes_any_slots=*/false},
});
static_assert(kPolicies[static_cast<std::size_t>(Policy::kWeft)].choose == nullptr);

const PolicyRow& RowOf(Policy policy) { return kPolicies[static_cast<std::size_t>(policy)]; }

Slots SlotsOf(const fabric::Claims& claims, const objective::Request& request, bool empty) {
  rules::SlotQuery query;
  query.pod = &request.pod;
  query.job = request.job;
  query.excluded = request.excluded;
  query.cap = request.workers;
  query.ignore_claims = empty;
  Slots slots;
  rules::CountSlots(claims, query, slots);
  return slots;
}

}  // namespace

std::span<const Policy> AllPolicies() {
  static constexpr auto kAll = [] {
    std::array<Policy, kPolicies.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Policy>(i);
    return all;
  }();
  return kAll;
}

std::string_view PolicyName(Policy policy) { return RowOf(policy).name; }

std::string PolicyList() {
  std::string text;
  for (const PolicyRow& row : kPolicies) {
    text += (text.empty() ? "" : ", ") + std::string(row.name);
    if (!row.hint.empty()) text += " (" + std::string(row.hint) + ")";
  }
  return text;
}

std::optional<Policy> FindPolicy(std::string_view name) {
  for (const Policy policy : AllPolicies()) {
    if (PolicyName(policy) == name) return policy;
  }
  return std::nullopt;
}

std::optional<ByWorker<fabric::NodeIndex>> Placer::Place(const fabric::Claims& claims,
                                                         const objective::Request& request,
                                                         const traffic::WorkerGraph& graph,
                                                         bool empty) {
  const auto choose = RowOf(policy_).choose;
  if (choose == nullptr) {
    objective::Options options;
    options.ignore_claims = empty;
    auto plan = placement::Solve(claims, request, graph, options);
    if (!plan) return std::nullopt;
    return std::move(plan->nodes);
  }
  report::Nodes nodes =
      choose(claims.fabric(), SlotsOf(claims, request, empty), request.workers, random_);
  if (nodes.empty()) return std::nullopt;
  return nodes;
}

std::optional<ByWorker<fabric::NodeIndex>> Placer::Reserve(const fabric::Claims& claims,
                                                           const objective::Request& request,
                                                           const traffic::WorkerGraph& graph,
                                                           bool empty) {
  if (RowOf(policy_).choose != nullptr) return Place(claims, request, graph, empty);
  auto plan = placement::Solve(claims, request, graph, plan::ReservationOptions(empty));
  if (!plan) return std::nullopt;
  return std::move(plan->nodes);
}

bool Placer::Fits(const fabric::Claims& claims, const objective::Request& request,
                  const traffic::WorkerGraph& graph) const {
  const PolicyRow& row = RowOf(policy_);
  if (row.choose == nullptr) return placement::Fits(claims, request, graph);
  const Slots slots = SlotsOf(claims, request, false);
  if (row.takes_any_slots) {
    return std::accumulate(slots.begin(), slots.end(), std::uint64_t{0}) >= request.workers;
  }
  SplitMix64 random = random_;
  return !row.choose(claims.fabric(), slots, request.workers, random).empty();
}

}  // namespace weft::simulate
