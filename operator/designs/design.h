#pragma once

#include <span>
#include <string_view>

namespace weft::designs {

// A published design of a training cluster, reduced to what matters for placement.
struct Design {
  std::string_view name;  // as users write it
  std::string_view summary;
  std::string_view source;
  int default_nodes;
  int gpus_per_node;
};

std::span<const Design> Designs();

}  // namespace weft::designs
