#include "operator/plan/status.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/encode.h"
#include "operator/api/names.h"
#include "operator/base/check.h"
#include "operator/base/quantity.h"
#include "operator/base/short_text.h"
#include "operator/cluster/note.h"
#include "operator/cluster/text.h"
#include "operator/plan/pinned.h"

namespace weft::plan {
namespace {

using OrderedJson = nlohmann::ordered_json;

// bytes / ranks, rounded half up.
Int128 PerRank(Int128 bytes, std::uint32_t ranks) {
  return ranks == 0 ? 0 : (bytes + ranks / 2) / ranks;
}

// A number of status: whole, below 2^63.
std::int64_t Whole(double value) {
  constexpr double kMost = 9.2e18;
  return value < kMost ? std::llround(value) : kSaturated;
}

// The Placement that the entry becomes: the job's next attempt, or the user's own.
api::Placement MakePlacement(const cluster::Cluster& cluster, const PlanEntry& entry) {
  const cluster::WorkloadView& workload = entry.workload;
  api::Placement placement;
  if (workload.is_job) {
    placement.meta.key.space = workload.key().space;
    placement.meta.labels.Set(api::kJobNameLabel, workload.key().name);
  } else {
    const api::Placement& own = cluster.inputs->placements[workload.index];
    placement.meta.key.space = own.meta.key.space;
    placement.meta.labels = own.meta.labels;
    placement.pod_selector = own.pod_selector;
    placement.worker_index_labels = own.worker_index_labels;
  }
  placement.meta.key.name = workload.PlacementName();
  placement.workers = workload.workers;
  placement.fabric_name =
      entry.fabric ? cluster.fabrics[*entry.fabric].name() : *workload.fabric_name;
  placement.accelerator = *workload.accelerator;
  placement.model = *workload.model;
  placement.parallelism = *workload.parallelism;
  placement.topology = *workload.topology;
  return placement;
}

std::string PlacedMessage(const cluster::ClusterFabric& on, const PlanEntry& entry) {
  std::string message = cluster::SpansText(entry.placed()->scores);
  if (!on.LinksDeclared()) message += "; some link bandwidths are assumed";
  for (const cluster::Note& note : entry.notes) {
    if (note.severity != cluster::Severity::kInfo) message += "; " + note.reason + ": " + note.text;
  }
  return message;
}

api::Condition Condition(const char* type, bool is, const std::string& reason,
                         const std::string& message) {
  return {.type = type,
          .status = is ? "True" : "False",
          .reason = reason,
          .message = Shorten(message, api::kMessageBytesAtMost),
          .last_transition_time = ""};
}

std::vector<api::Condition> PlacedConditions(const cluster::ClusterFabric& on,
                                             const PlanEntry& entry) {
  const auto pinned =
      std::find_if(entry.notes.begin(), entry.notes.end(),
                   [](const cluster::Note& note) { return note.reason == kPodsPinned; });
  const bool is_pinned = pinned != entry.notes.end();
  std::vector<api::Condition> conditions = {
      Condition("Placed", true, is_pinned ? kPodsPinned : "Placed",
                (is_pinned ? pinned->text + ": " : "") + PlacedMessage(on, entry))};
  const auto& predicted = entry.placed()->predicted;
  if (predicted && !predicted->prediction.fits) {
    const outlook::Prediction& one = predicted->prediction;
    conditions.push_back(Condition(
        api::kMemoryFits, false, "DoesNotFit",
        "By prediction " +
            predict::DoesNotFitText(predicted->accelerator, one.memory, one.capacity, one.change)));
  }
  return conditions;
}

std::int64_t WholePercent(double share) { return Whole(100 * share); }

// "101.50": two digits, as prices are written.
std::string MoneyText(double amount) {
  constexpr std::int64_t kCents = 100;
  const std::int64_t cents = Whole(kCents * amount);
  const std::string rest = std::to_string(cents % kCents);
  return std::to_string(cents / kCents) + (rest.size() < 2 ? ".0" : ".") + rest;
}

OrderedJson PredictedJson(const predict::Predicted& predicted) {
  constexpr double kPerSecond = 1e3;
  const outlook::Prediction& one = predicted.prediction;
  const double seconds = one.step.Seconds(), total = one.memory.Total();
  OrderedJson out = {{"accelerator", predicted.accelerator},
                     {"fits", one.fits},
                     {"memoryPerGPU",
                      {{"total", FormatBytes(static_cast<Int128>(total))},
                       {"capacity", FormatBytes(static_cast<Int128>(one.capacity))},
                       {"percent", Whole(std::ceil(100 * total / one.capacity))}}},
                     {"stepMilliseconds", Whole(kPerSecond * seconds)},
                     {"stepMillisecondsLow", Whole(kPerSecond * one.step_low)},
                     {"stepMillisecondsHigh", Whole(kPerSecond * one.step_high)},
                     {"exposedCommunicationPercent", WholePercent(one.step.Exposed() / seconds)},
                     {"bubblePercent", WholePercent(one.step.bubble / seconds)},
                     {"boundBy", outlook::BoundBy(one.step)},
                     {"mfuPercent", WholePercent(one.mfu)},
                     {"tokensPerSecond", Whole(one.tokens_per_second)},
                     {"powerWatts", Whole(one.watts)},
                     {"acceleratorPowerWatts", Whole(one.accelerator_watts)},
                     {"calibration", outlook::CalibrationName(one)}};
  if (predicted.learned) {
    out["learnedStep"] = predicted.learned->key;
    out["learnedPercent"] = predicted.learned->percent;
    out["learnedFromJobs"] = predicted.learned->observations;
  }
  if (predicted.cost_per_hour) {
    out["costPerHour"] = MoneyText(*predicted.cost_per_hour);
    out["currency"] = Shorten(predicted.currency, api::kTextAtMost);
  }
  return out;
}

OrderedJson PlacedStatus(const cluster::ClusterFabric& on, const PlanEntry& entry) {
  const Placed& placed = *entry.placed();
  OrderedJson status = {{"nodes", NodeNamesJson(*on.fabric, placed.plan.nodes)}};
  status["spans"] = SpansJson(placed.scores);
  OrderedJson traffic =
      entry.modelled ? TrafficJson(placed.scores, entry.ranks) : OrderedJson::object();
  // In the order of operator/docs/api.md: best and bound come after crossNodeBytes.
  OrderedJson ordered = OrderedJson::object();
  const auto put_bounds = [&] {
    if (entry.modelled && placed.best) {
      ordered["bestCrossNodeBytes"] = FormatBytes(placed.best->cross_node_bytes);
    }
    const auto percent = CostOverLowerBoundPercent(placed.plan.cost, placed.plan.lower_bound);
    if (percent) ordered["costOverLowerBoundPercent"] = *percent;
  };
  if (!entry.modelled) put_bounds();
  for (auto& [key, value] : traffic.items()) {
    ordered[key] = std::move(value);
    if (key == "crossNodeBytes") put_bounds();
  }
  status["traffic"] = std::move(ordered);
  if (placed.predicted) status["outlook"] = PredictedJson(*placed.predicted);
  status["conditions"] = api::EncodeConditions(PlacedConditions(on, entry));
  return status;
}

}  // namespace

OrderedJson NodeNamesJson(const fabric::Fabric& on, std::span<const fabric::NodeIndex> nodes) {
  OrderedJson names = OrderedJson::array();
  for (const fabric::NodeIndex node : nodes) names.push_back(on.node(node).name);
  return names;
}

OrderedJson SpansJson(const objective::Scores& scores) {
  OrderedJson spans = OrderedJson::array();
  for (const objective::Span& span : scores.spans) {
    spans.push_back({{"level", span.level}, {"domains", span.domains}});
  }
  return spans;
}

OrderedJson TrafficJson(const objective::Scores& scores, std::uint32_t ranks) {
  OrderedJson traffic = {{"flows", OrderedJson::array()}};
  for (const objective::Flow& flow : scores.flows) {
    if (flow.bytes == 0) continue;
    traffic["flows"].push_back({{"axis", traffic::AxisName(flow.axis)},
                                {"level", flow.level},
                                {"bytes", FormatBytes(flow.bytes)},
                                {"bytesPerGPU", FormatBytes(PerRank(flow.bytes, ranks))}});
  }
  traffic["crossNodeBytes"] = FormatBytes(scores.cross_node_bytes);
  if (scores.busiest_uplink) {
    const objective::Uplink& uplink = *scores.busiest_uplink;
    traffic["busiestUplink"] = {{"level", uplink.level},
                                {"domain", Shorten(uplink.domain, api::kTextAtMost)},
                                {"bytes", FormatBytes(uplink.bytes)},
                                {"milliseconds", Whole(uplink.milliseconds)}};
  }
  traffic["spread"] = OrderedJson::array();
  for (const objective::AxisSpread& spread : scores.spread) {
    traffic["spread"].push_back({{"axis", traffic::AxisName(spread.axis)},
                                 {"level", spread.level},
                                 {"domains", spread.domains}});
  }
  traffic["communicationMilliseconds"] = Whole(scores.communication_milliseconds);
  return traffic;
}

OrderedJson PlacementOf(const cluster::Cluster& cluster, const PlanEntry& entry) {
  OrderedJson status;
  if (const Refused* refused = entry.refused()) {
    status["conditions"] =
        api::EncodeConditions({Condition("Placed", false, refused->reason, refused->message)});
  } else {
    WEFT_CHECK(entry.fabric && *entry.fabric < cluster.fabrics.size());
    status = PlacedStatus(cluster.fabrics[*entry.fabric], entry);
  }
  return api::EncodePlacement(MakePlacement(cluster, entry), std::move(status));
}

OrderedJson PlacementList(const cluster::Cluster& cluster, const PlanReport& report) {
  OrderedJson list = {{"apiVersion", "v1"}, {"kind", "List"}, {"items", OrderedJson::array()}};
  for (const PlanEntry& entry : report.entries) {
    list["items"].push_back(PlacementOf(cluster, entry));
  }
  return list;
}

std::optional<std::int64_t> CostOverLowerBoundPercent(Int128 cost, Int128 lower_bound) {
  if (cost == 0 && lower_bound == 0) return 100;
  if (lower_bound <= 0) return std::nullopt;
  return PercentUp(cost, lower_bound);
}

}  // namespace weft::plan
