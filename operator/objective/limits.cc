#include "operator/objective/limits.h"

#include <algorithm>

namespace weft::objective {

namespace {

// Of jobs up to SearchLimits::small_workers.
constexpr std::uint32_t kSmallStarts = 4, kSmallSeeds = 1, kSmallSteps = 250, kSmallRounds = 16;
constexpr std::uint32_t kSmallAnnealSteps = 12'000;  // a worker
// With planes beside the levels, starts differ more: more of them, with more seeds, and more of the
// results gain by all steps.
constexpr std::uint32_t kSmallSeedsWithPlanes = 2;
constexpr std::uint32_t kLastWithPlanes = 4;
// Four runs from each start of 384 workers, one of 1,536: larger jobs gain less by another seed.
constexpr std::uint32_t kMostSeedsXWorkers = 1'536;

// So many that their number times `workers` is at most `limit`, but from `least` to `most`.
std::uint32_t PerJob(std::uint32_t limit, std::uint32_t workers, std::uint32_t least,
                     std::uint32_t most) {
  return std::max(least, std::min(most, limit / std::max(1U, workers)));
}

}  // namespace

bool IsFar(Int128 cost, Int128 enough) {
  constexpr int kFarPart = 50;
  return cost - enough > cost / kFarPart;
}

SearchLimits LimitsOf(Effort effort) {
  SearchLimits limits;
  switch (effort) {
    case Effort::kQuick:
      limits.refine_starts = limits.fewest_starts = 0;
      limits.refine_steps = 0;
      limits.refine_steps_per_piece = 0;
      limits.refine_steps_on_torus = limits.refine_steps_per_piece_on_torus = 0;
      limits.improve_steps = 20'000;
      limits.exact_steps = 5'000;
      limits.exact_tie_steps = 200;
      limits.tilings = limits.fewest_tilings = limits.tilings_far = limits.tilings_of_groups = 4;
      limits.boxes = limits.spreads = 4;
      limits.anneal_steps_per_worker = limits.fewest_anneal_steps = 0;
      limits.anneal_steps = 0;
      limits.ring_steps = 100'000;
      limits.bound_steps = 0;
      limits.price_rounds = 0;
      limits.price_steps = 0;
      break;
    case Effort::kNormal:
      break;
    case Effort::kThorough:
      limits.small_workers = 0;
      limits.exact_steps = 20'000'000;
      limits.exact_tie_steps = 2'000'000;
      limits.improve_steps = 2'000'000;
      limits.refine_steps = 50'000;
      limits.refine_steps_per_piece = 150;
      limits.refine_patience = ~0U;
      limits.refine_steps_on_torus = limits.refine_steps;
      limits.refine_steps_per_piece_on_torus = limits.refine_steps_per_piece;
      limits.refine_patience_on_torus = limits.refine_patience;
      limits.most_vain_starts_x_workers = limits.most_vain_starts_x_workers_planes = ~0U;
      limits.most_vain_starts_x_workers_far = ~0U;
      limits.refine_starts = limits.fewest_starts = 24;
      limits.refine_last = kLastWithPlanes;
      limits.last_in_vain = true;
      limits.refine_rounds = 32;
      limits.exchange_steps = 1'000'000'000;
      limits.enough_shift = 20;
      limits.refine_cells = 512;
      limits.tilings = limits.tilings_far = limits.tilings_of_groups = 200;
      limits.box_steps = 50'000'000;
      limits.boxes = limits.spreads = 100;
      limits.anneal_steps_per_worker = 240'000;
      limits.fewest_anneal_steps = 80'000;
      limits.anneal_steps = 60'000'000;
      limits.ring_steps = 300'000'000;
      limits.most_tilings_x_workers = limits.most_tilings_x_workers_far = ~0U;
      limits.bound_steps = 10'000'000;
      limits.price_rounds = 200;
      limits.price_steps = 2'000'000'000;
      limits.after_normal = true;
      break;
  }
  return limits;
}

SearchLimits SearchLimits::ForSize(std::uint32_t workers, bool planes) const {
  SearchLimits limits = *this;
  if (workers > small_workers) return limits;
  limits.refine_seeds = planes ? kSmallSeedsWithPlanes : kSmallSeeds;
  limits.refine_rounds = kSmallRounds;
  if (planes) return limits;
  limits.refine_starts = limits.fewest_starts = std::min(refine_starts, kSmallStarts);
  limits.refine_steps = std::min(refine_steps, kSmallSteps);
  return limits;
}

std::uint32_t SearchLimits::StartsFor(std::uint32_t workers) const {
  return PerJob(most_starts_x_workers, workers, fewest_starts, refine_starts);
}

std::uint32_t SearchLimits::TilingsFor(std::uint32_t workers, bool groups_prefer, bool far) const {
  if (groups_prefer) {
    return PerJob(most_tilings_x_workers, workers, fewest_tilings, tilings_of_groups);
  }
  return far ? PerJob(most_tilings_x_workers_far, workers, fewest_tilings, tilings_far)
             : PerJob(most_tilings_x_workers, workers, fewest_tilings, tilings);
}

std::uint32_t SearchLimits::SeedsFor(std::uint32_t workers) const {
  return PerJob(kMostSeedsXWorkers, workers, 1, refine_seeds);
}

std::uint32_t SearchLimits::VainStartsFor(std::uint32_t workers, bool planes, bool far) const {
  const std::uint32_t most =
      planes ? most_vain_starts_x_workers_planes : most_vain_starts_x_workers;
  return PerJob(far ? std::max(most, most_vain_starts_x_workers_far) : most, workers, 1, ~0U);
}

std::uint32_t SearchLimits::LastFor(std::uint32_t workers, bool planes) const {
  return PerJob(most_last_x_workers, workers, 1, planes ? kLastWithPlanes : refine_last);
}

std::uint32_t SearchLimits::StepsFor(std::uint32_t pieces) const {
  return std::max(refine_steps, refine_steps_per_piece * pieces);
}

std::uint32_t SearchLimits::PatienceFor(std::uint32_t pieces) const {
  return std::max(refine_patience, refine_patience_per_piece * pieces);
}

std::uint64_t SearchLimits::AnnealStepsFor(std::uint32_t workers) const {
  const std::uint64_t each = workers <= small_workers
                                 ? std::min(anneal_steps_per_worker, kSmallAnnealSteps)
                                 : anneal_steps_per_worker;
  const std::uint64_t all = workers * each;
  const std::uint64_t fewest = std::uint64_t{workers} * fewest_anneal_steps;
  return std::min(all, std::max(anneal_steps, fewest));
}

std::optional<Effort> FindEffort(std::string_view name) {
  if (name == "quick") return Effort::kQuick;
  if (name == "normal") return Effort::kNormal;
  if (name == "thorough") return Effort::kThorough;
  return std::nullopt;
}

}  // namespace weft::objective
