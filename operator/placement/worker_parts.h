#pragma once

#include <cstdint>
#include <vector>

#include "operator/base/units.h"
#include "operator/objective/levels.h"
#include "operator/objective/pair_cost.h"
#include "operator/rules/worker_rules.h"

namespace weft::placement {

// Some of the slots, and all placements that use no others.
struct Part {
  fabric::ByNode<std::uint32_t> slots;
  // Of spreads: how many workers each domain takes.
  std::vector<rules::WorkerRules::Limit> shares;
  // No placement of the part with these preferences costs less.
  objective::Preferences preferences{};
  Int128 bound = 0;
  bool proven = false;  // and none has better preferences
};

// Whether the part's limits leave room for this many workers; true also where that is not known.
bool LimitsLeaveRoom(const rules::WorkerRules& rules, const Part& part, std::uint64_t workers);

// Takes away slots of nodes that are like another one: of the same domain in every rule and of the
// narrowest level, and with the same networks. Of those a limit leaves as many slots as it allows,
// on the roomiest, of equal ones on those of `previous` (ascending).
void LeaveOutAlike(const objective::PairCost& pair_cost, const rules::WorkerRules& rules,
                   const std::vector<fabric::NodeIndex>& previous, Part& part);

// Parts that together hold each placement of the part that keeps the first rule that `used` breaks.
// Empty if it breaks none.
//
// `all`  false: one part of a spread that has too many; the others were left out.
struct Division {
  std::vector<Part> parts;
  bool all = true;
};
Division Divide(const rules::WorkerRules& rules, const Part& part,
                const fabric::ByNode<std::uint32_t>& used, std::uint64_t workers);

// The part with only as many of the used slots as the limits allow in each domain that has too many
// workers, and all slots of other domains.
Part KeepUsed(const rules::WorkerRules& rules, const Part& part,
              const fabric::ByNode<std::uint32_t>& used);

}  // namespace weft::placement
