#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/objective/levels.h"
#include "operator/objective/request.h"
#include "operator/search/reseat.h"
#include "operator/traffic/worker_graph.h"

namespace weft::placement {

// A running gang, some of whose workers need another node.
struct Loss {
  ByWorker<fabric::NodeIndex> nodes;  // of each worker now; of a failed one, perhaps kUnplaced
  std::vector<WorkerIndex> failed;    // ascending, not empty
};

// The gang with a node for every worker. Worker i stays worker i.
struct Replaced {
  objective::Candidate placement;
  std::vector<WorkerIndex> moved;  // the failed workers, and healthy ones that leave their node
  std::uint32_t groups_moved = 0;  // sets of topology.groups that move whole for `required`
  bool exact = false;              // the search was exhaustive
};

// A failed worker without a node: no domain of the tier that its rules allow has a free one.
enum class BlockedReason : std::uint8_t { kNoSpareInDomain };
std::string_view ReasonName(BlockedReason reason);
struct Blocked {
  WorkerIndex worker;
  fabric::Tier tier{0};  // of the rule; kOutside: no rule of topology, the fabric is full
  fabric::DomainIndex domain{0};
  BlockedReason reason = BlockedReason::kNoSpareInDomain;
};

// The gang cannot go on beside its healthy workers: it must be made anew.
struct Recreate {
  std::vector<Blocked> blocked;  // by worker; empty if no worker is healthy, and if too_many
  // The failed workers that have a node all the same, and that node. A caller that waits for a
  // spare holds it; a gang only starts whole.
  struct Held {
    WorkerIndex worker;
    fabric::NodeIndex node{0};
  };
  std::vector<Held> held;  // by worker
  bool too_many = false;   // more than search::kMostReseated workers failed: nothing was computed
};

using ReplaceAnswer = std::variant<Replaced, Recreate>;

// Chooses nodes for the failed workers of a gang, while all other workers stay: same hard rules and
// same levels of the objective as Place, but the tolerance of the cost applies to the part that the
// moved workers take part in (search/reseat.h).
//
// If `required` of groups leaves no node, the smallest number of groups is freed that makes it
// possible: these move whole, healthy workers too, and of several such choices the one with the
// fewest healthy workers, then the best placement. A group that has a spare is never moved or
// starved because another has none. If no such groups exist, the answer is Recreate.
//
// claims   without the gang's own pods, as for Place.
// request  excluded: nodes that no worker may go to, such as the failed workers' own.
// Cost     an Instance, then as search::Reseat; it for each choice of groups that is tried, and for
//          at most a few large ones. A refusal takes O(failed x members of their rules) more.
ReplaceAnswer Replace(const fabric::Claims& claims, const objective::Request& request,
                      const traffic::WorkerGraph& graph, const Loss& loss,
                      const objective::Options& options = {},
                      const search::ReseatLimits& limits = {});

// One Replace, prepared: what the choices of workers that move share.
class Replacer {
 public:
  Replacer(const fabric::Claims& claims, const objective::Request& request,
           const traffic::WorkerGraph& graph, const Loss& loss,
           const objective::Options& options = {}, const search::ReseatLimits& limits = {});

  const objective::Instance& instance() const { return instance_; }
  const Loss& loss() const { return loss_; }
  // The best placement where these workers get a node, and all others stay. `open` ascends and
  // holds the failed workers. A healthy one may keep its node.
  std::optional<search::Reseated> Solve(std::span<const WorkerIndex> open) const;
  ReplaceAnswer Run() const;

 private:
  // A set of workers that a group's `required` keeps in one domain.
  struct Set {
    fabric::Tier tier{0};
    std::span<const WorkerIndex> workers;
    bool failed = false;   // holds a failed worker
    bool blocked = false;  // its failed workers cannot be replaced while all others stay
  };

  // The domain that a failed worker's rules keep it in, beside the workers that stay.
  struct Home {
    fabric::Tier tier{0};
    fabric::DomainIndex domain{0};
    bool possible = true;  // false: its rules name domains that are apart
  };

  std::optional<search::Reseated> SolveSome(std::span<const WorkerIndex> served) const;
  fabric::NodeIndex MateOf(WorkerIndex worker) const;
  fabric::ByNode<std::uint32_t> FreeSlots(std::span<const WorkerIndex> open) const;
  std::vector<Set> RequiredSets() const;
  std::vector<WorkerIndex> WithFailed(std::span<const Set* const> freed) const;
  std::vector<const Set*> Freeable(std::vector<Set>& sets) const;
  std::optional<Replaced> FreeGroups(std::span<const Set* const> sets) const;
  Replaced Answer(search::Reseated found, std::uint32_t groups) const;
  bool MovedMeetTopology(const Replaced& answer) const;
  Home HomeOf(WorkerIndex worker, std::span<const Set> sets) const;
  void Join(const Home& other, Home& home) const;
  bool InFailedSet(WorkerIndex worker, std::span<const Set> sets) const;
  Recreate Refuse(std::span<const Set> sets) const;

  const fabric::Claims& claims_;
  const objective::Request& request_;
  const Loss& loss_;
  search::ReseatLimits limits_;
  int tolerance_percent_;
  objective::Instance instance_;
  bool looks_at_pods_;  // or at power: slots depend on what stands elsewhere
};

}  // namespace weft::placement
