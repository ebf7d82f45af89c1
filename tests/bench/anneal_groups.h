#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "operator/objective/instance.h"

namespace weft::quality {

// The sets of workers that the job's groups keep, or should keep, in one domain, and which of them
// miss their preferred level, while an annealing (anneal.h) moves workers.
//
// Cost  Change O(workers of all sets with a moved worker).
class Groups {
 public:
  Groups(const objective::Instance& instance, objective::Nodes nodes);

  bool any() const { return !sets_.empty(); }
  // How many more sets miss their preferred level now that the workers were moved to `nodes`;
  // nothing if a set has left its required level.
  std::optional<std::int64_t> Change(std::span<const WorkerIndex> moved, objective::Nodes nodes);
  // Keeps what the last Change found; without it, the move counts as undone.
  void Keep();

 private:
  struct Set {
    std::span<const WorkerIndex> workers;
    std::optional<fabric::Tier> required, preferred;
    bool missed = false;
    std::uint64_t seen = 0;  // the last Change that looked at it
  };

  // Sets `missed`; false if the required level is left.
  bool Look(Set& set, objective::Nodes nodes) const;

  const objective::Instance& instance_;
  std::vector<Set> sets_;
  ByWorker<std::vector<std::uint32_t>> of_worker_;
  std::vector<std::uint32_t> changed_;
  std::uint64_t changes_ = 0;
};

}  // namespace weft::quality
