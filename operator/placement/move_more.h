#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "operator/base/units.h"
#include "operator/objective/levels.h"
#include "operator/placement/replace.h"

namespace weft::placement {

// What a placement is worth after a failure.
struct MoveTerms {
  // The time of a step, or anything proportional to it.
  std::function<double(const objective::Candidate&)> step;
  // R(m): from the failure to the first new step if m healthy workers move besides the failed ones
  // (image, caches, memory checkpoint of those that move).
  std::function<Seconds(std::uint32_t moved)> restart;
  Seconds until_next_failure{0};  // M, the mean
  Seconds remaining{0};           // of the job
};

// A placement that moves some healthy workers, against the one that moves none.
struct MoveOption {
  objective::Candidate placement;
  std::uint32_t more = 0;  // healthy workers that leave their node
  Seconds gain{0};         // (step(fixed) / step(this) - 1) x min(M, remaining)
  Seconds loss{0};         // R(more) - R(0)
};

struct MoveChoice {
  std::vector<MoveOption> options;  // fewest moves first; those that cost less than all before them
  // Into `options`: the one with the greatest gain - loss, if that is above 0. Absent: the healthy
  // workers stay.
  std::optional<std::size_t> chosen;
};

// Whether healthy workers should move too, so that the gang is faster afterwards.
//
// How     Placements that move at most 1, 2, 4, ... healthy workers, and the one that Solve finds
//         with all workers free. Which healthy workers are tried first: those whose swap with a
//         failed worker's new node saves most, by their own edges; each is added to the best set so
//         far. If there are few sets of 1 or 2 workers, all are tried.
// `fixed` Replacer::Run's answer.
// Cost    For each of kMostMoved steps O(workers x min(open workers, kMostTried) x neighbours) and
//         at most kMostTried Replacer::Solve; while sets of 1 or 2 workers are few, up to 128 Solve
//         instead. One Solve of all workers if `all`.
// Source  as the rule of a checkpoint's worth: the time saved until the next failure against the
//         longer restart.
inline constexpr std::uint32_t kMostMoved = 16, kMostTried = 24;
MoveChoice MoveMore(const Replacer& replacer, const Replaced& fixed, const MoveTerms& terms,
                    bool all = true);

}  // namespace weft::placement
