#include "operator/report/job_figures.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <tuple>

#include "operator/api/json_member.h"
#include "operator/base/quantity.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/stage.h"

namespace weft::report {
namespace {

using life::Is;
using life::JobStatus;
using life::ReasonOf;
using life::Since;
using life::Stage;
using life::StageOf;
using life::StatusOf;

using Json = nlohmann::json;

std::optional<std::int64_t> NumberAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

std::optional<std::int64_t> BytesAt(const Json& object, const char* key) {
  const auto bytes = ParseQuantity(api::TextAt(object, key));
  return bytes ? std::optional(*bytes) : std::nullopt;
}

// The objects in a list of a status; other items are skipped, as other writers may have added them.
std::vector<const Json*> ObjectsAt(const Json& object, const char* key) {
  std::vector<const Json*> objects;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return objects;
  for (const Json& one : *found) {
    if (one.is_object()) objects.push_back(&one);
  }
  return objects;
}

// An object of the Placement's status; null where there is none.
const Json* StatusObject(const api::Placement& placement, const char* key) {
  if (!placement.raw) return nullptr;
  const auto status = placement.raw->find("status");
  if (status == placement.raw->end() || !status->is_object()) return nullptr;
  const auto found = status->find(key);
  return found != status->end() && found->is_object() ? &*found : nullptr;
}

std::string CauseOf(const api::TrainingJob& job, const JobStatus& before) {
  if (job.attempt == 0) return "Submitted";
  const std::string_view restarting = ReasonOf(before, "Restarting");
  if (ReasonOf(before, "Placed") == "Restarting" && !restarting.empty()) {
    return std::string(restarting);
  }
  const auto suspended = Since(before, "Suspended"), undone = Since(before, "Restarting");
  const bool resumed = suspended && (!undone || *suspended >= *undone);
  return resumed || restarting.empty() ? "Resumed" : std::string(restarting);
}

double Positive(UnixSeconds seconds) {
  return static_cast<double>(std::max<UnixSeconds>(0, seconds));
}

}  // namespace

bool operator==(const JobEvents& a, const JobEvents& b) {
  const auto start = [](const JobEvents& e) {
    return e.start ? std::optional(std::tuple(e.start->cause, e.start->wait_seconds))
                   : std::nullopt;
  };
  const auto loss = [](const JobEvents& e) {
    return e.loss ? std::optional(std::tuple(e.loss->cause, e.loss->before_bound,
                                             e.loss->accelerator_seconds))
                  : std::nullopt;
  };
  return std::tuple(start(a), loss(a), a.bind_seconds, a.ended, a.end_reason) ==
         std::tuple(start(b), loss(b), b.bind_seconds, b.ended, b.end_reason);
}

TrafficFigures ReadTraffic(const api::Placement& placement) {
  TrafficFigures figures;
  if (!placement.raw) return figures;
  const auto status = placement.raw->find("status");
  if (status == placement.raw->end() || !status->is_object()) return figures;
  for (const Json* span : ObjectsAt(*status, "spans")) {
    figures.spans.push_back({api::TextAt(*span, "level"), NumberAt(*span, "domains").value_or(0)});
  }
  const Json* traffic = StatusObject(placement, "traffic");
  if (traffic == nullptr) return figures;
  for (const Json* flow : ObjectsAt(*traffic, "flows")) {
    const auto bytes = BytesAt(*flow, "bytes");
    if (bytes)
      figures.flows.push_back({api::TextAt(*flow, "axis"), api::TextAt(*flow, "level"), *bytes});
  }
  figures.cross_node_bytes = BytesAt(*traffic, "crossNodeBytes");
  figures.best_cross_node_bytes = BytesAt(*traffic, "bestCrossNodeBytes");
  figures.cost_over_bound_percent = NumberAt(*traffic, "costOverLowerBoundPercent");
  figures.communication_milliseconds = NumberAt(*traffic, "communicationMilliseconds");
  return figures;
}

OutlookFigures ReadOutlook(const api::Placement& placement) {
  OutlookFigures figures;
  const Json* outlook = StatusObject(placement, "outlook");
  if (outlook == nullptr) return figures;
  figures.step_milliseconds = NumberAt(*outlook, "stepMilliseconds");
  figures.tokens_per_second = NumberAt(*outlook, "tokensPerSecond");
  figures.mfu_percent = NumberAt(*outlook, "mfuPercent");
  figures.watts = NumberAt(*outlook, "powerWatts");
  figures.accelerator_watts = NumberAt(*outlook, "acceleratorPowerWatts");
  figures.currency = api::TextAt(*outlook, "currency");
  if (const auto thousandths = ParseMilliQuantity(api::TextAt(*outlook, "costPerHour"))) {
    figures.cost_per_hour = static_cast<double>(*thousandths) / 1e3;
  }
  const auto memory = outlook->find("memoryPerGPU");
  if (memory == outlook->end() || !memory->is_object()) return figures;
  figures.memory_bytes = BytesAt(*memory, "total");
  figures.memory_capacity = BytesAt(*memory, "capacity");
  return figures;
}

bool WantsNodes(const api::TrainingJob& job) {
  const JobStatus status = StatusOf(job);
  return !job.suspend && !job.meta.deleting && !cluster::IsFinished(job) && !Is(status, "Placed");
}

UnixSeconds WaitsSince(const api::TrainingJob& job, UnixSeconds now) {
  const JobStatus status = StatusOf(job);
  UnixSeconds since = ParseTime(job.meta.creation_timestamp).value_or(now);
  if (job.attempt > 0) since = std::max(since, Since(status, "Placed").value_or(since));
  if (!Is(status, "Suspended")) since = std::max(since, Since(status, "Suspended").value_or(since));
  return std::min(since, now);
}

std::string SizeClass(std::uint32_t workers) {
  return std::to_string(std::bit_ceil(std::uint64_t{workers}));
}

JobEvents EventsOf(const api::TrainingJob& job, const JobStatus& after, UnixSeconds now) {
  const JobStatus before = StatusOf(job);
  JobEvents events;
  if (after.attempt > before.attempt) {
    events.start = {CauseOf(job, before), Positive(now - WaitsSince(job, now))};
  }
  const UnixSeconds placed = Since(before, "Placed").value_or(now);
  if (Is(after, "Restarting") && !Is(before, "Restarting")) {
    const double accelerators = static_cast<double>(job.replicas) * job.accelerator.per_worker;
    events.loss = {std::string(ReasonOf(after, "Restarting")), life::MayBeUnbound(StageOf(before)),
                   accelerators * Positive(now - placed)};
  }
  const Stage stage = StageOf(after);
  if (life::MayBeUnbound(StageOf(before)) &&
      (stage == Stage::kStarting || stage == Stage::kAllReady)) {
    events.bind_seconds = Positive(now - placed);
  }
  for (const char* end : {"Complete", "Failed"}) {
    if (!Is(after, end) || Is(before, end)) continue;
    events.ended = end;
    events.end_reason = ReasonOf(after, end);
  }
  return events;
}

}  // namespace weft::report
