#pragma once

#include <cstdint>
#include <vector>

#include "operator/objective/instance.h"

// Words of this module, beside those of objective/instance.h.
//   walk    an order of the workers in which units are runs
//   tiling  a walk, and which units go whole into domains of which tier (tiling.h)
//   room    how many workers, or units, fit in a domain (rooms.h)
//   home    a domain that the whole job stands in
//   cell    nodes that cost the same whichever of them is taken (cells.h)
//   piece   the workers of one unit that stand in one cell (refine.h)
namespace weft::placement {

// Good placements of one instance, found greedily: for each domain that can be
// the job's home, the job's workers in a few promising orders, laid in by
// Filler and priced exactly. Best preferences reachable this way first; empty
// where nothing was found.
//
// Cost  a bounded number of homes and orders, each O(workers x tiers + edges).
std::vector<Candidate> GreedyCandidates(const Instance& instance);

// A domain that may hold the whole job.
struct Home {
  fabric::Tier tier = 0;
  fabric::DomainIndex domain = 0;

  friend bool operator==(const Home&, const Home&) = default;
};

// Tiers at which the whole job may stand, best first: from `preferred` outwards
// to `required`.
std::vector<fabric::Tier> AllowedTiers(const Request& request);

}  // namespace weft::placement
