#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "operator/base/units.h"

namespace weft::objective {

// How much work the search for one placement may do. All limits count steps, never wall time, so
// that the same input gives the same answer on every machine.
enum class Effort : std::uint8_t {
  kQuick,     // a few layouts, without local search by pieces
  kNormal,    // what the operator uses
  kThorough,  // takes seconds; for a job that runs for weeks
};

struct SearchLimits {
  // Places that the exact search tries before it gives up, about half a microsecond each, and those
  // that it tries afterwards to find the best of equal cost, a few microseconds each. Most jobs of
  // up to ten workers finish far below.
  std::uint32_t exact_steps = 10'000, exact_tie_steps = 2'000;
  // Terms of the cost that the local search by single workers looks at.
  std::uint32_t improve_steps = 100'000;
  // Tilings tried in each home, by forecast cost, least first. Large jobs get fewer, because laying
  // one takes longer: tilings times workers stay below the limit, but at least
  // `fewest_tilings` are tried. Duplicates (about half) count too.
  std::uint32_t tilings = 20, most_tilings_x_workers = 16'384, fewest_tilings = 12;
  // The same while every placement found is far above the bound (IsFar). Of 400 jobs six then cost
  // up to 2 % less.
  std::uint32_t tilings_far = 40, most_tilings_x_workers_far = 40'960;
  // The same if groups prefer a level: which tiling loses least then depends on single rooms and
  // cannot be forecast, and others cost up to half as much again. All are tried, however large the
  // job, while each placement found misses a group's level.
  std::uint32_t tilings_of_groups = 80;
  // Proposals in one round of the local search by pieces, for each size of piece: a minimum, and a
  // number per piece so that large jobs settle too. Each start gets one round; the best results get
  // `refine_rounds`.
  std::uint32_t refine_steps = 750;
  std::uint32_t refine_steps_per_piece = 3;
  std::uint32_t refine_rounds = 64;
  // The same on a torus, for jobs that are not annealed (anneal.h): every worker is a piece, and
  // tilings say little.
  std::uint32_t refine_steps_on_torus = 12'000, refine_steps_per_piece_on_torus = 48;
  std::uint32_t refine_patience_on_torus = 48'000;
  // The local search ends early after this many rejected proposals in a row, plus some per piece:
  // most large jobs stop improving long before their steps run out.
  std::uint32_t refine_patience = 12'000, refine_patience_per_piece = 6;
  // How many of the best tilings the local search starts from. Large jobs get fewer, because their
  // starts cost more and differ less: starts times workers stay below the limit, but at least
  // `fewest_starts` are used.
  std::uint32_t refine_starts = 12, fewest_starts = 4, most_starts_x_workers = 12'288;
  // How often the local search runs from each start, each time with another seed, because one run
  // alone often ends in a poor local optimum. Large jobs get fewer, but at least one.
  std::uint32_t refine_seeds = 4;
  // No other start is tried once so many in a row have gained nothing, at least one: the number
  // times the workers stays below this limit. After two such starts of a job of 512 workers the
  // next one seldom gains. With planes beside the levels starts differ more.
  std::uint32_t most_vain_starts_x_workers = 1'024, most_vain_starts_x_workers_planes = 4'096;
  // The same while the cost is far above the bound (IsFar). Of 360 jobs seven then cost up to 13 %
  // less: a poor tiling often leads to the best end.
  std::uint32_t most_vain_starts_x_workers_far = 12'288;
  // How many results of the starts, best first, get all steps: several, because the best start
  // often does not lead to the best end. Results times workers stay below the limit, but at least
  // one gets them. With planes there are more.
  std::uint32_t refine_last = 2, most_last_x_workers = 1'536;
  // Whether they get them even if no start has gained anything: then a longer run seldom does.
  bool last_in_vain = false;
  // Of jobs up to `small_workers` the exact search and single workers have found nearly all there
  // is to find, so that these get less: a thousandth of them then costs more, and 99 % of them are
  // placed in 5 to 7 ms. With planes beside the levels that share is greater, and they get more.
  std::uint32_t small_workers = 16;
  // Pieces that the exchange between pairs of cells (exchange.h) may look at, for each start and
  // size of piece. Most exchanges finish far below this limit.
  std::uint64_t exchange_steps = 10'000'000;
  // The search ends when the cost is within cost >> enough_shift of the bound: a user could not
  // measure 1 / 2048 of the cost.
  int enough_shift = 11;
  // Unused cells that the local search may move pieces to.
  std::uint32_t refine_cells = 192;
  // Additions that the bound may spend on exact sums over domains, about a millisecond. After that
  // it sums lower convex hulls, which loses little if a job takes many domains.
  std::uint64_t bound_steps = 2'000'000;
  // Rounds that raise the bound by prices on parts, for each level and unit, if a gap to the cost
  // is left after the search. Twice as many rounds halve the distance to the best prices.
  std::uint32_t price_rounds = 24;
  // Additions in all these rounds, some milliseconds. This is enough for jobs of a few racks, which
  // gain most; jobs of a thousand workers gain less than a percent.
  std::uint64_t price_steps = 16'000'000;
  // Terms of the cost looked at while the job's grid is laid along the dimensions of boxes of a
  // torus: some milliseconds at most. Jobs of up to four axes of powers of two need a tenth.
  std::uint64_t box_steps = 2'000'000;
  // How many placements in boxes are evaluated: the layouts with the fewest bytes x hops, each in
  // the boxes of its size with the fewest holes. The first one is usually the best.
  std::uint32_t boxes = 12;
  // Layouts that are spread over scattered hosts if no box is whole, those with the fewest bytes x
  // hops; a millisecond each for 4,096 workers. The best is 15 % cheaper than a bisection of the
  // grid.
  std::uint32_t spreads = 20;
  // Moves of a worker tried while a placement in one torus is annealed, for each worker; of large
  // jobs `fewest_anneal_steps`, but not before `anneal_steps` in all. A step takes about 60 ns;
  // twenty times as many steps lower the cost by three to ten percent. Jobs of 64 workers with a
  // quarter of the steps cost 0.5 % more in the mean and up to 6 %.
  std::uint32_t anneal_steps_per_worker = 48'000, fewest_anneal_steps = 4'000;
  std::uint64_t anneal_steps = 3'000'000;
  // Hosts looked at while the ring of a job that has only one is shortened on a torus: about 30 ms.
  // On scattered hosts a ring of 128 is then 6 to 11 % above the shortest; ten times as many steps
  // halve that.
  std::uint64_t ring_steps = 3'000'000;
  // Whether the placement that normal effort finds is a candidate from the beginning: other starts
  // and longer runs may end in a worse one.
  bool after_normal = false;
  // Seed of the search.
  std::uint64_t seed = 1;

  // The limits of the local search for a job of this size.
  SearchLimits ForSize(std::uint32_t workers, bool planes) const;
  std::uint32_t TilingsFor(std::uint32_t workers, bool groups_prefer, bool far) const;
  std::uint32_t StartsFor(std::uint32_t workers) const;
  std::uint32_t SeedsFor(std::uint32_t workers) const;
  std::uint32_t VainStartsFor(std::uint32_t workers, bool planes, bool far) const;
  std::uint32_t LastFor(std::uint32_t workers, bool planes) const;
  std::uint32_t StepsFor(std::uint32_t pieces) const;
  std::uint32_t PatienceFor(std::uint32_t pieces) const;
  std::uint64_t AnnealStepsFor(std::uint32_t workers) const;
};

// Whether a cost is so far above `enough` that much more search may pay: by a fiftieth.
bool IsFar(Int128 cost, Int128 enough);

SearchLimits LimitsOf(Effort effort);
std::optional<Effort> FindEffort(std::string_view name);  // quick, normal, thorough

}  // namespace weft::objective
