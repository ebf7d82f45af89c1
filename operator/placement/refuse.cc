#include "operator/placement/refuse.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "operator/placement/search.h"

namespace weft::placement {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

// Nodes that have not one slot, by why.
void CountRejections(const Instance& instance, Unplaceable& no) {
  std::map<std::pair<Rejection, std::string>, std::uint32_t> count;
  for (NodeIndex n = 0; n < instance.slots().size(); ++n) {
    if (instance.slots()[n] > 0) continue;
    const Verdict verdict = Judge(instance.claims(), instance.query(), n);
    std::string detail =
        verdict.rejection == Rejection::kResource ? verdict.resource_name : verdict.detail;
    ++count[{verdict.rejection, std::move(detail)}];
  }
  for (const auto& [why, nodes] : count) no.rejections.push_back({why.first, why.second, nodes});
  std::stable_sort(no.rejections.begin(), no.rejections.end(),
                   [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
}

// The resource that keeps most nodes out, and how much of it the missing workers would need.
void NameShortResource(const Instance& instance, Unplaceable& no) {
  const auto& requests = instance.request().pod.requests;
  for (const auto& rejection : no.rejections) {
    if (rejection.rejection != Rejection::kResource) continue;
    no.short_resource = rejection.detail;
    break;
  }
  if (no.short_resource.empty()) {
    for (const auto& [name, amount] : requests) {
      if (fabric::IsAcceleratorResource(name) && amount > 0) no.short_resource = name;
    }
  }
  const auto wanted = requests.find(no.short_resource);
  const std::int64_t each = wanted == requests.end() ? 1 : wanted->second;
  no.short_amount =
      SaturatingMultiply(std::max<std::int64_t>(0, no.wanted_workers - no.found_workers), each);
}

// The domain of `tier` with the most slots.
void NameBestDomain(const Instance& instance, Tier tier, Unplaceable& no) {
  const fabric::TierDomains& domains = instance.fabric().domains(tier);
  DomainIndex best = 0;
  for (DomainIndex d = 1; d < domains.size(); ++d) {
    if (instance.SlotsIn(tier, d) > instance.SlotsIn(tier, best)) best = d;
  }
  if (domains.size() == 0) return;
  no.found_workers = static_cast<std::int64_t>(std::min<std::uint64_t>(
      instance.SlotsIn(tier, best), static_cast<std::uint64_t>(Bytes::kMax)));
  no.best_domain = tier == instance.node_tier() ? instance.fabric().node(best).name
                   : tier == fabric::kOutside   ? ""
                                                : domains.names[best];
}

bool AnyEligible(const Instance& instance) {
  SlotQuery query = instance.query();
  for (NodeIndex n = 0; n < instance.slots().size(); ++n) {
    if (PassesStaticFilters(instance.fabric(), query, n, nullptr)) return true;
  }
  return false;
}

// Which group's rule has no room: the first whose largest atom fits in no domain often enough.
std::optional<std::size_t> FailingGroup(const Instance& instance) {
  const Request& request = instance.request();
  for (std::size_t g = 0; g < request.groups.size(); ++g) {
    if (!request.groups[g].required) continue;
    const Tier tier = *request.groups[g].required;
    std::uint64_t room = 0;
    for (DomainIndex d = 0; d < instance.fabric().domains(tier).size(); ++d) {
      room += instance.capacity(tier, d);
    }
    if (room < instance.workers()) return g;
  }
  for (std::size_t g = request.groups.size(); g-- > 0;) {
    if (request.groups[g].required) return g;
  }
  return std::nullopt;
}

void NameRule(const Instance& instance, Unplaceable& no) {
  const Request& request = instance.request();
  no.wanted_workers = request.workers;
  if (instance.fabric().node_count() == 0) {
    no.reason = Reason::kNoCompleteNode;
    return;
  }
  if (instance.TotalSlots() < request.workers) {
    no.reason = AnyEligible(instance) ? Reason::kInsufficientCapacity : Reason::kNoEligibleNode;
    NameBestDomain(instance, fabric::kOutside, no);
    return;
  }
  const Tier required = request.required.value_or(fabric::kOutside);
  NameBestDomain(instance, required, no);
  no.tier = required;
  if (no.found_workers < no.wanted_workers) {
    no.reason = Reason::kRequiredLevel;
    return;
  }
  no.group = FailingGroup(instance);
  if (!no.group) {
    no.reason = Reason::kSearchExhausted;
    return;
  }
  no.reason = Reason::kRequiredGroup;
  no.tier = *request.groups[*no.group].required;
  NameBestDomain(instance, no.tier, no);
  std::uint64_t room = 0;
  for (DomainIndex d = 0; d < instance.fabric().domains(no.tier).size(); ++d) {
    room += instance.capacity(no.tier, d);
  }
  no.found_workers = static_cast<std::int64_t>(std::min<std::uint64_t>(room, request.workers));
}

}  // namespace

Unplaceable Refuse(const Instance& instance, const Options& options) {
  Unplaceable no;
  NameRule(instance, no);
  CountRejections(instance, no);
  NameShortResource(instance, no);
  if (options.ignore_claims) {
    no.ever = false;
    return no;
  }
  Options empty = options;
  empty.ignore_claims = true;
  const Instance alone(instance.claims(), instance.request(), instance.graph(), empty);
  no.ever = alone.TotalSlots() >= alone.workers() && !GreedyCandidates(alone).empty();
  return no;
}

std::string_view ReasonName(Reason reason) {
  switch (reason) {
    case Reason::kNoCompleteNode:
      return "NoCompleteNode";
    case Reason::kNoEligibleNode:
      return "NoEligibleNode";
    case Reason::kInsufficientCapacity:
      return "InsufficientCapacity";
    case Reason::kRequiredLevel:
      return "RequiredLevel";
    case Reason::kRequiredGroup:
      return "RequiredGroup";
    case Reason::kSearchExhausted:
      return "SearchExhausted";
  }
  return "";
}

}  // namespace weft::placement
