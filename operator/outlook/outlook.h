#pragma once

#include <optional>
#include <string>
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

// What Weft predicts for one job on one placement.
struct Prediction {
  Memory memory;
  double capacity = 0;  // bytes of memory that training software can use
  bool fits = false;
  std::optional<Change> change;  // set if the job does not fit
  Step step;
  double step_low = 0, step_high = 0;  // nine of ten measured steps lie between these
  double mfu = 0;                      // ModelFlops / (peak FLOP/s x seconds of a step)
  double tokens_per_second = 0;
  double watts = 0;              // drawn by the GPUs and their servers during training
  double accelerator_watts = 0;  // drawn by the GPUs alone, as DCGM measures it
  const Calibration* calibration = nullptr;
  // Of the step, to both sides: the calibration's, but at least kBorrowedError if the accelerator
  // was not measured but borrows the constants of another one.
  double error = 0;
  std::string calibrated_as;  // that other one; "": none
};

// The error of an accelerator that borrows another's constants (`calibratedAs`). Assumption.
inline constexpr double kBorrowedError = 0.25;

// "Hopper BF16, FSDP", "Hopper BF16, FSDP, calibrated as H100".
std::string CalibrationName(const Prediction& prediction);

// Predicts whether the job fits, how long a step takes and what bounds it.
//
// Errors  kInvalid at model.transformer.precision if the accelerator has no unit for it.
// Cost    some microseconds; if the job does not fit, some hundred layouts are tried.
Result<Prediction> Predict(const Layout& layout, const Accelerator& accelerator,
                           const Network& network);

// Multiplies all times by `ratio`, and divides the MFU and the tokens per second by it.
void Stretch(double ratio, Prediction& prediction);

// Watts of GPUs that train: of the GPUs alone, and with their share of the servers, without
// cooling.
double AcceleratorPower(const Accelerator& accelerator, std::int64_t accelerators);
double PowerOf(const Accelerator& accelerator, std::int64_t accelerators);
// The most that one accelerator draws with its share of the server: at its power limit.
double PeakPowerOf(const Accelerator& accelerator);

}  // namespace weft::outlook
