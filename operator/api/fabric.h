#pragma once

#include <string>

#include "operator/api/meta.h"
#include "operator/fabric/spec.h"

namespace weft::api {

struct Fabric {
  Place place;
  ObjectMeta meta;
  // Why the spec cannot be read; "" if it can. If set, all fields of the spec are defaults.
  std::string unreadable;
  fabric::FabricSpec spec;
  Raw raw;
};

}  // namespace weft::api
