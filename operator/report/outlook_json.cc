#include <cmath>
#include <nlohmann/json.hpp>

#include "operator/report/outlook.h"

namespace weft::report {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double kSecondsPerHour = 3'600;

std::int64_t Whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }

OrderedJson MemoryJson(const outlook::Memory& memory, double capacity) {
  OrderedJson out = {
      {"weights", Whole(memory.weights)},     {"gradients", Whole(memory.gradients)},
      {"optimizer", Whole(memory.optimizer)}, {"activations", Whole(memory.activations)},
      {"other", Whole(memory.other)},         {"total", Whole(memory.Total())},
      {"capacity", Whole(capacity)}};
  if (memory.pooled > 0) out["pooled"] = Whole(memory.pooled);
  return out;
}

OrderedJson ExposedJson(const outlook::Step& step) {
  OrderedJson exposed = OrderedJson::object();
  for (std::size_t axis = 0; axis < step.exposed.size(); ++axis) {
    if (step.exposed[axis] <= 0) continue;
    exposed[std::string(traffic::AxisName(static_cast<traffic::Axis>(axis)))] = step.exposed[axis];
  }
  return exposed;
}

OrderedJson JobJson(const JobOutlook& job) {
  OrderedJson out;
  out["job"] = job.job;
  out["accelerator"] = job.accelerator;
  out["accelerators"] = job.accelerators;
  AddPrediction(*job.prediction, out);
  if (job.learned) {
    out["learned"] = {{"name", job.learned->key},
                      {"percent", job.learned->percent},
                      {"jobs", job.learned->observations}};
  }
  if (!job.notes.empty()) out["notes"] = job.notes;
  AddReliability(job.reliability, out);
  out["costPerHour"] = job.cost_per_hour ? OrderedJson(*job.cost_per_hour) : OrderedJson(nullptr);
  if (!job.currency.empty()) out["currency"] = job.currency;
  if (job.facility_watts) out["facilityWatts"] = *job.facility_watts;
  return out;
}

}  // namespace

void AddPrediction(const outlook::Prediction& one, OrderedJson& out) {
  out["memoryBytesPerGPU"] = MemoryJson(one.memory, one.capacity);
  out["fits"] = one.fits;
  if (one.change) {
    out["smallestChange"] = {{"set", one.change->text}, {"total", Whole(one.change->total)}};
  }
  out["stepSeconds"] = one.step.Seconds();
  out["computeSeconds"] = one.step.compute;
  out["bubbleSeconds"] = one.step.bubble;
  out["exposedCommunicationSeconds"] = ExposedJson(one.step);
  out["stepSecondsLow"] = one.step_low;
  out["stepSecondsHigh"] = one.step_high;
  out["boundBy"] = outlook::BoundBy(one.step);
  out["mfu"] = one.mfu;
  out["tokensPerSecond"] = one.tokens_per_second;
  out["powerWatts"] = one.watts;
  out["energyPerStepWattHours"] = one.watts * one.step.Seconds() / kSecondsPerHour;
  out["calibration"] = {{"name", one.calibration->name}, {"fittedOn", one.calibration->fitted_on}};
  if (!one.calibrated_as.empty()) out["calibration"]["calibratedAs"] = one.calibrated_as;
}

void AddReliability(const outlook::Reliability& one, OrderedJson& out) {
  out["hoursBetweenFailures"] = one.hours_between_failures;
  out["checkpointIntervalSeconds"] = one.checkpoint_interval_seconds;
  out["effectiveTimeShare"] = one.effective_share;
}

OrderedJson OutlookJson(const OutlookReport& report) {
  OrderedJson list = OrderedJson::array();
  for (const JobOutlook& job : report.jobs) {
    if (job.prediction) list.push_back(JobJson(job));
  }
  return list;
}

}  // namespace weft::report
