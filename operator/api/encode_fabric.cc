#include <cmath>
#include <utility>

#include "operator/api/encode.h"
#include "operator/api/encode_parts.h"
#include "operator/api/names.h"
#include "operator/base/quantity.h"

namespace weft::api {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson EncodeLink(const fabric::LinkSpec& link) {
  const fabric::LinkSpec plain;
  OrderedJson out = OrderedJson::object();
  PutText(out, "type", link.type);
  if (link.bandwidth_per_gpu) out["bandwidthPerGPU"] = FormatQuantity(*link.bandwidth_per_gpu);
  if (link.oversubscription_percent != plain.oversubscription_percent) {
    out["oversubscriptionPercent"] = link.oversubscription_percent;
  }
  PutOptional(out, "latencyNanoseconds", link.latency_nanoseconds);
  return out;
}

OrderedJson EncodeLevel(const fabric::LevelSpec& level) {
  OrderedJson out = {{"name", level.name}};
  PutText(out, "labelKey", level.label_key);
  out["identity"] = NameOf(kIdentityNames, level.identity);
  if (level.link) out["link"] = EncodeLink(*level.link);
  PutOptional(out, "powerWatts", level.power_watts);
  return out;
}

OrderedJson EncodeScaleUp(const fabric::ScaleUpSpec& scale_up) {
  OrderedJson out = {{"name", scale_up.name}, {"labelKey", scale_up.label_key}};
  if (scale_up.link) out["link"] = EncodeLink(*scale_up.link);
  out["requires"] = NameOf(kScaleUpRequiresNames, scale_up.requires_claim);
  return out;
}

OrderedJson EncodeTorus(const fabric::TorusSpec& torus) {
  OrderedJson out = {{"name", torus.name}};
  for (const fabric::TorusDimension& dimension : torus.dimensions) {
    out["dimensions"].push_back(
        {{"labelKey", dimension.label_key}, {"size", dimension.size}, {"wraps", dimension.wraps}});
  }
  PutText(out, "level", torus.level);
  for (const fabric::TorusShapeSpec& shape : torus.shapes) {
    OrderedJson one = {{"domains", shape.domains}, {"sizes", shape.sizes}};
    if (!shape.wraps.empty()) one["wraps"] = shape.wraps;
    out["shapes"].push_back(std::move(one));
  }
  if (torus.link) out["link"] = EncodeLink(*torus.link);
  return out;
}

OrderedJson EncodePlane(const fabric::PlaneSpec& plane) {
  OrderedJson out = {{"name", plane.name}, {"labelKey", plane.label_key}};
  if (plane.link) out["link"] = EncodeLink(*plane.link);
  return out;
}

OrderedJson EncodeRails(const fabric::RailsSpec& rails) {
  OrderedJson out = {{"count", rails.count}};
  if (!rails.leaf_label_keys.empty()) out["leafLabelKeys"] = rails.leaf_label_keys;
  return out;
}

OrderedJson EncodeUnusable(const fabric::UnusableRules& rules) {
  OrderedJson out = OrderedJson::object();
  for (const fabric::TaintMatch& taint : rules.taints) {
    OrderedJson one = {{"key", taint.key}};
    PutText(one, "value", taint.value);
    PutText(one, "effect", taint.effect);
    out["taints"].push_back(std::move(one));
  }
  for (const fabric::ConditionMatch& condition : rules.conditions) {
    out["conditions"].push_back({{"type", condition.type}, {"status", condition.status}});
  }
  for (const fabric::LabelMatch& label : rules.labels) {
    OrderedJson one = {{"key", label.key}};
    PutText(one, "value", label.value);
    out["labels"].push_back(std::move(one));
  }
  if (!rules.known_signals) out["healthSignals"] = "None";
  return out;
}

OrderedJson EncodeProduct(const fabric::AcceleratorSpec& one) {
  OrderedJson out = {{"name", one.name}};
  if (!one.products.empty()) out["products"] = one.products;
  const std::pair<const char*, std::int64_t> peaks[] = {{"fp32", one.fp32},
                                                        {"tf32", one.tf32},
                                                        {"bf16", one.bf16},
                                                        {"fp8", one.fp8},
                                                        {"fp4", one.fp4}};
  for (const auto& [name, peak] : peaks) {
    if (peak > 0) out["peakFLOPS"][name] = FormatQuantity(peak);
  }
  out["memory"] = FormatQuantity(one.memory_bytes);
  out["memoryBandwidth"] = FormatQuantity(one.memory_bytes_per_second);
  out["powerWatts"] = one.watts;
  PutText(out, "calibratedAs", one.calibrated_as);
  PutText(out, "source", one.source);
  return out;
}

}  // namespace

OrderedJson EncodeFabricSpec(const fabric::FabricSpec& spec) {
  OrderedJson out = OrderedJson::object();
  PutText(out, "preset", spec.preset);
  if (spec.node_selector) out["nodeSelector"] = EncodeLabelSelector(*spec.node_selector);
  if (!spec.preset.empty()) {
    for (const fabric::LevelSpec& level : spec.levels) {
      if (!level.power_watts) continue;
      out["powerLimits"].push_back({{"level", level.name}, {"watts", *level.power_watts}});
    }
  } else {
    out["levels"] = OrderedJson::array();
    for (const fabric::LevelSpec& level : spec.levels) out["levels"].push_back(EncodeLevel(level));
  }
  if (spec.outside) out["outside"] = EncodeLink(*spec.outside);
  if (spec.scale_up) out["scaleUp"] = EncodeScaleUp(*spec.scale_up);
  if (spec.torus) out["torus"] = EncodeTorus(*spec.torus);
  for (const fabric::PlaneSpec& plane : spec.planes) out["planes"].push_back(EncodePlane(plane));
  if (spec.node_link) out["nodeLink"] = EncodeLink(*spec.node_link);
  if (spec.rails) out["rails"] = EncodeRails(*spec.rails);
  OrderedJson unusable = EncodeUnusable(spec.unusable);
  if (!unusable.empty()) out["unusable"] = std::move(unusable);
  out["costTolerancePercent"] = spec.cost_tolerance_percent;
  PutText(out, "acceleratorModel", spec.accelerator_model);
  for (const std::string& name : spec.accelerator_resources) {
    out["acceleratorResources"].push_back(name);
  }
  for (const fabric::AcceleratorSpec& one : spec.accelerators) {
    out["accelerators"].push_back(EncodeProduct(one));
  }
  if (const auto& pool = spec.pooled_memory) {
    out["pooledMemory"] = {{"perGPU", FormatQuantity(pool->bytes_per_gpu)},
                           {"bandwidthPerGPU", FormatQuantity(pool->bytes_per_second_per_gpu)}};
  }
  for (const fabric::EnvironmentVariable& variable : spec.environment) {
    out["environment"].push_back({{"name", variable.name}, {"value", variable.value}});
  }
  for (const fabric::FailureRateSpec& rate : spec.failure_rates) {
    out["failureRates"].push_back({{"level", rate.level},
                                   {"per1000Days", rate.per_1000_days},
                                   {"repairSeconds", std::llround(rate.repair_seconds)}});
  }
  return out;
}

OrderedJson EncodeFabric(const Fabric& fabric) {
  OrderedJson out = EncodeHead("Fabric", fabric.meta);
  out["spec"] = EncodeFabricSpec(fabric.spec);
  return out;
}

}  // namespace weft::api
