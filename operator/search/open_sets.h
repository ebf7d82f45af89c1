#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/base/index.h"
#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

namespace weft::search {

// Open workers are those without a node in a partial placement; the others are fixed. Numbered in
// the order of their workers.
using OpenIndex = Index<struct OpenTag>;
template <typename T>
using ByOpen = IndexVector<OpenIndex, T>;

// Nodes [begin, end); a domain of any tier is such a run.
struct NodeRun {
  fabric::NodeIndex begin{0}, end{0};

  bool Has(fabric::NodeIndex n) const { return begin <= n && n < end; }
  bool empty() const { return begin >= end; }
};

// The rules of topology for the open workers of one partial placement: `required` and `preferred`
// of the job and of its groups.
//
// A rule that a fixed worker shares says at once where an open worker may go (allowed). A required
// set of open workers alone is free to choose its domain: its first worker decides (Joint).
//
// Cost  O(workers + members of groups) to make.
class OpenSets {
 public:
  // Open workers that must share one domain of a tier with each other and with no fixed worker.
  struct Joint {
    fabric::Tier tier{0};
    std::vector<OpenIndex> members;
  };

  // `nodes`: by worker, kUnplaced for the open ones.
  OpenSets(const objective::Instance& instance, objective::Nodes nodes);

  // Whether the fixed workers alone meet the hard rules.
  bool feasible() const { return feasible_; }
  const std::vector<WorkerIndex>& workers() const { return workers_; }  // by open index
  const NodeRun& allowed(OpenIndex open) const { return allowed_[open]; }
  const std::vector<Joint>& joints() const { return joints_; }
  std::span<const std::uint32_t> joints_of(OpenIndex open) const { return joints_of_[open]; }

  // Whether a placement of the open workers can change a preference.
  bool prefers() const { return preferred_ || !preferring_.empty(); }
  // The values of a placement of which `nodes` are the open workers' nodes, kUnplaced for none yet;
  // lower bounds if some have none.
  // Cost  O(open workers + open members of preferring sets).
  objective::Preferences Prefer(const ByOpen<fabric::NodeIndex>& nodes) const;

 private:
  // The least and the greatest node of some workers; none if `least` is kUnplaced.
  struct Hull {
    fabric::NodeIndex least = objective::kUnplaced, most{0};

    void Add(fabric::NodeIndex n) {
      least = n < least ? n : least;
      most = n > most ? n : most;
    }
    bool empty() const { return least == objective::kUnplaced; }
  };
  struct Preferring {
    fabric::Tier tier{0};
    Hull fixed;
    std::vector<OpenIndex> members;
  };

  void FindOpen(objective::Nodes nodes);
  void Require(fabric::Tier tier, std::span<const WorkerIndex> set, objective::Nodes nodes);
  void BuildPreferring(objective::Nodes nodes);
  Hull Split(std::span<const WorkerIndex> set, objective::Nodes nodes,
             std::vector<OpenIndex>& members) const;

  const objective::Instance* instance_;
  bool feasible_ = true;
  std::vector<WorkerIndex> workers_;
  ByWorker<OpenIndex> open_of_;
  ByOpen<NodeRun> allowed_;
  std::vector<Joint> joints_;
  ByOpen<std::vector<std::uint32_t>> joints_of_;
  std::optional<fabric::Tier> preferred_;
  Hull all_fixed_;
  std::vector<Preferring> preferring_;
  std::uint32_t missed_ = 0;  // preferring sets that the fixed workers miss already
};

}  // namespace weft::search
