#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/objective/levels.h"

// Words of this module, beside those of objective/instance.h.
//   walk    an order of the workers in which each unit is a run of consecutive workers
//   tiling  a walk, with the size of the units that go whole into domains of each tier (tiling.h)
//   room    how many workers, or units, fit in a domain (rooms.h)
//   home    a domain that contains the whole job
//   cell    nodes on each of which a worker costs the same (cells.h)
//   piece   the workers of one unit in one cell (refine.h)
namespace weft::search {

// Good placements of one instance, found greedily: for each possible home of the job,
// Filler places the workers in a few promising orders, and each result is priced
// exactly. Placements with the best preferences come first. Empty if no placement was
// found.
//
// `standing` compares a placement with the bound. Wider homes and other tilings are not tried once
// a placement is enough; more tilings are while each is far.
//
// Cost  a bounded number of homes and orders, each O(workers x tiers + edges).
enum class Standing : std::uint8_t {
  kFar,     // IsFar: others may be much better
  kNear,    // others may be a little better
  kEnough,  // no other is worth a search
};
using StandingOf = std::function<Standing(const objective::Candidate&)>;
std::vector<objective::Candidate> GreedyCandidates(const objective::Instance& instance,
                                                   const StandingOf& standing);

// A domain that may hold the whole job.
struct Home {
  fabric::Tier tier{0};
  fabric::DomainIndex domain{0};

  friend bool operator==(const Home&, const Home&) = default;
};

// Tiers at which one domain may hold the whole job, best first: from `preferred` to the wider
// tiers, up to `required`.
std::vector<fabric::Tier> AllowedTiers(const objective::Request& request);

}  // namespace weft::search
