#include "operator/objective/limits.h"

#include <algorithm>

namespace weft::placement {

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
      limits.tilings = limits.fewest_tilings = limits.tilings_of_groups = 4;
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
      limits.refine_steps = 200'000;
      limits.refine_steps_per_piece = 600;
      limits.refine_patience = ~0U;
      limits.refine_steps_on_torus = limits.refine_steps;
      limits.refine_steps_per_piece_on_torus = limits.refine_steps_per_piece;
      limits.refine_patience_on_torus = limits.refine_patience;
      limits.vain_workers = limits.vain_workers_planes = limits.vain_workers_far = ~0U;
      limits.refine_starts = limits.fewest_starts = 24;
      limits.refine_last = limits.refine_last_planes;
      limits.last_in_vain = true;
      limits.refine_rounds = 8;
      limits.exchange_steps = 1'000'000'000;
      limits.enough_shift = 20;
      limits.refine_cells = 512;
      limits.tilings = limits.tilings_of_groups = 200;
      limits.box_steps = 50'000'000;
      limits.boxes = limits.spreads = 100;
      limits.anneal_steps_per_worker = 240'000;
      limits.fewest_anneal_steps = 80'000;
      limits.anneal_steps = 60'000'000;
      limits.ring_steps = 300'000'000;
      limits.tiled_workers = ~0U;
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
  limits.refine_seeds = planes ? small_seeds_planes : small_seeds;
  limits.refine_rounds = small_rounds;
  if (planes) return limits;
  limits.refine_starts = limits.fewest_starts = std::min(refine_starts, small_starts);
  limits.refine_steps = std::min(refine_steps, small_steps);
  return limits;
}

std::uint32_t SearchLimits::StartsFor(std::uint32_t workers) const {
  return std::max(fewest_starts, std::min(refine_starts, started_workers / std::max(1U, workers)));
}

std::uint32_t SearchLimits::TilingsFor(std::uint32_t workers, bool groups_prefer) const {
  const std::uint32_t most = groups_prefer ? tilings_of_groups : tilings;
  return std::max(fewest_tilings, std::min(most, tiled_workers / std::max(1U, workers)));
}

std::uint32_t SearchLimits::SeedsFor(std::uint32_t workers) const {
  return std::max(1U, std::min(refine_seeds, seeded_workers / std::max(1U, workers)));
}

std::uint32_t SearchLimits::LastFor(std::uint32_t workers, bool planes) const {
  const std::uint32_t most = planes ? refine_last_planes : refine_last;
  return std::max(1U, std::min(most, last_workers / std::max(1U, workers)));
}

std::uint32_t SearchLimits::StepsFor(std::uint32_t pieces) const {
  return std::max(refine_steps, refine_steps_per_piece * pieces);
}

std::uint32_t SearchLimits::PatienceFor(std::uint32_t pieces) const {
  return std::max(refine_patience, refine_patience_per_piece * pieces);
}

std::uint64_t SearchLimits::AnnealStepsFor(std::uint32_t workers) const {
  const std::uint64_t all = std::uint64_t{workers} * anneal_steps_per_worker;
  const std::uint64_t fewest = std::uint64_t{workers} * fewest_anneal_steps;
  return std::min(all, std::max(anneal_steps, fewest));
}

std::optional<Effort> FindEffort(std::string_view name) {
  if (name == "quick") return Effort::kQuick;
  if (name == "normal") return Effort::kNormal;
  if (name == "thorough") return Effort::kThorough;
  return std::nullopt;
}

}  // namespace weft::placement
