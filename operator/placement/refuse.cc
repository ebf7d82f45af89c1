#include "operator/placement/refuse.h"

#include <algorithm>
#include <numeric>

#include "operator/base/check.h"
#include "operator/base/union_find.h"
#include "operator/objective/instance.h"
#include "operator/objective/levels.h"
#include "operator/placement/pool_sets.h"
#include "operator/rules/between_pods.h"
#include "operator/rules/keep_workers.h"
#include "operator/rules/node_filter.h"
#include "operator/rules/node_judge.h"
#include "operator/rules/node_rules.h"
#include "operator/rules/worker_rules.h"
#include "operator/search/search.h"

namespace weft::placement {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using objective::Instance;
using objective::Options;
using objective::Request;
using rules::Rejection;

namespace {

// Domains in which rules between workers are looked at by themselves, before nobody knows.
constexpr std::size_t kMostDomains = 64;

// The resource that bounds the number of workers on most nodes that take some, accelerators first;
// "" if none takes any.
std::string BindingResource(const Instance& instance) {
  const fabric::Fabric& fabric = instance.fabric();
  const std::vector<rules::Want> wants = rules::ResolveWants(fabric, instance.request().pod).list;
  std::vector<std::uint32_t> nodes(wants.size(), 0);
  for (const NodeIndex n : instance.slots().Indices()) {
    if (instance.slots()[n] == 0) continue;
    for (std::size_t w = 0; w < wants.size(); ++w) {
      const std::int64_t free = instance.query().ignore_claims
                                    ? fabric.capacity(n, wants[w].resource)
                                    : instance.claims().free(n, wants[w].resource);
      if (free / wants[w].amount <= std::int64_t{instance.slots()[n]}) ++nodes[w];
    }
  }
  const auto most = std::max_element(nodes.begin(), nodes.end());
  if (most == nodes.end() || *most == 0) return "";
  return fabric.resources()[wants[static_cast<std::size_t>(most - nodes.begin())].resource];
}

// Names the resource that most nodes lack, and how much of it the missing workers would need.
void NameShortResource(const Instance& instance, Unplaceable& no) {
  const auto& requests = instance.request().pod.requests;
  const bool power = std::any_of(
      no.rejections.begin(), no.rejections.end(),
      [](const rules::RejectionCount& count) { return count.rejection == Rejection::kPower; });
  if (power) return;
  for (const auto& rejection : no.rejections) {
    if (rejection.rejection != Rejection::kResource) continue;
    no.short_resource = rejection.detail;
    break;
  }
  if (no.short_resource.empty()) no.short_resource = BindingResource(instance);
  if (no.short_resource.empty()) {
    for (const auto& [name, amount] : requests) {
      const auto resource = instance.fabric().FindResource(name);
      const bool accelerator = resource ? instance.fabric().IsAccelerator(*resource)
                                        : fabric::IsAcceleratorResource(name);
      if (accelerator && amount > 0) no.short_resource = name;
    }
  }
  const auto wanted = requests.find(no.short_resource);
  const std::int64_t each = wanted == requests.end() ? 1 : wanted->second;
  no.short_amount =
      SaturatingMultiply(std::max<std::int64_t>(0, no.wanted_workers - no.found_workers), each);
}

// Names the rule between the workers, if the nodes by themselves have room for all of them; else
// the resource.
void NameShortage(const Instance& instance, Unplaceable& no) {
  fabric::ByNode<std::uint32_t> alone;
  rules::CountSlotsByNode(instance.claims(), instance.query(), alone);
  const std::uint64_t room = std::accumulate(alone.begin(), alone.end(), std::uint64_t{0});
  if (room >= instance.workers()) no.apart = rules::BetweenWorkersText(instance.query());
  if (no.apart.empty()) NameShortResource(instance, no);
}

std::int64_t Count(std::uint64_t workers) {
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(workers, static_cast<std::uint64_t>(kSaturated)));
}

// Names the domain of the rule's tier with the most slots.
void NameBestDomain(const Instance& instance, Unplaceable& no) {
  const fabric::TierDomains& domains = instance.fabric().domains(no.tier);
  DomainIndex best{0};
  for (DomainIndex d{1}; d < domains.EndIndex(); ++d) {
    if (instance.SlotsIn(no.tier, d) > instance.SlotsIn(no.tier, best)) best = d;
  }
  no.best_domain_workers = Count(instance.SlotsIn(no.tier, best));
  no.best_domain = no.tier == instance.node_tier() ? instance.fabric().node(AsNode(best)).name
                   : no.tier == fabric::kOutside   ? ""
                                                   : domains.names[best];
}

// Whether a node would take a worker if it had room.
bool AnyEligible(const Instance& instance, const Unplaceable& no) {
  std::uint64_t rejected = 0;
  for (const rules::RejectionCount& count : no.rejections) {
    if (count.rejection == Rejection::kResource) return true;
    if (count.rejection == Rejection::kComputeDomain) return true;
    if (count.rejection == Rejection::kHostPort) return true;
    if (count.rejection == Rejection::kPodAffinity) return true;
    if (count.rejection == Rejection::kPower) return true;
    rejected += count.nodes;
  }
  return rejected < instance.slots().size();
}

// What one group with `required` needs, ignoring the other groups.
struct GroupNeed {
  Tier tier{0};
  std::uint32_t smallest = 0, largest = 0;  // of a set; sets that share workers are one set
};

GroupNeed NeedOf(const Request& request, const objective::GroupConstraint& group) {
  UnionFind sets(request.workers);
  for (std::size_t s = 0; s < group.sets.size(); ++s) {
    for (const WorkerIndex worker : group.sets.set(s)) {
      sets.Join(group.sets.set(s).front().Raw(), worker.Raw());
    }
  }
  std::vector<std::uint32_t> size(request.workers, 0);
  for (const WorkerIndex w : Range<WorkerIndex>(request.workers)) ++size[sets.Find(w.Raw())];
  GroupNeed need{*group.required, request.workers, 0};
  for (std::uint32_t count : size) {
    if (count == 0) continue;
    need.smallest = std::min(need.smallest, count);
    need.largest = std::max(need.largest, count);
  }
  return need;
}

// Workers that fit in the domain in whole sets; an upper bound if sets differ in size.
std::uint64_t RoomFor(const GroupNeed& need, std::uint64_t slots) {
  WEFT_CHECK(need.smallest > 0 && need.smallest <= need.largest);
  if (need.smallest == need.largest) return slots / need.largest * need.largest;
  return slots < need.smallest ? 0 : slots;
}

// The largest number of workers that fits in one domain of `required`.
template <typename Room>
std::uint64_t RoomInside(const Instance& instance, Tier required, Tier tier, Room room_of) {
  const fabric::TierDomains& outer = instance.fabric().domains(required);
  const fabric::ByNode<DomainIndex>& of_node = instance.fabric().domains(tier).of_node;
  std::uint64_t most = 0;
  for (DomainIndex o{0}; o < outer.EndIndex(); ++o) {
    WEFT_CHECK(outer.begin[o] < outer.begin[o + 1]);  // no domain is without nodes
    const DomainIndex last = of_node[outer.begin[o + 1] - 1];
    std::uint64_t room = 0;
    for (DomainIndex d = of_node[outer.begin[o]]; d <= last; ++d) room += room_of(d);
    most = std::max(most, room);
  }
  return most;
}

// Whether the group's rule cannot be met, even if it were the only group; if so, names it.
bool FailsAlone(const Instance& instance, std::size_t g, Unplaceable& no) {
  const Request& request = instance.request();
  const GroupNeed need = NeedOf(request, request.groups[g]);
  const Tier required = std::min(request.required.value_or(fabric::kOutside), need.tier);
  std::uint64_t roomiest = 0;
  const std::uint64_t room = RoomInside(instance, required, need.tier, [&](DomainIndex d) {
    roomiest = std::max(roomiest, instance.SlotsIn(need.tier, d));
    return RoomFor(need, instance.SlotsIn(need.tier, d));
  });
  if (room >= request.workers && roomiest >= need.largest) return false;
  no.group = g;
  no.group_workers = need.largest;
  no.tier = need.tier;
  no.found_workers = Count(std::min<std::uint64_t>(room, request.workers));
  return true;
}

// Names the group that fails alone, narrowest level first. Otherwise, if the whole sets of all
// groups together are proven not to fit, no single group is named.
void NameGroups(const Instance& instance, Unplaceable& no) {
  const Request& request = instance.request();
  std::vector<std::size_t> groups;
  for (std::size_t g = 0; g < request.groups.size(); ++g) {
    if (request.groups[g].required) groups.push_back(g);
  }
  std::stable_sort(groups.begin(), groups.end(), [&](std::size_t a, std::size_t b) {
    return *request.groups[a].required > *request.groups[b].required;
  });
  no.reason = Reason::kRequiredGroup;
  for (std::size_t g : groups) {
    if (FailsAlone(instance, g, no)) return;
  }
  const std::uint64_t together = RoomInside(
      instance, no.tier, no.tier, [&](DomainIndex d) { return instance.capacity(no.tier, d); });
  no.found_workers = Count(std::min<std::uint64_t>(together, request.workers));
  if (together >= request.workers) no.reason = Reason::kSearchExhausted;
}

void NameRule(const Instance& instance, Unplaceable& no) {
  const Request& request = instance.request();
  no.wanted_workers = request.workers;
  if (instance.fabric().node_count() == 0) {
    no.reason = Reason::kNoCompleteNode;
    return;
  }
  if (instance.TotalSlots() < request.workers) {
    no.reason = AnyEligible(instance, no) ? Reason::kInsufficientCapacity : Reason::kNoEligibleNode;
    no.found_workers = Count(instance.TotalSlots());
    return;
  }
  no.tier = request.required.value_or(fabric::kOutside);
  NameBestDomain(instance, no);
  no.found_workers = no.best_domain_workers;
  if (no.found_workers < no.wanted_workers) {
    no.reason = Reason::kRequiredLevel;
    return;
  }
  NameGroups(instance, no);
  NameBestDomain(instance, no);
}

// The refusal on this instance: the rule that fails first, the domain that comes nearest, and what
// is missing.
Unplaceable RefuseOn(const Instance& instance) {
  Unplaceable no;
  no.rejections = rules::NodeJudge(instance.claims(), instance.query()).CountAll();
  NameRule(instance, no);
  const bool short_of =
      no.reason == Reason::kInsufficientCapacity || no.reason == Reason::kRequiredLevel;
  if (short_of) NameShortage(instance, no);
  return no;
}

bool HasRoom(const Instance& instance) {
  return instance.TotalSlots() >= instance.workers() &&
         !search::GreedyCandidates(instance, [](const objective::Candidate&) {
            return search::Standing::kEnough;
          }).empty();
}

// Whether the job would fit on the empty fabric, as far as its rules between workers are known.
bool FindsRoomAlone(const fabric::Claims& claims, const Request& request,
                    const traffic::WorkerGraph& graph, Options options) {
  options.ignore_claims = true;
  if (!request.pool_choices) return HasRoom(Instance(claims, request, graph, options));
  const RoomByPool room = CountRoom(claims, request, options);
  for (const objective::PoolChoice& choice : *request.pool_choices) {
    for (const auto& pools : PoolSetsOf(claims.fabric(), request, choice, room).sets) {
      if (HasRoom(Instance(claims, request, graph, options, pools))) return true;
    }
  }
  return false;
}

enum class Kept { kNever, kFound, kUnknown };

// Whether the workers can keep the rules between them in these slots.
Kept KeepRules(const rules::WorkerRules& between, const fabric::ByNode<std::uint32_t>& slots,
               std::uint32_t workers) {
  bool gave_up = false;
  if (rules::FindWorkers(between, slots, workers, &gave_up)) return Kept::kFound;
  return gave_up ? Kept::kUnknown : Kept::kNever;
}

// The domains with enough slots for all workers.
std::vector<DomainIndex> RoomyDomains(const fabric::TierDomains& domains,
                                      const fabric::ByNode<std::uint32_t>& slots,
                                      std::uint32_t workers) {
  std::vector<DomainIndex> roomy;
  for (const DomainIndex d : Range<DomainIndex>(domains.size())) {
    std::uint64_t all = 0;
    for (NodeIndex n = domains.begin[d]; n < domains.begin[d + 1]; ++n) all += slots[n];
    if (all >= workers) roomy.push_back(d);
  }
  return roomy;
}

// Whether the workers might keep the rules inside one of the domains.
bool MayKeepInside(const fabric::TierDomains& domains, const rules::WorkerRules& between,
                   const fabric::ByNode<std::uint32_t>& slots, std::uint32_t workers) {
  const std::vector<DomainIndex> roomy = RoomyDomains(domains, slots, workers);
  if (roomy.size() > kMostDomains) return true;
  fabric::ByNode<std::uint32_t> inside(slots.size(), 0U);
  for (const DomainIndex d : roomy) {
    const auto nodes = IndexRange<NodeIndex>(domains.begin[d], domains.begin[d + 1]);
    for (const NodeIndex n : nodes) inside[n] = slots[n];
    if (KeepRules(between, inside, workers) != Kept::kNever) return true;
    for (const NodeIndex n : nodes) inside[n] = 0;
  }
  return false;
}

// Whether the workers might keep the rules between them on the empty fabric in a way that no search
// has looked at: another than the one that was found first, where they must also share domains.
bool MayKeepRules(const fabric::Claims& claims, const Request& request,
                  const traffic::WorkerGraph& graph, Options options) {
  if (!request.pod.terms.present()) return false;
  options.ignore_claims = true;
  const Instance instance(claims, request, graph, options);
  fabric::ByNode<std::uint32_t> slots;
  rules::CountSlotsByNode(claims, instance.query(), slots);
  const rules::WorkerRules between = rules::RulesOfWorkers(claims, instance.query(), slots);
  if (between.empty()) return false;
  const Kept kept = KeepRules(between, slots, request.workers);
  if (kept != Kept::kFound) return kept == Kept::kUnknown;
  if (std::any_of(request.groups.begin(), request.groups.end(),
                  [](const auto& group) { return group.required.has_value(); })) {
    return true;
  }
  return request.required &&
         MayKeepInside(claims.fabric().domains(*request.required), between, slots, request.workers);
}

// Whether nobody knows if the job would fit on the empty fabric. "It never fits" is final: Kueue
// gives such a job up.
bool MayFitAlone(const fabric::Claims& claims, const Request& request,
                 const traffic::WorkerGraph& graph, const Options& options) {
  if (!MayKeepRules(claims, request, graph, options)) return false;
  Request without = request;
  without.pod.terms = {};
  return FindsRoomAlone(claims, without, graph, options);
}

bool FitsAlone(const fabric::Claims& claims, const Request& request,
               const traffic::WorkerGraph& graph, const Options& options) {
  return FindsRoomAlone(claims, request, graph, options) ||
         MayFitAlone(claims, request, graph, options);
}

// Whether a node that may come back is among those that take no worker.
bool MayComeBack(const Unplaceable& no) {
  return std::any_of(
      no.rejections.begin(), no.rejections.end(), [](const rules::RejectionCount& count) {
        return count.rejection == Rejection::kUnusable ||
               count.rejection == Rejection::kUnschedulable ||
               count.rejection == Rejection::kTaint || count.rejection == Rejection::kExcluded ||
               count.rejection == Rejection::kVolume ||  // until its CSI driver has labelled it
               count.rejection == Rejection::kResource;  // until its plug-in offers any
      });
}

// Whether the job would fit on the empty fabric if all nodes that may come back were back.
bool FitsWhenHealthy(const fabric::Claims& claims, Request request,
                     const traffic::WorkerGraph& graph, Options options) {
  request.excluded.clear();
  options.ignore_health = true;
  return FitsAlone(claims, request, graph, options);
}

// Whether nodes that lack labels at the moment could hold what is missing, if each had as much as
// the largest node that is there.
bool MayBeCompleted(const fabric::Fabric& fabric, const Request& request) {
  if (fabric.incomplete().empty()) return false;
  std::uint64_t all = 0, most = 1;
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    std::uint64_t fits = request.workers;
    for (const auto& [name, amount] : request.pod.requests) {
      const auto resource = fabric.FindResource(name);
      const std::int64_t has = resource ? fabric.capacity(n, *resource) : 0;
      if (amount > 0)
        fits = std::min(fits, static_cast<std::uint64_t>(std::max<std::int64_t>(0, has) / amount));
    }
    all += fits;
    most = std::max(most, fits);
  }
  return all < request.workers ? request.workers - all <= most * fabric.incomplete().size() : true;
}

// With one choice of pools, the refusal is that choice's. With several, or with one that keeps to
// one of its pools, it is that of the first with room for all workers; if there is none, all are
// too small.
Unplaceable RefuseChoices(const fabric::Claims& claims, const Request& request,
                          const traffic::WorkerGraph& graph, const Options& options) {
  const std::vector<objective::PoolChoice>& choices = *request.pool_choices;
  const RoomByPool room = CountRoom(claims, request, options);
  std::vector<PoolRoom> rooms = RoomsOf(request, room);
  for (std::size_t c = 0; c < choices.size(); ++c) {
    const bool several = choices.size() > 1 || choices[c].one_pool;
    if (several && rooms[c].workers < request.workers) continue;
    const PoolSets tried = PoolSetsOf(claims.fabric(), request, choices[c], room);
    Unplaceable no = RefuseOn(Instance(claims, request, graph, options, tried.sets.front()));
    if (choices.size() == 1) return no;
    no.choices = std::move(rooms);
    no.choice = c;
    return no;
  }
  Unplaceable no;
  no.wanted_workers = request.workers;
  no.reason =
      claims.fabric().node_count() == 0 ? Reason::kNoCompleteNode : Reason::kNoMatchingProduct;
  if (choices.empty()) return no;
  const Instance all(claims, request, graph, options);
  no.rejections = rules::NodeJudge(claims, all.query()).CountAll();
  no.reason = AnyEligible(all, no) ? Reason::kInsufficientCapacity : Reason::kNoEligibleNode;
  for (const PoolRoom& one : rooms) {
    no.found_workers = std::max(no.found_workers, Count(one.workers));
  }
  NameShortage(all, no);
  no.choices = std::move(rooms);
  return no;
}

}  // namespace

Unplaceable Refuse(const fabric::Claims& claims, const Request& request,
                   const traffic::WorkerGraph& graph, const Options& options) {
  Unplaceable no = request.pool_choices ? RefuseChoices(claims, request, graph, options)
                                        : RefuseOn(Instance(claims, request, graph, options));
  no.ever = options.ignore_claims ? MayFitAlone(claims, request, graph, options)
                                  : FitsAlone(claims, request, graph, options);
  no.ever_when_healthy = no.ever ||
                         (MayComeBack(no) && FitsWhenHealthy(claims, request, graph, options)) ||
                         MayBeCompleted(claims.fabric(), request);
  return no;
}

std::string_view ReasonName(Reason reason) {
  switch (reason) {
    case Reason::kNoCompleteNode:
      return "NoCompleteNode";
    case Reason::kNoMatchingProduct:
      return "NoMatchingProduct";
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
