#pragma once

#include <string>

#include "operator/import/imported_cluster.h"

namespace weft::testing {

// "n1:core/spine/leaf n2:..." in the order of the nodes: the path of each from the widest level
// inwards; or the message of the error.
inline std::string PathsOf(const Result<import::ImportedCluster>& cluster) {
  if (!cluster) return cluster.error().message;
  std::string out;
  for (const fabric::NodeFacts& node : cluster->nodes) {
    out += (out.empty() ? "" : " ") + node.name + ":";
    for (const fabric::LevelSpec& level : cluster->fabric.levels) {
      if (level.name != cluster->fabric.levels.front().name) out += "/";
      out += *node.labels.At(level.label_key);
    }
  }
  return out;
}

}  // namespace weft::testing
