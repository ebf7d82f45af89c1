#include <algorithm>

#include "operator/api/decode.h"
#include "operator/api/decode_accelerators.h"
#include "operator/api/decode_own.h"
#include "operator/api/decode_topology.h"
#include "operator/api/names.h"
#include "operator/fabric/check_spec.h"
#include "operator/fabric/presets.h"
#include "operator/fabric/resolve_links.h"
#include "operator/fabric/torus.h"

namespace weft::api {
namespace {

std::optional<fabric::LinkSpec> DecodeLink(const Field& field) {
  if (!field.present()) return {};
  field.RefuseUnknown({"type", "bandwidthPerGPU", "oversubscriptionPercent", "latencyNanoseconds"});
  fabric::LinkSpec link;
  link.type = ReadText(field["type"]);
  const Field bandwidth = field["bandwidthPerGPU"];
  link.bandwidth_per_gpu = ReadQuantity(bandwidth);
  if (link.bandwidth_per_gpu && *link.bandwidth_per_gpu < 1) bandwidth.Fail("must be at least 1");
  link.oversubscription_percent =
      field["oversubscriptionPercent"].Int(kOversubscriptionPercent, link.oversubscription_percent);
  link.latency_nanoseconds = field["latencyNanoseconds"].OptionalInt(kNanoseconds);
  return link;
}

std::string ReadTierName(const Field& field) {
  std::string name = ReadLevelName(field);
  if (name == "node" || name == "outside") field.Fail("is reserved");
  return name;
}

fabric::LevelSpec DecodeLevel(const Field& field) {
  field.RefuseUnknown({"name", "labelKey", "identity", "link", "powerWatts"});
  fabric::LevelSpec level;
  level.name = ReadTierName(field["name"].Require());
  level.label_key = ReadLabelKey(field["labelKey"]);
  level.identity = ReadEnum<fabric::Identity>(field["identity"], kIdentityNames);
  level.link = DecodeLink(field["link"]);
  level.power_watts = field["powerWatts"].OptionalInt(kWatts);
  return level;
}

std::optional<fabric::ScaleUpSpec> DecodeScaleUp(const Field& field) {
  if (!field.present()) return {};
  field.RefuseUnknown({"name", "labelKey", "link", "requires"});
  fabric::ScaleUpSpec scale_up;
  if (const Field name = field["name"]; name.present()) scale_up.name = ReadTierName(name);
  scale_up.label_key = ReadLabelKey(field["labelKey"].Require());
  scale_up.link = DecodeLink(field["link"]);
  const auto by_label = scale_up.label_key == fabric::kCliqueLabel
                            ? fabric::ScaleUpRequires::kComputeDomain
                            : fabric::ScaleUpRequires::kNothing;
  scale_up.requires_claim = ReadEnum(field["requires"], kScaleUpRequiresNames, by_label);
  return scale_up;
}

constexpr IntRange kTorusSize = {.min = 1, .max = fabric::kTorusSizeAtMost};

fabric::TorusShapeSpec DecodeShape(const Field& field) {
  if (!field.present()) field.Fail("must be an object");
  field.RefuseUnknown({"domains", "sizes", "wraps"});
  fabric::TorusShapeSpec shape;
  for (const Field& domain : ReadItems(field["domains"].Require(), fabric::kMostDomainsOfShape)) {
    if (!domain.present()) domain.Fail("must be a string");
    shape.domains.push_back(ReadText(domain));
  }
  for (const Field& size : ReadItems(field["sizes"].Require(), fabric::kTorusDimensions)) {
    if (!size.present()) size.Fail("must be a number");
    shape.sizes.push_back(static_cast<std::uint32_t>(size.Int(kTorusSize, kTorusSize.min)));
  }
  for (const Field& wraps : ReadItems(field["wraps"], fabric::kTorusDimensions)) {
    if (!wraps.present()) wraps.Fail("must be true or false");
    shape.wraps.push_back(wraps.Bool(true));
  }
  return shape;
}

std::optional<fabric::TorusSpec> DecodeTorus(const Field& field) {
  if (!field.present()) return {};
  field.RefuseUnknown({"name", "dimensions", "level", "shapes", "link"});
  fabric::TorusSpec torus;
  if (const Field name = field["name"]; name.present()) torus.name = ReadTierName(name);
  const Field dimensions = field["dimensions"].Require();
  for (const Field& item : ReadItems(dimensions, fabric::kTorusDimensions)) {
    if (!item.present()) item.Fail("must be an object");
    item.RefuseUnknown({"labelKey", "size", "wraps"});
    torus.dimensions.push_back({ReadLabelKey(item["labelKey"].Require()),
                                static_cast<std::uint32_t>(item["size"].Require().Int(kTorusSize)),
                                item["wraps"].Bool(true)});
  }
  if (const Field level = field["level"]; level.present()) torus.level = ReadTierName(level);
  for (const Field& shape : ReadItems(field["shapes"], fabric::kMostTorusShapes)) {
    torus.shapes.push_back(DecodeShape(shape));
  }
  torus.link = DecodeLink(field["link"]);
  return torus;
}

std::vector<fabric::PlaneSpec> DecodePlanes(const Field& field) {
  std::vector<fabric::PlaneSpec> planes;
  for (const Field& item : ReadItems(field, fabric::kMostPlanes)) {
    item.RefuseUnknown({"name", "labelKey", "link"});
    planes.push_back({ReadTierName(item["name"].Require()),
                      ReadLabelKey(item["labelKey"].Require()), DecodeLink(item["link"])});
  }
  return planes;
}

std::optional<fabric::RailsSpec> DecodeRails(const Field& field) {
  if (!field.present()) return {};
  field.RefuseUnknown({"count", "leafLabelKeys"});
  fabric::RailsSpec rails;
  rails.count = static_cast<int>(field["count"].Require().Int(kRails));
  for (const Field& key : ReadItems(field["leafLabelKeys"], static_cast<std::size_t>(kRails.max))) {
    if (!key.present()) key.Fail("must be a string");
    rails.leaf_label_keys.push_back(ReadLabelKey(key));
  }
  return rails;
}

fabric::UnusableRules DecodeUnusable(const Field& field) {
  field.RefuseUnknown({"taints", "conditions", "labels", "healthSignals"});
  fabric::UnusableRules rules;
  field["healthSignals"].OneOf({"Known", "None"});
  rules.known_signals = field["healthSignals"].Str("Known") == "Known";
  for (const Field& item : ReadItems(field["taints"], kRulesAtMost)) {
    item.RefuseUnknown({"key", "value", "effect"});
    item["effect"].OneOf({"NoSchedule", "PreferNoSchedule", "NoExecute"});
    rules.taints.push_back(
        {ReadLabelKey(item["key"].Require()), ReadLabelValue(item["value"]), item["effect"].Str()});
  }
  for (const Field& item : ReadItems(field["conditions"], kRulesAtMost)) {
    item.RefuseUnknown({"type", "status"});
    item["status"].OneOf({"True", "False", "Unknown"});
    rules.conditions.push_back({ReadText(item["type"].Require()), item["status"].Str("True")});
  }
  for (const Field& item : ReadItems(field["labels"], kRulesAtMost)) {
    item.RefuseUnknown({"key", "value"});
    rules.labels.push_back({ReadLabelKey(item["key"].Require()), ReadLabelValue(item["value"])});
  }
  return rules;
}

// Limits on levels of a preset are held as levels with nothing else until ExpandPreset.
void DecodePowerLimits(const Field& limits, fabric::FabricSpec& result) {
  if (limits.present() && result.preset.empty()) {
    limits.Fail("is for a preset; a level has its own powerWatts");
  }
  for (const Field& item : ReadItems(limits, kLevelsAtMost)) {
    item.RefuseUnknown({"level", "watts"});
    fabric::LevelSpec level;
    level.name = ReadTierName(item["level"].Require());
    level.power_watts = item["watts"].Require().Int(kWatts);
    const bool twice = std::any_of(result.levels.begin(), result.levels.end(),
                                   [&](const auto& one) { return one.name == level.name; });
    if (twice) item["level"].Fail("is given twice");
    result.levels.push_back(std::move(level));
  }
}

void DecodeLevels(const Field& spec, fabric::FabricSpec& result) {
  const Field preset = spec["preset"], levels = spec["levels"];
  result.preset = ReadText(preset);
  if (preset.present() && result.preset.empty()) preset.Fail("must not be empty");
  if (preset.present() && levels.present()) levels.Fail("must be absent where a preset is given");
  if (!preset.present() && !levels.present()) levels.Fail("is required where no preset is given");
  for (const Field& item : ReadItems(levels, kLevelsAtMost)) {
    if (!item.present()) item.Fail("must be an object");
    result.levels.push_back(DecodeLevel(item));
  }
  DecodePowerLimits(spec["powerLimits"], result);
}

std::optional<fabric::PooledMemorySpec> DecodePooledMemory(const Field& field) {
  if (!field.present()) return {};
  field.RefuseUnknown({"perGPU", "bandwidthPerGPU"});
  const auto read = [&](const char* name) {
    const Field part = field[name].Require();
    const std::int64_t value = ReadQuantity(part).value_or(1);
    if (value < 1) part.Fail("must be at least 1");
    return value;
  };
  return fabric::PooledMemorySpec{read("perGPU"), read("bandwidthPerGPU")};
}

// Checks that shells and container runtimes accept the name of the variable, and that it is not
// reserved by Weft.
void CheckVariableName(const Field& field, const std::string& name) {
  constexpr std::string_view kFirst = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
  constexpr std::string_view kRest =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
  if (name.empty() || name.size() > kTextAtMost || kFirst.find(name.front()) == kFirst.npos ||
      name.find_first_not_of(kRest) != name.npos) {
    field.Fail(
        "must be the name of a variable: letters, digits and '_', not starting with a digit");
  }
  if (name.starts_with("WEFT_")) field.Fail("starts with WEFT_, which is reserved");
}

std::vector<fabric::EnvironmentVariable> DecodeEnvironment(const Field& field) {
  std::vector<fabric::EnvironmentVariable> environment;
  for (const Field& item : ReadItems(field, kRulesAtMost)) {
    item.RefuseUnknown({"name", "value"});
    fabric::EnvironmentVariable variable{item["name"].Require().Str(), ReadText(item["value"])};
    CheckVariableName(item["name"], variable.name);
    const bool twice = std::any_of(environment.begin(), environment.end(),
                                   [&](const auto& one) { return one.name == variable.name; });
    if (twice) item["name"].Fail("is given twice");
    environment.push_back(std::move(variable));
  }
  return environment;
}

std::vector<fabric::FailureRateSpec> DecodeFailureRates(const Field& field) {
  std::vector<fabric::FailureRateSpec> rates;
  for (const Field& item : ReadItems(field, kFailureRatesAtMost)) {
    if (!item.present()) item.Fail("must be an object");
    item.RefuseUnknown({"level", "per1000Days", "repairSeconds"});
    fabric::FailureRateSpec rate;
    rate.level = ReadLevelName(item["level"].Require());
    rate.per_1000_days = item["per1000Days"].Require().Number();
    if (!(rate.per_1000_days >= 0 && rate.per_1000_days <= fabric::kMostFailuresPer1000Days)) {
      item["per1000Days"].Fail("must be from 0 to 100000");
    }
    rate.repair_seconds =
        static_cast<double>(item["repairSeconds"].Require().Int(kSeconds, kSeconds.min));
    const bool twice = std::any_of(rates.begin(), rates.end(),
                                   [&](const auto& one) { return one.level == rate.level; });
    if (twice) item.Fail("has the level of an earlier entry");
    if (rate.level == "outside") item["level"].Fail("is reserved");
    rates.push_back(std::move(rate));
  }
  return rates;
}

fabric::FabricSpec DecodeSpec(const Field& spec) {
  fabric::FabricSpec result;
  spec.Require().RefuseUnknown({"preset", "powerLimits", "nodeSelector", "levels", "outside",
                                "scaleUp", "torus", "planes", "nodeLink", "rails", "unusable",
                                "costTolerancePercent", "acceleratorModel", "acceleratorResources",
                                "accelerators", "pooledMemory", "environment", "failureRates"});
  DecodeLevels(spec, result);
  if (const Field selector = spec["nodeSelector"]; selector.present()) {
    result.node_selector = DecodeStrictSelector(selector, Comparisons::kGtLt);
  }
  result.outside = DecodeLink(spec["outside"]);
  result.scale_up = DecodeScaleUp(spec["scaleUp"]);
  result.torus = DecodeTorus(spec["torus"]);
  result.planes = DecodePlanes(spec["planes"]);
  result.node_link = DecodeLink(spec["nodeLink"]);
  result.rails = DecodeRails(spec["rails"]);
  result.unusable = DecodeUnusable(spec["unusable"]);
  result.cost_tolerance_percent =
      static_cast<int>(spec["costTolerancePercent"].Int(kPercent, result.cost_tolerance_percent));
  result.accelerator_model = ReadText(spec["acceleratorModel"]);
  for (const Field& item : ReadItems(spec["acceleratorResources"], kRulesAtMost)) {
    result.accelerator_resources.push_back(item.Str());
    const std::string& name = result.accelerator_resources.back();
    if (!IsExtendedResource(name) && !name.starts_with(kClassResourcePrefix)) {  // of a snapshot
      item.Fail("must be an extended resource such as example.com/gpu");
    }
  }
  result.accelerators = DecodeAccelerators(spec["accelerators"]);
  result.pooled_memory = DecodePooledMemory(spec["pooledMemory"]);
  result.environment = DecodeEnvironment(spec["environment"]);
  result.failure_rates = DecodeFailureRates(spec["failureRates"]);
  return result;
}

Status CheckPreset(const std::string& preset) {
  std::string known;
  for (const fabric::Preset& one : fabric::Presets()) {
    if (one.name == preset) return {};
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  return Invalid("spec.preset: \"" + preset + "\" must be one of " + known);
}

// Checks that need the whole spec: duplicate names and keys, rails, links of unknown type.
Status CheckWhole(const fabric::FabricSpec& spec) {
  if (!spec.preset.empty()) {
    if (Status status = CheckPreset(spec.preset); !status) return status;
  }
  if (Status status = fabric::CheckSpec(spec); !status) return status;
  const Result<fabric::ResolvedLinks> links = fabric::ResolveLinks(spec);
  if (!links) return links.error();
  return {};
}

// The code that writes a Fabric's status reads the old one from `raw`.
void ReadHeldOf(const Field&, Fabric&) {}

void ReadSpecOf(const Field& root, Fabric& fabric) {
  fabric.spec = DecodeSpec(root["spec"]);
  fabric.spec.name = ReadFabricName(root["metadata"]["name"]);
}

Status Check(const Fabric& fabric) { return CheckWhole(fabric.spec); }

}  // namespace

Result<Fabric> DecodeFabric(const nlohmann::json& object, const Place& place, Reading reading) {
  constexpr OwnKind<Fabric> kParts = {Scope::kCluster, ReadHeldOf, ReadSpecOf, Check};
  return DecodeOwn(kParts, object, place, reading);
}

}  // namespace weft::api
