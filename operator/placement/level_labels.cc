#include "operator/placement/level_labels.h"

#include <set>
#include <string>
#include <vector>

#include "operator/fabric/presets.h"

namespace weft::placement {

using objective::GroupConstraint;
using objective::Request;

namespace {

using Keys = std::vector<std::string>;

// The labels that put a node into a domain of the level: its own, or those of rails, whose sets are
// the narrowest level where no node has its own label.
Keys KeysOf(const fabric::Fabric& fabric, const fabric::LevelSpec& level) {
  const fabric::FabricSpec& spec = fabric.spec();
  const bool narrowest = level.name == spec.levels.back().name;
  if (!narrowest || !spec.rails || spec.rails->leaf_label_keys.empty()) return {level.label_key};
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(fabric.node_count())) {
    const auto value = fabric.node(n).labels.At(level.label_key);
    if (value && !fabric::IsPlaceholder(*value)) return {level.label_key};
  }
  return spec.rails->leaf_label_keys;
}

// The labels of the levels that are required of more than one worker.
std::set<Keys> LabelsOf(const fabric::Fabric& fabric, const Request& request) {
  std::set<Keys> keys;
  if (fabric.unlabelled_kinds().empty()) return keys;
  const auto require = [&](std::optional<fabric::Tier> tier) {
    if (!tier || *tier == fabric::kOutside || *tier >= fabric.node_tier()) return;
    for (const fabric::LevelSpec& level : fabric.spec().levels) {
      if (level.name == fabric.tiers()[*tier].name) keys.insert(KeysOf(fabric, level));
    }
  };
  if (request.workers > 1) require(request.required);
  for (const GroupConstraint& group : request.groups) {
    bool several = false;
    for (std::size_t s = 0; s < group.sets.size(); ++s) several |= group.sets.set(s).size() > 1;
    if (several) require(group.required);
  }
  return keys;
}

}  // namespace

void RequireLevelLabels(const fabric::Fabric& fabric, Request& request) {
  const std::set<Keys> keys = LabelsOf(fabric, request);
  request.pod.level_labels.assign(keys.begin(), keys.end());
}

}  // namespace weft::placement
