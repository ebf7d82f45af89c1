#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/traffic/spec.h"

namespace weft::api {

struct GroupSpec {
  std::vector<traffic::Axis> axes;
  std::string required, preferred;  // level names; "" if absent
  friend bool operator==(const GroupSpec&, const GroupSpec&) = default;
};

struct TopologySpec {
  std::string required, preferred;  // level names; "" if absent
  std::optional<std::int64_t> wait_for_preferred_seconds;
  std::vector<GroupSpec> groups;
  bool compute_domain = false;  // computeDomain: Auto
  friend bool operator==(const TopologySpec&, const TopologySpec&) = default;
};

}  // namespace weft::api
