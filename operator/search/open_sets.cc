#include "operator/search/open_sets.h"

#include <algorithm>
#include <numeric>

#include "operator/base/check.h"

namespace weft::search {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using objective::kUnplaced;
using objective::Nodes;

namespace {

constexpr OpenIndex kFixed{~0U};

}  // namespace

OpenSets::OpenSets(const objective::Instance& instance, Nodes nodes)
    : instance_(&instance), preferred_(instance.request().preferred) {
  WEFT_CHECK(nodes.size() == instance.workers());
  FindOpen(nodes);
  const objective::Request& request = instance.request();
  if (request.required) {
    std::vector<WorkerIndex> all(nodes.size());
    std::iota(all.begin(), all.end(), WorkerIndex{0});
    Require(*request.required, all, nodes);
  }
  for (const objective::GroupConstraint& group : request.groups) {
    if (!group.required) continue;
    for (std::size_t s = 0; s < group.sets.size(); ++s) {
      Require(*group.required, group.sets.set(s), nodes);
    }
  }
  BuildPreferring(nodes);
}

void OpenSets::FindOpen(Nodes nodes) {
  open_of_.assign(nodes.size(), kFixed);
  for (const WorkerIndex w : nodes.Indices()) {
    if (nodes[w] != kUnplaced) {
      all_fixed_.Add(nodes[w]);
      continue;
    }
    open_of_[w] = OpenIndex::Of(workers_.size());
    workers_.push_back(w);
  }
  const NodeRun everywhere{NodeIndex{0}, NodeIndex(instance_->fabric().node_count())};
  allowed_.assign(workers_.size(), everywhere);
  joints_of_.resize(workers_.size());
}

OpenSets::Hull OpenSets::Split(std::span<const WorkerIndex> set, Nodes nodes,
                               std::vector<OpenIndex>& members) const {
  Hull fixed;
  for (const WorkerIndex w : set) {
    if (open_of_[w] == kFixed) {
      fixed.Add(nodes[w]);
    } else {
      members.push_back(open_of_[w]);
    }
  }
  return fixed;
}

void OpenSets::Require(Tier tier, std::span<const WorkerIndex> set, Nodes nodes) {
  std::vector<OpenIndex> members;
  const Hull fixed = Split(set, nodes, members);
  if (fixed.empty()) {
    if (members.size() < 2) return;
    for (const OpenIndex open : members) {
      joints_of_[open].push_back(static_cast<std::uint32_t>(joints_.size()));
    }
    joints_.push_back({tier, std::move(members)});
    return;
  }
  // A set without an open worker stays as it is, even where labels have changed since.
  if (members.empty()) return;
  if (instance_->fabric().SharedTier(fixed.least, fixed.most) < tier) {
    feasible_ = false;
    return;
  }
  const fabric::TierDomains& domains = instance_->fabric().domains(tier);
  const DomainIndex home = domains.of_node[fixed.least];
  for (const OpenIndex open : members) {
    NodeRun& run = allowed_[open];
    run.begin = std::max(run.begin, domains.begin[home]);
    run.end = std::min(run.end, domains.begin[home + 1]);
    feasible_ = feasible_ && !run.empty();
  }
}

void OpenSets::BuildPreferring(Nodes nodes) {
  for (const objective::Instance::PreferredSet& set : instance_->preferred_sets()) {
    Preferring preferring;
    preferring.tier = set.tier;
    preferring.fixed = Split(set.workers, nodes, preferring.members);
    const Hull& fixed = preferring.fixed;
    if (!fixed.empty() &&
        instance_->fabric().SharedTier(fixed.least, fixed.most) < preferring.tier) {
      ++missed_;
    } else if (!preferring.members.empty()) {
      preferring_.push_back(std::move(preferring));
    }
  }
}

objective::Preferences OpenSets::Prefer(const ByOpen<NodeIndex>& nodes) const {
  objective::Preferences values{};
  const fabric::Fabric& fabric = instance_->fabric();
  if (preferred_) {
    Hull all = all_fixed_;
    for (const NodeIndex n : nodes) {
      if (n != kUnplaced) all.Add(n);
    }
    const Tier shared = all.empty() ? fabric.node_tier() : fabric.SharedTier(all.least, all.most);
    values[objective::kLevelsWider] = shared < *preferred_ ? *preferred_ - shared : 0;
  }
  std::uint32_t missed = missed_;
  for (const Preferring& set : preferring_) {
    Hull hull = set.fixed;
    for (const OpenIndex open : set.members) {
      if (nodes[open] != kUnplaced) hull.Add(nodes[open]);
    }
    missed += !hull.empty() && fabric.SharedTier(hull.least, hull.most) < set.tier ? 1 : 0;
  }
  values[objective::kGroupsMissed] = missed;
  return values;
}

}  // namespace weft::search
