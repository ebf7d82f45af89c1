#include "operator/placement/level_labels.h"

#include <set>
#include <string>

namespace weft::placement {

using objective::GroupConstraint;
using objective::Request;

namespace {

// The labels of the levels that are required of more than one worker.
std::set<std::string> LabelsOf(const fabric::Fabric& fabric, const Request& request) {
  std::set<std::string> keys;
  if (fabric.unlabelled_kinds().empty()) return keys;
  const auto require = [&](std::optional<fabric::Tier> tier) {
    if (!tier || *tier == fabric::kOutside || *tier >= fabric.node_tier()) return;
    for (const fabric::LevelSpec& level : fabric.spec().levels) {
      if (level.name == fabric.tiers()[*tier].name) keys.insert(level.label_key);
    }
  };
  if (request.workers > 1) require(request.required);
  for (const GroupConstraint& group : request.groups) {
    bool several = false;
    for (std::size_t s = 0; s < group.sets.size(); ++s) several |= group.sets.set(s).size() > 1;
    if (several) require(group.required);
  }
  keys.erase("");
  return keys;
}

}  // namespace

void RequireLevelLabels(const fabric::Fabric& fabric, Request& request) {
  const std::set<std::string> keys = LabelsOf(fabric, request);
  request.pod.level_labels.assign(keys.begin(), keys.end());
}

}  // namespace weft::placement
