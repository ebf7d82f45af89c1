#include "operator/cluster/gang_spec.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/base/phrases.h"
#include "operator/fabric/node_facts.h"
#include "operator/traffic/check_shape.h"
#include "operator/traffic/traffic.h"

namespace weft::cluster {
namespace {

using traffic::Axis;

Error Wrong(std::string_view annotation, const std::string& what) {
  return Invalid("annotation " + std::string(annotation) + ": " + what);
}

// The level's name; "" if the fabric has no level with that label key.
std::string LevelOf(const fabric::FabricSpec& on, std::string_view label_key) {
  for (const fabric::LevelSpec& level : on.levels) {
    if (level.label_key == label_key) return level.name;
  }
  if (on.scale_up && on.scale_up->label_key == label_key) return on.scale_up->name;
  return label_key == fabric::kHostNameLabel ? "node" : "";
}

std::string KeysOf(std::span<const fabric::FabricSpec* const> fabrics) {
  std::vector<std::string> keys;
  const auto add = [&](std::string_view key) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.emplace_back(key);
  };
  for (const fabric::FabricSpec* on : fabrics) {
    for (const fabric::LevelSpec& level : on->levels) add(level.label_key);
    if (on->scale_up) add(on->scale_up->label_key);
  }
  add(fabric::kHostNameLabel);
  std::string text;
  for (const std::string& key : keys) text += (text.empty() ? "" : ", ") + key;
  return text;
}

// A label key and the annotation that names it.
struct NamedKey {
  std::string_view annotation, key;
};

std::vector<NamedKey> KeysIn(const api::GangAnnotations& annotations) {
  std::vector<NamedKey> keys;
  if (!annotations.required_key.empty()) {
    keys.push_back({api::kKueueRequired, annotations.required_key});
  }
  if (!annotations.preferred_key.empty()) {
    keys.push_back({api::kKueuePreferred, annotations.preferred_key});
  }
  for (const api::TopologySlice& slice : annotations.slices) {
    keys.push_back({slice.annotation, slice.label_key});
  }
  return keys;
}

// The fabric whose levels have all the keys.
Result<const fabric::FabricSpec*> FabricWith(const std::vector<NamedKey>& keys,
                                             std::span<const fabric::FabricSpec* const> fabrics,
                                             const std::string& wanted) {
  std::vector<const fabric::FabricSpec*> candidates;
  for (const fabric::FabricSpec* on : fabrics) {
    if (wanted.empty() || on->name == wanted) candidates.push_back(on);
  }
  NamedKey missing = keys.front();
  for (const fabric::FabricSpec* on : candidates) {
    const auto lacks = std::find_if(keys.begin(), keys.end(), [&](const NamedKey& one) {
      return LevelOf(*on, one.key).empty();
    });
    if (lacks == keys.end()) return on;
    missing = *lacks;
  }
  return Wrong(missing.annotation, "no level of a Fabric has the label key " +
                                       std::string(missing.key) + "; known are " +
                                       KeysOf(candidates));
}

// A parallelism whose axes are the slices, nothing else: the first axis is the smallest slice.
traffic::Parallelism OfSlices(const std::vector<api::TopologySlice>& slices,
                              std::uint32_t per_worker) {
  traffic::Parallelism made;
  made.rank_order = {Axis::kTensor, Axis::kContext, Axis::kPipeline, Axis::kData};
  const std::array<std::int64_t*, 3> degrees = {&made.tensor, &made.context, &made.pipeline};
  std::int64_t before = 1;
  for (std::size_t s = 0; s < slices.size(); ++s) {
    const std::int64_t ranks = slices[slices.size() - 1 - s].pods * per_worker;
    *degrees[s] = ranks / before;
    before = ranks;
  }
  return made;
}

// The axes whose ranks are adjacent and that make up `ranks`; nothing if no axes do.
std::optional<std::vector<Axis>> AxesOf(const traffic::Parallelism& on, std::int64_t world,
                                        std::int64_t ranks) {
  const std::int64_t data = world / (on.tensor * on.context * on.pipeline);
  std::vector<Axis> axes;
  std::int64_t product = 1;
  for (const Axis axis : on.rank_order) {
    const std::int64_t degree = axis == Axis::kTensor    ? on.tensor
                                : axis == Axis::kContext ? on.context
                                : axis == Axis::kData    ? data
                                                         : on.pipeline;
    axes.push_back(axis);
    product *= degree;
    if (product == ranks) return axes;
  }
  return std::nullopt;
}

// Adds a topology group for each slice, and the parallelism that the groups need.
Status AddSlices(const api::GangAnnotations& annotations, const fabric::FabricSpec& on,
                 api::Placement& placement) {
  const std::uint32_t per_worker = placement.accelerator.per_worker;
  const std::int64_t world = std::int64_t{placement.workers} * per_worker;
  const auto& slices = annotations.slices;
  if (placement.workers % slices.front().pods != 0) {
    return Wrong(slices.front().annotation, "slices of " + CountText(slices.front().pods, "pod") +
                                                " do not divide the gang's " +
                                                CountText(placement.workers, "pod"));
  }
  if (!annotations.parallelism) placement.parallelism = OfSlices(slices, per_worker);
  for (const api::TopologySlice& slice : slices) {
    const auto axes = AxesOf(placement.parallelism, world, slice.pods * per_worker);
    if (!axes) {
      return Wrong(slice.annotation, "no axes of weft.dev/parallelism are adjacent ranks of " +
                                         CountText(slice.pods, "pod") +
                                         "; give weft.dev/topology instead");
    }
    placement.topology.groups.push_back({*axes, LevelOf(on, slice.label_key), ""});
  }
  return {};
}

// "parallelism.expert: 3 must ..." becomes "annotation weft.dev/parallelism: expert: 3 must ...".
Status CheckShape(const api::Placement& placement) {
  Status shape = traffic::CheckShape(placement.model, placement.parallelism, placement.workers,
                                     placement.accelerator.per_worker);
  if (shape) return {};
  const std::string& why = shape.error().message;
  const std::size_t end = why.find_first_of(".:");
  const std::size_t rest = end == why.npos ? why.npos : why.find_first_not_of(".: ", end);
  if (rest == why.npos) return shape;
  return Wrong("weft.dev/" + why.substr(0, end), why.substr(rest));
}

}  // namespace

std::optional<api::Accelerator> AcceleratorOf(const fabric::Resources& requests,
                                              std::span<const std::string> more) {
  // Those that Weft knows first: what others name must not change what a gang asks for.
  for (const bool known : {true, false})
    for (const auto& [name, amount] : requests) {
      if (amount < 1 || amount > std::numeric_limits<std::int32_t>::max()) continue;
      if (known ? !fabric::IsAcceleratorResource(name) : !fabric::IsAcceleratorResource(name, more))
        continue;
      api::Accelerator accelerator{.resource_name = name,
                                   .per_worker = static_cast<std::uint32_t>(amount)};
      if (name.starts_with(api::kClassResourcePrefix)) {
        accelerator.device_class = name.substr(api::kClassResourcePrefix.size());
      }
      return accelerator;
    }
  return std::nullopt;
}

Status Resolve(const api::GangAnnotations& annotations,
               std::span<const fabric::FabricSpec* const> fabrics, api::Placement& placement) {
  placement.model = annotations.model;
  placement.parallelism = annotations.parallelism.value_or(traffic::Parallelism{});
  placement.topology = annotations.topology.value_or(api::TopologySpec{});
  if (Status shape = CheckShape(placement); !shape) return shape;
  const std::vector<NamedKey> keys = KeysIn(annotations);
  if (keys.empty()) return {};
  const auto on = FabricWith(keys, fabrics, placement.fabric_name);
  if (!on) return on.error();
  if (fabrics.size() > 1) placement.fabric_name = (*on)->name;
  placement.topology.required = LevelOf(**on, annotations.required_key);
  placement.topology.preferred = LevelOf(**on, annotations.preferred_key);
  return annotations.slices.empty() ? Status() : AddSlices(annotations, **on, placement);
}

}  // namespace weft::cluster
