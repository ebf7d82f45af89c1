#pragma once

#include <span>
#include <string>

#include "operator/fabric/fabric.h"

namespace weft::render {

// How many domains of each level the nodes are in: "1 spine, 2 leaf, 8 node".
std::string SpansOf(const fabric::Fabric& fabric, std::span<const fabric::NodeIndex> nodes);

}  // namespace weft::render
