#include "operator/outlook/outlook.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "operator/outlook/constants.h"

namespace weft::outlook {

double AcceleratorPower(const Accelerator& accelerator, std::int64_t accelerators) {
  const double idle = kIdlePower * accelerator.watts;
  return static_cast<double>(accelerators) * (idle + kBusyPower * (accelerator.watts - idle));
}

double PowerOf(const Accelerator& accelerator, std::int64_t accelerators) {
  return AcceleratorPower(accelerator, accelerators) +
         static_cast<double>(accelerators) * kHostPower * accelerator.watts;
}

double PeakPowerOf(const Accelerator& accelerator) {
  return std::round((1 + kHostPower) * accelerator.watts);
}

Result<Prediction> Predict(const Layout& layout, const Accelerator& accelerator,
                           const Network& network) {
  const double peak = PeakRate(accelerator, layout.model.precision);
  if (peak <= 0) {
    return Invalid("model.transformer.precision: " +
                   NoUnitText(accelerator, layout.model.precision));
  }
  Prediction out;
  out.memory = MemoryOn(layout, accelerator);
  out.capacity = UsableMemory(accelerator);
  out.fits = out.memory.Total() <= out.capacity;
  if (!out.fits) out.change = SmallestChange(layout, accelerator);
  out.calibration = &CalibrationFor(accelerator, layout);
  out.step = StepOf(layout, accelerator, *out.calibration, network);
  const double seconds = out.step.Seconds();
  out.error = out.calibration->error;
  if (!accelerator.calibrated_as.empty() && accelerator.calibrated_as != accelerator.name) {
    out.calibrated_as = accelerator.calibrated_as;
    out.error = std::max(out.error, kBorrowedError);
  }
  out.step_low = seconds * (1 - out.error);
  out.step_high = seconds * (1 + out.error);
  out.mfu = ModelFlops(layout) / (seconds * static_cast<double>(layout.ranks) * peak);
  out.tokens_per_second = static_cast<double>(layout.model.global_batch_size) *
                          static_cast<double>(layout.model.sequence_length) / seconds;
  out.watts = PowerOf(accelerator, layout.ranks);
  out.accelerator_watts = AcceleratorPower(accelerator, layout.ranks);
  return out;
}

std::string CalibrationName(const Prediction& prediction) {
  const std::string& as = prediction.calibrated_as;
  return std::string(prediction.calibration->name) + (as.empty() ? "" : ", calibrated as " + as);
}

void Stretch(double ratio, Prediction& prediction) {
  Step& step = prediction.step;
  for (double* part : {&step.compute, &step.bubble, &step.matrices, &step.memory, &step.launch,
                       &step.optimizer, &prediction.step_low, &prediction.step_high}) {
    *part *= ratio;
  }
  for (double& part : step.exposed) part *= ratio;
  prediction.mfu /= ratio;
  prediction.tokens_per_second /= ratio;
}

}  // namespace weft::outlook
