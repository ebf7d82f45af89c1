#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/objective/levels.h"
#include "operator/placement/place.h"
#include "tests/support/random_instance.h"

// What the programs that measure the solver share.
namespace weft::quality {

// A placement and what it took.
struct Solved {
  objective::Candidate candidate;
  Int128 bound = 0;
  bool exact = false;
  double seconds = 0;  // of the processor
};

// Processor time of this program.
double Seconds();

// Options under which the least cost wins: with the fabric's tolerance a dearer placement may win
// for its footprint.
objective::Options OptionsWith(const objective::SearchLimits& limits);

// Nothing if there is no placement.
std::optional<Solved> Solve(const testing::RandomInstance& instance,
                            const objective::Options& options);

// 1 if both are 0, and infinity if only `to` is.
double Ratio(Int128 cost, Int128 to);

std::string EffortName(objective::Effort effort);

// "64,256" as a list; what follows the first character that belongs in no list is left out.
std::vector<std::uint64_t> Numbers(const char* text);

}  // namespace weft::quality
