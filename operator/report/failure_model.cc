#include "operator/report/failure_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/json_reader.h"
#include "operator/api/names.h"
#include "operator/base/phrases.h"
#include "operator/outlook/failures.h"

namespace weft::report {
namespace {

using api::Field;
using outlook::AwayRate;

constexpr const char* kNode = "node";
constexpr const char* kWithoutNode = "shareWithoutNode";

// Why nothing can be advised with the rate; "" if it can.
std::string WhyAlwaysAway(const AwayRate& rate) {
  if (rate.Share() < 1) return "";
  return "so many failures, each away for " +
         DurationText(static_cast<std::int64_t>(rate.repair_seconds)) +
         ", leave no time in which it runs";
}

AwayRate RateAt(const Field& field) {
  field.RefuseUnknown({"failuresPer1000Days", "repairSeconds"});
  AwayRate rate;
  const Field failures = field["failuresPer1000Days"].Require();
  const Field repair = field["repairSeconds"].Require();
  rate.per_1000_days = failures.Number();
  if (!(rate.per_1000_days >= 0 && rate.per_1000_days <= fabric::kMostFailuresPer1000Days)) {
    failures.Fail("must be from 0 to 100000");
  }
  rate.repair_seconds = repair.Number(1);
  const auto most = static_cast<double>(api::kSeconds.max);
  if (!(rate.repair_seconds >= 1 && rate.repair_seconds <= most)) {
    repair.Fail("must be from 1 to 2147483647");
  } else if (const std::string why = WhyAlwaysAway(rate); !why.empty()) {
    failures.Fail("is too high: " + why);
  }
  return rate;
}

std::string LevelList(const std::set<std::string>& levels) {
  std::string text;
  for (const std::string& level : levels) text += level + ", ";
  return text + kNode + " and " + kWithoutNode;
}

// The levels whose domains may fail as a whole, widest first.
std::vector<std::string> LevelsOf(const fabric::Fabric& fabric) {
  std::vector<std::string> levels;
  for (const fabric::TierInfo& tier : fabric.tiers()) levels.push_back(tier.name);
  levels.erase(levels.begin());  // outside
  levels.pop_back();             // the node
  return levels;
}

// The path of a rate in the Fabric's manifest: "Fabric x: spec.failureRates[2]".
std::string PathOf(const fabric::Fabric& fabric, std::size_t rate) {
  return "Fabric " + fabric.spec().name + ": spec.failureRates[" + std::to_string(rate) + "]";
}

Status CheckSpecRates(const fabric::Fabric& fabric) {
  const std::vector<fabric::FailureRateSpec>& rates = fabric.spec().failure_rates;
  for (std::size_t r = 0; r < rates.size(); ++r) {
    const std::string& level = rates[r].level;
    const bool known = level == kNode || fabric.FindTier(level) ||
                       (fabric.spec().scale_up && fabric.spec().scale_up->name == level);
    if (!known) {
      return Invalid(PathOf(fabric, r) + ".level: the preset " + fabric.spec().preset +
                     " has no level " + level);
    }
    if (level != kNode && !fabric.FindTier(level)) {
      return Invalid(PathOf(fabric, r) + ".level: the domains of " + level +
                     " cross the levels of this fabric, so that their failures cannot be counted "
                     "beside those of a level");
    }
    const std::string why = WhyAlwaysAway({rates[r].per_1000_days, rates[r].repair_seconds});
    if (!why.empty()) return Invalid(PathOf(fabric, r) + ".per1000Days: " + why);
  }
  return {};
}

std::optional<AwayRate> SpecRate(const fabric::Fabric& fabric, const std::string& level) {
  for (const fabric::FailureRateSpec& one : fabric.spec().failure_rates) {
    if (one.level == level) return AwayRate{one.per_1000_days, one.repair_seconds};
  }
  return std::nullopt;
}

// The rate, the time of repair and the share, each from the first that names it.
void SetNodeRate(const fabric::Fabric& fabric, const FailureSources& sources, FailureModel& model) {
  const auto of_fabric = SpecRate(fabric, kNode);
  const bool in_file = sources.file && sources.file->node;
  const std::string fabric_name = "Fabric " + fabric.spec().name;
  model.node = {outlook::FailureRates().per_1000_node_days, outlook::kRepairSeconds};
  if (of_fabric) {
    model.node = *of_fabric;
    model.from = model.repair_from = fabric_name;
  }
  if (in_file) {
    model.node = *sources.file->node;
    model.share_without_node = sources.file->share_without_node;
    model.from = model.repair_from = sources.file->name;
  }
  if (sources.per_1000_node_days) {
    model.node.per_1000_days = *sources.per_1000_node_days;
    model.from = "--failures";
  }
  if (sources.repair_seconds) {
    model.node.repair_seconds = *sources.repair_seconds;
    model.repair_from = "--repair-seconds";
  }
  model.assumed = model.from.empty();
}

}  // namespace

Result<FailureFile> DecodeFailureFile(const nlohmann::json& document, const std::string& place,
                                      const std::set<std::string>& levels) {
  api::Decoding decoding(document, place);
  const Field root = decoding.Root();
  FailureFile file;
  file.name = place;
  for (const Field& member : root.Members()) {
    const std::string key(member.key());
    if (key == kNode) {
      file.node = RateAt(member);
    } else if (key == kWithoutNode) {
      file.share_without_node = member.Number();
      const bool share = file.share_without_node >= 0 && file.share_without_node <= 1;
      if (!share) member.Fail("must be from 0 to 1");
    } else if (levels.contains(key)) {
      file.levels.push_back({key, RateAt(member)});
    } else {
      member.Fail("is not a level of the Fabric; the file may name " + LevelList(levels));
    }
  }
  if (file.share_without_node > 0 && !file.node) root[kWithoutNode].Fail("needs the rate of node");
  if (Status status = decoding.status(); !status) return status.error();
  return file;
}

AwayRate FailureModel::Away() const {
  return {node.per_1000_days * (1 - share_without_node), node.repair_seconds};
}

const AwayRate* FailureModel::Find(const std::string& level) const {
  const auto found = std::find_if(levels.begin(), levels.end(),
                                  [&](const LevelRate& one) { return one.level == level; });
  return found == levels.end() ? nullptr : &found->rate;
}

Result<FailureModel> FailureModelOf(const fabric::Fabric& fabric, const FailureSources& sources) {
  if (const Status known = CheckSpecRates(fabric); !known) return known.error();
  FailureModel model;
  SetNodeRate(fabric, sources, model);
  if (const std::string why = WhyAlwaysAway(model.node); !why.empty()) {
    return Invalid((sources.per_1000_node_days ? "--failures: " : "--repair-seconds: ") + why);
  }
  for (const std::string& level : LevelsOf(fabric)) {
    std::optional<AwayRate> rate = SpecRate(fabric, level);
    if (sources.file) {
      for (const LevelRate& one : sources.file->levels) {
        if (one.level == level) rate = one.rate;
      }
    }
    if (rate) model.levels.push_back({level, *rate});
  }
  return model;
}

}  // namespace weft::report
