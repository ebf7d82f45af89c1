#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/simulate/summary.h"

namespace weft::simulate {

// One thing to change, and the run that tries it.
struct Change {
  std::string what;  // "policy weft instead of first-fit"; "" for the state as it is
  Variation variation;
  DispatchRules rules;
  bool moves_largest = false;  // MoveLargest
};

// The change nothing, then the changes worth trying: every other policy, order and rule of
// backfill, half the oversubscription where there is any, one more rack, and a later start of the
// largest job.
std::vector<Change> ChangesToTry(const Change& base, const fabric::Fabric& fabric);

// Moves the job with the most GPU time behind the last arrival, as if its user had waited for a
// quiet time.
void MoveLargest(Scenario& scenario);

struct Advice {
  std::string what;
  Spread wait, completion;  // with the change
};
// The changes that cut the mean completion most, at most three, the best first; fewer if fewer
// help. The first change is the state as it is.
std::vector<Advice> BestChanges(const std::vector<Change>& changes,
                                const std::vector<Summary>& summaries);

nlohmann::ordered_json AdviceJson(const Summary& as_it_is, const std::vector<Advice>& best);

}  // namespace weft::simulate
