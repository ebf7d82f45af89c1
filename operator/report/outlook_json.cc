#include <cmath>
#include <nlohmann/json.hpp>

#include "operator/report/outlook.h"

namespace weft::report {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t Whole(double value) { return static_cast<std::int64_t>(std::llround(value)); }

Json MemoryJson(const outlook::Memory& memory, double capacity) {
  return {{"weights", Whole(memory.weights)},     {"gradients", Whole(memory.gradients)},
          {"optimizer", Whole(memory.optimizer)}, {"activations", Whole(memory.activations)},
          {"other", Whole(memory.other)},         {"total", Whole(memory.Total())},
          {"capacity", Whole(capacity)}};
}

Json ExposedJson(const outlook::Step& step) {
  Json exposed = Json::object();
  for (std::size_t axis = 0; axis < step.exposed.size(); ++axis) {
    if (step.exposed[axis] <= 0) continue;
    exposed[std::string(traffic::AxisName(static_cast<traffic::Axis>(axis)))] = step.exposed[axis];
  }
  return exposed;
}

Json JobJson(const JobOutlook& job) {
  const outlook::Prediction& one = *job.prediction;
  Json out;
  out["job"] = job.job;
  out["accelerator"] = job.accelerator;
  out["accelerators"] = job.accelerators;
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
  out["costPerHour"] = nullptr;  // without prices
  out["calibration"] = {{"name", one.calibration->name}, {"fittedOn", one.calibration->fitted_on}};
  return out;
}

}  // namespace

Json OutlookJson(const OutlookReport& report) {
  Json list = Json::array();
  for (const JobOutlook& job : report.jobs) {
    if (job.prediction) list.push_back(JobJson(job));
  }
  return list;
}

}  // namespace weft::report
