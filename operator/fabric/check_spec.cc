#include "operator/fabric/check_spec.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>

#include "operator/fabric/torus.h"
#include "operator/fabric/torus_shapes.h"

namespace weft::fabric {
namespace {

std::string LevelPath(std::size_t level) { return "spec.levels[" + std::to_string(level) + "]"; }

bool IsInteger(const std::string& text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

bool DerivedFromRails(const FabricSpec& spec, std::size_t level) {
  return level + 1 == spec.levels.size() && spec.rails && !spec.rails->leaf_label_keys.empty();
}

Status CheckLevels(const FabricSpec& spec) {
  std::set<std::string> names, keys;
  for (std::size_t l = 0; l < spec.levels.size(); ++l) {
    const LevelSpec& level = spec.levels[l];
    if (level.name.empty()) return Invalid(LevelPath(l) + ".name: required");
    if (level.name == "node" || level.name == "outside" ||
        (spec.scale_up && level.name == spec.scale_up->name)) {
      return Invalid(LevelPath(l) + ".name: \"" + level.name + "\" is reserved");
    }
    if (!names.insert(level.name).second) {
      return Invalid(LevelPath(l) + ".name: \"" + level.name +
                     "\" is already the name of a wider level");
    }
    if (level.label_key.empty()) {
      if (DerivedFromRails(spec, l)) continue;
      return Invalid(LevelPath(l) + ".labelKey: required");
    }
    if (!keys.insert(level.label_key).second) {
      return Invalid(LevelPath(l) + ".labelKey: \"" + level.label_key +
                     "\" is already the key of a wider level");
    }
  }
  return {};
}

Status CheckScaleUp(const ScaleUpSpec& scale_up) {
  if (scale_up.name.empty()) return Invalid("spec.scaleUp.name: required");
  if (scale_up.name == "node" || scale_up.name == "outside") {
    return Invalid("spec.scaleUp.name: \"" + scale_up.name + "\" is reserved");
  }
  if (scale_up.label_key.empty()) return Invalid("spec.scaleUp.labelKey: required");
  return {};
}

Status CheckDimensions(const TorusSpec& torus) {
  const std::size_t count = torus.dimensions.size();
  if (count < 1 || count > kTorusDimensions) {
    return Invalid("spec.torus.dimensions: must have 1 to " + std::to_string(kTorusDimensions) +
                   " entries, has " + std::to_string(count));
  }
  std::set<std::string> keys;
  std::uint64_t places = 1;
  for (std::size_t d = 0; d < count; ++d) {
    const TorusDimension& dimension = torus.dimensions[d];
    const std::string path = "spec.torus.dimensions[" + std::to_string(d) + "]";
    if (dimension.label_key.empty()) return Invalid(path + ".labelKey: required");
    if (!keys.insert(dimension.label_key).second) {
      return Invalid(path + ".labelKey: \"" + dimension.label_key +
                     "\" is already the key of another dimension");
    }
    if (dimension.size < 1 || dimension.size > kTorusSizeAtMost) {
      return Invalid(path + ".size: " + std::to_string(dimension.size) + " is not from 1 to " +
                     std::to_string(kTorusSizeAtMost));
    }
    places *= dimension.size;
  }
  if (places <= kTorusPlacesAtMost) return {};
  return Invalid("spec.torus.dimensions: " + std::to_string(places) + " places are more than the " +
                 std::to_string(kTorusPlacesAtMost) + " that a torus may have");
}

Status CheckTorus(const FabricSpec& spec) {
  const TorusSpec& torus = *spec.torus;
  if (torus.name.empty()) return Invalid("spec.torus.name: required");
  if (torus.name == "node" || torus.name == "outside" ||
      (spec.scale_up && torus.name == spec.scale_up->name)) {
    return Invalid("spec.torus.name: \"" + torus.name + "\" is reserved");
  }
  const auto is_level = [&](const std::string& name) {
    return std::any_of(spec.levels.begin(), spec.levels.end(),
                       [&](const LevelSpec& level) { return level.name == name; });
  };
  if (is_level(torus.name)) {
    return Invalid("spec.torus.name: \"" + torus.name + "\" is already the name of a level");
  }
  if (Status status = CheckDimensions(torus); !status) return status;
  if (Status status = CheckTorusShapes(torus); !status) return status;
  // The levels of a preset are only known together with the nodes.
  if (torus.level.empty() || !spec.preset.empty() || is_level(torus.level)) return {};
  return Invalid("spec.torus.level: \"" + torus.level + "\" is not the name of a level");
}

Status CheckPlanes(const FabricSpec& spec) {
  if (spec.planes.size() > kMostPlanes) {
    return Invalid("spec.planes: " + std::to_string(spec.planes.size()) + " are more than " +
                   std::to_string(kMostPlanes));
  }
  std::set<std::string> names = {"node", "outside"};
  for (const LevelSpec& level : spec.levels) names.insert(level.name);
  if (spec.scale_up) names.insert(spec.scale_up->name);
  if (spec.torus) names.insert(spec.torus->name);
  for (std::size_t p = 0; p < spec.planes.size(); ++p) {
    const PlaneSpec& plane = spec.planes[p];
    const std::string path = "spec.planes[" + std::to_string(p) + "]";
    if (plane.name.empty()) return Invalid(path + ".name: required");
    if (!names.insert(plane.name).second) {
      return Invalid(path + ".name: \"" + plane.name +
                     "\" is reserved or already the name of another network");
    }
    if (plane.label_key.empty()) return Invalid(path + ".labelKey: required");
  }
  return {};
}

Status CheckRails(const FabricSpec& spec) {
  const RailsSpec& rails = *spec.rails;
  if (rails.count < 1) {
    return Invalid("spec.rails.count: " + std::to_string(rails.count) + " is below 1");
  }
  if (rails.leaf_label_keys.empty()) return {};
  if (rails.leaf_label_keys.size() != static_cast<std::size_t>(rails.count)) {
    return Invalid("spec.rails.leafLabelKeys: " + std::to_string(rails.leaf_label_keys.size()) +
                   " keys for " + std::to_string(rails.count) + " rails");
  }
  if (spec.levels.empty() || !spec.preset.empty()) {
    return Invalid(
        "spec.rails.leafLabelKeys: needs a level: the leaves define the domains of the narrowest "
        "one");
  }
  std::set<std::string> keys;
  for (std::size_t k = 0; k < rails.leaf_label_keys.size(); ++k) {
    const std::string& key = rails.leaf_label_keys[k];
    const std::string path = "spec.rails.leafLabelKeys[" + std::to_string(k) + "]: ";
    if (key.empty()) return Invalid(path + "required");
    if (!keys.insert(key).second) return Invalid(path + "\"" + key + "\" is given twice");
  }
  return {};
}

Status CheckSelector(const LabelSelector& selector) {
  for (std::size_t e = 0; e < selector.match_expressions.size(); ++e) {
    const SelectorExpression& expression = selector.match_expressions[e];
    const std::string path = "spec.nodeSelector.matchExpressions[" + std::to_string(e) + "]";
    const std::size_t values = expression.values.size();
    if (expression.key.empty()) return Invalid(path + ".key: required");
    if (expression.op == "In" || expression.op == "NotIn") {
      if (values == 0) return Invalid(path + ".values: required with operator " + expression.op);
    } else if (expression.op == "Exists" || expression.op == "DoesNotExist") {
      if (values != 0) return Invalid(path + ".values: not allowed with operator " + expression.op);
    } else if (expression.op == "Gt" || expression.op == "Lt") {
      if (values != 1 || !IsInteger(expression.values[0])) {
        return Invalid(path + ".values: must be one integer with operator " + expression.op);
      }
    } else {
      return Invalid(path + ".operator: \"" + expression.op +
                     "\" is not one of In, NotIn, Exists, DoesNotExist, Gt, Lt");
    }
  }
  return {};
}

// The levels of a preset are only known together with the nodes.
Status CheckFailureRates(const FabricSpec& spec) {
  if (!spec.preset.empty()) return {};
  std::set<std::string> names = {"node"};
  for (const LevelSpec& level : spec.levels) names.insert(level.name);
  if (spec.scale_up) names.insert(spec.scale_up->name);
  for (std::size_t r = 0; r < spec.failure_rates.size(); ++r) {
    const std::string& level = spec.failure_rates[r].level;
    if (names.contains(level)) continue;
    return Invalid("spec.failureRates[" + std::to_string(r) + "].level: \"" + level +
                   "\" is neither the name of a level nor node");
  }
  return {};
}

}  // namespace

Status CheckSpec(const FabricSpec& spec) {
  if (spec.scale_up) {
    if (Status status = CheckScaleUp(*spec.scale_up); !status) return status;
  }
  // With a preset, the levels are only limits of power (presets.h).
  if (spec.preset.empty()) {
    if (Status status = CheckLevels(spec); !status) return status;
  }
  if (spec.rails) {
    if (Status status = CheckRails(spec); !status) return status;
  }
  if (spec.torus) {
    if (Status status = CheckTorus(spec); !status) return status;
  }
  if (Status status = CheckPlanes(spec); !status) return status;
  if (Status status = CheckFailureRates(spec); !status) return status;
  if (spec.node_selector) {
    if (Status status = CheckSelector(*spec.node_selector); !status) return status;
  }
  if (spec.cost_tolerance_percent < 0) {
    return Invalid("spec.costTolerancePercent: " + std::to_string(spec.cost_tolerance_percent) +
                   " is negative");
  }
  return {};
}

}  // namespace weft::fabric
