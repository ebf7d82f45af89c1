#pragma once

#include <optional>
#include <string_view>

#include "operator/base/result.h"
#include "operator/outlook/accelerators.h"
#include "operator/outlook/calibration.h"
#include "operator/outlook/change.h"
#include "operator/outlook/layout.h"
#include "operator/outlook/memory.h"
#include "operator/outlook/network.h"
#include "operator/outlook/step.h"

namespace weft::outlook {

// What Weft predicts of one job on one placement.
struct Prediction {
  Memory memory;
  double capacity = 0;  // bytes that training software can use
  bool fits = false;
  std::optional<Change> change;  // where it does not fit
  Step step;
  double step_low = 0, step_high = 0;  // nine of ten measured steps lie between
  double mfu = 0;                      // ModelFlops over what the peak would do in a step
  double tokens_per_second = 0;
  double watts = 0;  // of the GPUs and their servers, while the job trains
  const Calibration* calibration = nullptr;
};

// Does it fit, how long is a step, what bounds it.
//
// Errors  kInvalid, model.transformer.precision: the accelerator has no unit for it.
// Cost    some microseconds; where it does not fit, some hundred layouts are tried.
Result<Prediction> Predict(const Layout& layout, const Accelerator& accelerator,
                           const Network& network);

// Watts of GPUs that train, with their share of the servers; no cooling.
double PowerOf(const Accelerator& accelerator, std::int64_t accelerators);

}  // namespace weft::outlook
