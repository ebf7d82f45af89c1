#include "tests/bench/anneal_groups.h"

namespace weft::quality {

Groups::Groups(const objective::Instance& instance, objective::Nodes nodes) : instance_(instance) {
  of_worker_.resize(instance.workers());
  for (const objective::GroupConstraint& group : instance.request().groups) {
    for (std::size_t s = 0; s < group.sets.size(); ++s) {
      const auto workers = group.sets.set(s);
      for (const WorkerIndex worker : workers) {
        of_worker_[worker].push_back(static_cast<std::uint32_t>(sets_.size()));
      }
      sets_.push_back(
          {.workers = workers, .required = group.required, .preferred = group.preferred});
      Look(sets_.back(), nodes);
    }
  }
}

std::optional<std::int64_t> Groups::Change(std::span<const WorkerIndex> moved,
                                           objective::Nodes nodes) {
  std::int64_t change = 0;
  ++changes_;
  changed_.clear();
  for (const WorkerIndex worker : moved) {
    for (const std::uint32_t s : of_worker_[worker]) {
      if (sets_[s].seen == changes_) continue;
      sets_[s].seen = changes_;
      Set now = sets_[s];
      if (!Look(now, nodes)) return std::nullopt;
      if (now.missed == sets_[s].missed) continue;
      change += now.missed ? 1 : -1;
      changed_.push_back(s);
    }
  }
  return change;
}

void Groups::Keep() {
  for (const std::uint32_t s : changed_) sets_[s].missed = !sets_[s].missed;
}

bool Groups::Look(Set& set, objective::Nodes nodes) const {
  const fabric::Tier hull = instance_.HullOf(set.workers, nodes);
  set.missed = set.preferred && hull < *set.preferred;
  return !set.required || hull >= *set.required;
}

}  // namespace weft::quality
