#pragma once

#include <string>

#include "operator/api/meta.h"
#include "operator/fabric/node_facts.h"

namespace weft::api {

struct Node {
  Place place;
  ObjectMeta meta;         // name and uid only; labels are in facts
  std::string unreadable;  // why only its name is known; "" if all is known
  fabric::NodeFacts facts;
};

}  // namespace weft::api
