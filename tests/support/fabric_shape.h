#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"

// What fabric_builder.h builds fabrics from.
namespace weft::testing {

// Link weights in femtoseconds per byte; 20'000 is 50 GB/s (InfiniBandNDR), 1'111 is 900 GB/s
// (NVLink5). Any weight up to 10^7 comes out of Fabric::Build exactly.
struct TestLevel {
  std::string name;
  std::int64_t femtoseconds_per_byte = 20'000;
};

struct TestNode {
  std::string name = {};
  std::vector<std::string> domains = {};  // one per level, widest first; "" leaves the label out
  std::string scale_up = {};              // "" leaves the label out: a domain of its own
  std::vector<int> torus = {};            // its place; labels test/torus-0, -1, -2
  int accelerators = 8;
  int used = 0;  // claimed by one pod, where above 0
  std::map<std::string, std::string> labels = {};
  std::vector<fabric::Taint> taints = {};
  std::vector<fabric::NodeCondition> conditions = {};
  bool unschedulable = false;
  fabric::Resources allocatable = {};  // beside accelerators, cpu, memory and pods; overrides them
};

struct FabricShape {
  std::vector<TestLevel> levels = {{"spine", 40'000}, {"leaf", 20'000}};  // widest first
  std::int64_t outside_femtoseconds_per_byte = 80'000;
  bool scale_up = false;  // a scale-up network "nvlink", label test/nvlink
  std::int64_t scale_up_femtoseconds_per_byte = 1'111;
  fabric::ScaleUpRequires scale_up_requires = fabric::ScaleUpRequires::kNothing;
  std::vector<fabric::TorusDimension> torus = {};  // label keys may be empty; none: no torus
  std::int64_t hop_femtoseconds_per_byte = 1'667;  // 600 GB/s (ICIv5p)
  std::string torus_level = {};
  std::vector<fabric::TorusShapeSpec> torus_shapes = {};  // of some domains of torus_level
  std::vector<TestLevel> planes = {};  // a node's domain of NAME is its label test/NAME
  std::int64_t node_femtoseconds_per_byte = 1'111;
  std::optional<fabric::RailsSpec> rails = {};
  fabric::UnusableRules unusable = {};
  int cost_tolerance_percent = 1;
  std::string accelerator = "nvidia.com/gpu";
  std::vector<TestNode> nodes = {};
};

// A fabric and the claims on it. Movable: the fabric stays where it is.
struct Cluster {
  std::unique_ptr<const fabric::Fabric> fabric;
  fabric::Claims claims;

  // Throws where there is no such node: a mistake of the test.
  fabric::NodeIndex node(const std::string& name) const { return fabric->FindNode(name).value(); }
};

}  // namespace weft::testing
