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

constexpr std::array<std::pair<Policy, std::string_view>, 7> kPolicies{{
    {Policy::kWeft, "weft"},
    {Policy::kFirstFit, "first-fit"},
    {Policy::kRandom, "random"},
    {Policy::kPack, "pack"},
    {Policy::kFewestDomains, "fewest-domains"},
    {Policy::kTightestDomain, "tightest-domain"},
    {Policy::kSlurmBlock, "slurm-block"},
}};

fabric::ByNode<std::uint32_t> SlotsOf(const fabric::Claims& claims,
                                      const objective::Request& request, bool empty) {
  rules::SlotQuery query;
  query.pod = &request.pod;
  query.job = request.job;
  query.excluded = request.excluded;
  query.cap = request.workers;
  query.ignore_claims = empty;
  fabric::ByNode<std::uint32_t> slots;
  rules::CountSlots(claims, query, slots);
  return slots;
}

report::Nodes Choose(Policy policy, const fabric::Fabric& fabric,
                     const fabric::ByNode<std::uint32_t>& slots, std::uint32_t workers,
                     SplitMix64& random) {
  switch (policy) {
    case Policy::kWeft:
      return {};
    case Policy::kFirstFit:
      return report::FirstFit(fabric, slots, workers);
    case Policy::kRandom:
      return report::RandomFit(slots, workers, random);
    case Policy::kPack:
      return report::PackNodes(fabric, slots, workers);
    case Policy::kFewestDomains:
      return report::FewestDomains(fabric, slots, workers);
    case Policy::kTightestDomain:
      return report::TightestDomain(fabric, slots, workers);
    case Policy::kSlurmBlock:
      return report::BlockSegments(fabric, slots, workers);
  }
  return {};
}

}  // namespace

std::span<const Policy> AllPolicies() {
  static constexpr auto kAll = [] {
    std::array<Policy, kPolicies.size()> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = kPolicies[i].first;
    return all;
  }();
  return kAll;
}

std::string_view PolicyName(Policy policy) {
  return kPolicies[static_cast<std::size_t>(policy)].second;
}

std::optional<Policy> FindPolicy(std::string_view name) {
  for (const auto& [policy, text] : kPolicies) {
    if (text == name) return policy;
  }
  return std::nullopt;
}

std::optional<std::vector<fabric::NodeIndex>> Placer::Place(const fabric::Claims& claims,
                                                            const objective::Request& request,
                                                            const traffic::WorkerGraph& graph,
                                                            bool empty) {
  if (policy_ == Policy::kWeft) {
    objective::Options options;
    options.ignore_claims = empty;
    auto plan = placement::Solve(claims, request, graph, options);
    if (!plan) return std::nullopt;
    return std::move(plan->nodes);
  }
  report::Nodes nodes =
      Choose(policy_, claims.fabric(), SlotsOf(claims, request, empty), request.workers, random_);
  if (nodes.empty()) return std::nullopt;
  return nodes;
}

std::optional<std::vector<fabric::NodeIndex>> Placer::Reserve(const fabric::Claims& claims,
                                                              const objective::Request& request,
                                                              const traffic::WorkerGraph& graph,
                                                              bool empty) {
  if (policy_ != Policy::kWeft) return Place(claims, request, graph, empty);
  auto plan = placement::Solve(claims, request, graph, plan::ReservationOptions(empty));
  if (!plan) return std::nullopt;
  return std::move(plan->nodes);
}

bool Placer::Fits(const fabric::Claims& claims, const objective::Request& request,
                  const traffic::WorkerGraph& graph) const {
  if (policy_ == Policy::kWeft) return placement::Fits(claims, request, graph);
  const fabric::ByNode<std::uint32_t> slots = SlotsOf(claims, request, false);
  if (policy_ != Policy::kSlurmBlock) {
    return std::accumulate(slots.begin(), slots.end(), std::uint64_t{0}) >= request.workers;
  }
  return !report::BlockSegments(claims.fabric(), slots, request.workers).empty();
}

}  // namespace weft::simulate
