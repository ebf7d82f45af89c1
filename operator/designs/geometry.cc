#include "operator/designs/geometry.h"

#include <algorithm>
#include <cstdint>

#include "operator/fabric/link_types.h"

namespace weft::designs {
namespace {

Status CheckLinkType(const char* flag, const std::string& type) {
  if (fabric::FindLinkType(type)) return {};
  std::string known;
  for (const fabric::LinkType& one : fabric::KnownLinkTypes()) {
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  return Invalid(std::string(flag) + ": \"" + type.substr(0, 60) + "\" is not one of " + known);
}

// The flag of the first field that is set; nullptr if there is none.
const char* FirstFlag(const Geometry& geometry) {
  const struct {
    const char* flag;
    bool set;
  } flags[] = {
      {"--racks", geometry.racks > 0},
      {"--nodes-per-rack", geometry.nodes_per_rack > 0},
      {"--racks-per-pod", geometry.racks_per_pod > 0},
      {"--link", !geometry.links.empty()},
      {"--node-link", !geometry.node_link.empty()},
      {"--taper", !geometry.taper_percents.empty()},
      {"--rails", geometry.rails > 0},
      {"--scale-up", geometry.nodes_per_scale_up > 0},
      {"--accelerator", !geometry.accelerator.empty()},
      {"--rack-watts", geometry.rack_watts > 0},
  };
  const auto* found =
      std::find_if(std::begin(flags), std::end(flags), [](const auto& one) { return one.set; });
  return found == std::end(flags) ? nullptr : found->flag;
}

Status CheckTaper(const Geometry& geometry) {
  const std::size_t tiers = geometry.racks_per_pod > 0 ? 2 : 1;
  if (geometry.taper_percents.size() > tiers) {
    return Invalid("--taper: has " + std::to_string(geometry.taper_percents.size()) +
                   " numbers, but the network has " + std::to_string(tiers) +
                   (tiers == 1 ? " tier above the racks; --racks-per-pod adds one"
                               : " tiers above the racks"));
  }
  for (const int percent : geometry.taper_percents) {
    if (Status range = CheckRange("--taper", percent, 1, kMaxTaperPercent); !range) return range;
  }
  return {};
}

// Checks that scale-up domains do not cross the border of a rack halfway.
Status CheckScaleUp(const Geometry& geometry) {
  const int each = geometry.nodes_per_scale_up, rack = geometry.nodes_per_rack;
  if (each == 0 || rack % each == 0 || (each % rack == 0 && each / rack <= geometry.racks)) {
    return {};
  }
  return Invalid("--scale-up: a domain of " + std::to_string(each) + " nodes is not a rack of " +
                 std::to_string(rack) +
                 " nodes (--nodes-per-rack), an equal part of one, or several of the " +
                 std::to_string(geometry.racks) + " racks (--racks)");
}

}  // namespace

Status CheckRange(const char* flag, int value, int low, int high) {
  if (value >= low && value <= high) return {};
  return Invalid(std::string(flag) + ": " + std::to_string(value) + " is not from " +
                 std::to_string(low) + " to " + std::to_string(high));
}

Status CheckGeometry(const Geometry& geometry) {
  if (geometry.racks == 0) {
    if (const char* flag = FirstFlag(geometry)) {
      return Invalid("--racks: is required to describe a network of racks, as " +
                     std::string(flag) + " does");
    }
    return Invalid(
        "--design: is required, or --racks; `weft fabric generate --list` lists designs");
  }
  const std::int64_t nodes = std::int64_t{geometry.racks} * geometry.nodes_per_rack;
  if (nodes > kMaxDesignNodes) {
    return Invalid("--racks: " + std::to_string(nodes) + " nodes are more than the limit of " +
                   std::to_string(kMaxDesignNodes));
  }
  if (Status taper = CheckTaper(geometry); !taper) return taper;
  if (Status rails = CheckRange("--rails", geometry.rails, 0, kMaxRails); !rails) return rails;
  if (Status scale_up = CheckScaleUp(geometry); !scale_up) return scale_up;
  if (geometry.node_link.empty()) return {};
  return CheckLinkType("--node-link", geometry.node_link);
}

Status CheckNoGeometry(const Geometry& geometry) {
  const char* flag = FirstFlag(geometry);
  if (flag == nullptr) return {};
  return Invalid(std::string(flag) + ": describes racks of your own; leave it or --design out");
}

}  // namespace weft::designs
