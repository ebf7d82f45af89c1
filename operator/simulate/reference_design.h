#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/manifest/imported_cluster.h"

namespace weft::simulate {

// A published way to build a training cluster, as far as a placement can see it.
struct Design {
  std::string_view name;  // as users type it
  std::string_view summary;
  std::string_view source;
  int default_nodes;
  int gpus_per_node;
};

std::span<const Design> Designs();

struct DesignOptions {
  std::string design;
  int nodes = 0;               // 0: the design's default
  int fragmented_percent = 0;  // of all accelerators, held by running pods of earlier jobs
  std::uint64_t seed = 1;      // of the earlier jobs
  int gpus_per_node = 0;       // 0: the design's own
};

inline constexpr int kMaxDesignNodes = 1 << 20;

// Nodes, Fabric and the pods of earlier jobs, deterministic from the options. The last domain of
// each level is partial where `nodes` is no multiple of it.
//
// Errors  kInvalid, naming the flag: an unknown design (with the known ones), a number out of
//         range.
// Cost    O(nodes * labels).
Result<manifest::ImportedCluster> GenerateDesign(const DesignOptions& options);

}  // namespace weft::simulate
