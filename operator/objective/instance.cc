#include "operator/objective/instance.h"

#include <algorithm>

#include "operator/base/check.h"
#include "operator/base/union_find.h"

namespace weft::objective {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

namespace {

// Atoms of `tier`: workers that are connected by groups whose level is that tier or narrower.
ByWorker<std::uint32_t> AtomsOf(const Request& request, Tier tier, bool soft) {
  UnionFind sets(request.workers);
  bool any = false;
  for (const GroupConstraint& group : request.groups) {
    const bool required = group.required && *group.required >= tier;
    const bool preferred = soft && group.preferred && *group.preferred >= tier;
    if (!required && !preferred) continue;
    any = true;
    for (std::size_t s = 0; s < group.sets.size(); ++s) {
      const auto set = group.sets.set(s);
      for (const WorkerIndex worker : set) sets.Join(set.front().Raw(), worker.Raw());
    }
  }
  if (!any) return {};
  ByWorker<std::uint32_t> atoms(request.workers);
  for (const WorkerIndex w : Range<WorkerIndex>(request.workers)) atoms[w] = sets.Find(w.Raw());
  return atoms;
}

// The size of the largest atom, and whether all atoms have this size.
std::pair<std::uint32_t, bool> AtomSizes(IndexSpan<WorkerIndex, const std::uint32_t> atoms) {
  if (atoms.empty()) return {1, true};
  std::vector<std::uint32_t> size(atoms.size(), 0);
  for (const std::uint32_t atom : atoms) ++size[atom];
  std::uint32_t largest = 0, smallest = static_cast<std::uint32_t>(atoms.size());
  for (std::uint32_t count : size) {
    if (count == 0) continue;
    largest = std::max(largest, count);
    smallest = std::min(smallest, count);
  }
  return {largest, largest == smallest};
}

}  // namespace

Instance::Instance(const fabric::Claims& claims, const Request& request,
                   const traffic::WorkerGraph& graph, const Options& options,
                   std::span<const fabric::PoolIndex> pools)
    : claims_(&claims),
      request_(&request),
      graph_(&graph),
      grid_(graph, request.grid),
      limits_(options.limits),
      pair_cost_(claims.fabric(), request.pod.claims_compute_domain) {
  query_ = {.pod = &request.pod,
            .job = request.job,
            .excluded = request.excluded,
            .cap = request.workers,
            .ignore_claims = options.ignore_claims,
            .ignore_health = options.ignore_health,
            .pools = {pools.begin(), pools.end()}};
  RoomTables* const kept = options.rooms;
  const bool is_kept = kept != nullptr && &kept->claims() == &claims;
  rooms_ = is_kept ? kept->Rooms(query_) : std::make_shared<const RoomTable>(claims, query_);
  free_ = is_kept ? kept->Free(options.ignore_claims)
                  : std::make_shared<const FreeTable>(claims, options.ignore_claims);
  WEFT_CHECK(graph.workers() == request.workers);
  WEFT_CHECK(slots().size() == fabric().node_count());
  BuildAtoms();
  BuildPreferredSets();
  if (has_groups_) BuildCapacity();
  BuildPrevious();
}

void Instance::BuildPrevious() {
  previous_ = request_->previous_nodes.Items();
  std::erase_if(previous_, [&](NodeIndex n) { return n >= slots().EndIndex(); });
  std::sort(previous_.begin(), previous_.end());
  previous_.erase(std::unique(previous_.begin(), previous_.end()), previous_.end());
}

void Instance::BuildAtoms() {
  const Tier tiers = node_tier() + 1;
  hard_atoms_.resize(tiers);
  soft_atoms_.resize(tiers);
  unit_.assign(tiers, 1);
  for (const GroupConstraint& group : request_->groups) {
    has_groups_ = has_groups_ || group.required || group.preferred;
  }
  if (!has_groups_) return;
  for (Tier t{1}; t < tiers; ++t) {
    hard_atoms_[t] = AtomsOf(*request_, t, false);
    soft_atoms_[t] = AtomsOf(*request_, t, true);
    const auto [largest, uniform] = AtomSizes(hard_atoms_[t]);
    unit_[t] = largest;
    WEFT_CHECK(largest > 0 && largest <= request_->workers);  // capacities are multiples of it
    uniform_atoms_ = uniform_atoms_ && uniform;
  }
  if (!uniform_atoms_) std::fill(unit_.begin(), unit_.end(), 1U);
}

void Instance::BuildPreferredSets() {
  std::size_t preferring = 0;
  for (const GroupConstraint& group : request_->groups) {
    if (!group.preferred) continue;
    ++preferring;
    for (std::size_t s = 0; s < group.sets.size(); ++s) {
      preferred_sets_.push_back({*group.preferred, group.sets.set(s)});
    }
  }
  if (preferring < 2) return;  // the sets of one group are distinct
  const auto compare = [](const PreferredSet& a, const PreferredSet& b) {
    return std::lexicographical_compare_three_way(a.workers.begin(), a.workers.end(),
                                                  b.workers.begin(), b.workers.end());
  };
  std::stable_sort(preferred_sets_.begin(), preferred_sets_.end(),
                   [&](const auto& a, const auto& b) {
                     const auto order = compare(a, b);
                     return order != 0 ? order < 0 : a.tier > b.tier;
                   });
  const auto same = [&](const auto& a, const auto& b) { return compare(a, b) == 0; };
  preferred_sets_.erase(std::unique(preferred_sets_.begin(), preferred_sets_.end(), same),
                        preferred_sets_.end());
}

// Domains are runs in tree order, so a domain with the first and the last node has all nodes
// between them.
Tier Instance::HullOf(std::span<const WorkerIndex> workers, Nodes nodes) const {
  NodeIndex least = kUnplaced, most{0};
  for (const WorkerIndex worker : workers) {
    if (nodes[worker] == kUnplaced) continue;
    least = std::min(least, nodes[worker]);
    most = std::max(most, nodes[worker]);
  }
  return least == kUnplaced ? node_tier() : fabric().SharedTier(least, most);
}

Tier Instance::HullOfAll(Nodes nodes) const {
  NodeIndex least = kUnplaced, most{0};
  for (NodeIndex node : nodes) {
    if (node == kUnplaced) continue;
    least = std::min(least, node);
    most = std::max(most, node);
  }
  return least == kUnplaced ? node_tier() : fabric().SharedTier(least, most);
}

void Instance::BuildCapacity() {
  const Tier last = node_tier();
  capacity_.resize(last + 1);
  for (Tier t = last + 1; t-- > Tier{0};) {
    const fabric::TierDomains& domains = fabric().domains(t);
    for (DomainIndex d{0}; d < domains.EndIndex(); ++d) {
      std::uint64_t sum = t == last ? slots()[AsNode(d)] : 0;
      if (t != last) {
        for (DomainIndex c = domains.child_begin[d]; c < domains.child_begin[d + 1]; ++c) {
          sum += capacity_[t + 1][c];
        }
      }
      capacity_[t].push_back(sum - sum % unit_[t]);
    }
  }
}

}  // namespace weft::objective
