#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/cluster/note.h"
#include "operator/outlook/failures.h"
#include "operator/outlook/outlook.h"
#include "operator/outlook/prices.h"

namespace weft::report {

// What to look for.
struct AdviceRequest {
  std::string job;  // "namespace/name" or "name"; "": the only TrainingJob with a transformer
  // The numbers of accelerators to try: those of 1, 2, 4, ... workers between `least` and `most`,
  // and `most`; for a bare model of 1, 2, 4, ... accelerators of a node, too. 0: only the number
  // that the job has.
  std::int64_t least = 0, most = 0;
  std::optional<double> tokens;         // to train on: gives days and cost
  std::optional<double> deadline_days;  // of the tokens: the cheapest layouts in time come first
  std::optional<double> budget;         // of the tokens: the fastest layouts within it come first
  const outlook::Prices* prices = nullptr;
  std::size_t rows = 10;
};

struct AdvisedLayout {
  std::string fabric, accelerator;
  std::int64_t nodes = 0, spot_nodes = 0;
  outlook::Layout layout;
  outlook::Prediction prediction;
  outlook::Reliability reliability;
  std::uint32_t per_worker = 0;         // accelerators
  std::optional<double> cost_per_hour;  // absent without prices
  std::optional<double> days, cost;     // absent without tokens; failures are counted in
};

// A change of the best layout's surroundings, and how many more tokens a second each accelerator
// would then train on: 0.1 is a tenth more.
struct Lift {
  std::string change;
  double gain = 0;
};

struct Advice {
  std::string job;           // "namespace/name"
  std::size_t index = 0;     // into Inputs::jobs
  bool no_template = false;  // the job's input has no spec.workers.template
  std::string currency;
  std::int64_t tried = 0, fitting = 0;  // layouts
  // Best first (Ranking of lifts.h). On one fabric, product and number of accelerators the best
  // few; else the best of each.
  std::vector<AdvisedLayout> layouts;
  // The job as it is written, on the fabric and product of the first layout, whether or not it fits
  // in memory. Absent for a bare model, and if there are too few nodes.
  std::optional<AdvisedLayout> as_written;
  std::vector<Lift> lifts;       // of the first, largest gain first
  std::string why_none;          // a sentence; "" if there are layouts
  outlook::FailureRates rates;   // that days and cost count in
  bool rates_of_prices = false;  // the table of prices has the interruptions
  std::vector<cluster::Note> notes;
};

}  // namespace weft::report
