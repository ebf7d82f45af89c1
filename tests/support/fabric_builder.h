#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"
#include "tests/support/fabric_shape.h"

// Fabrics for tests, from a compact description. Two ways:
//
//   Cluster c = MakeCluster(Spines({{{{8, 0}, {8, 8}}}, {{{4}}}}));
//
// takes free accelerators per node, indexed [spine][leaf][NVLink domain][node], of 8 on each node;
// what is not free is claimed. Nodes are n0, n1, ... in reading order (zero-padded: n00 where there
// are more than ten), so the NodeIndex of nK is K. Domains are s0, s1, ...; l0, ...; v0, ....
//
//   FabricShape shape{.levels = {{"core", 80'000}, {"leaf", 20'000}}};
//   shape.nodes.push_back({.name = "a", .domains = {"c0", "l3"}, .scale_up = "v1", .used = 2});
//   Cluster c = MakeCluster(shape);
//
// says every node itself, with any number of levels (crossing and missing labels too). The shape
// that Spines() returns may be changed before it is built: link weights, perNode, labels, taints.
namespace weft::testing {

using FreePerNode = std::vector<int>;
using FreePerLeaf = std::vector<FreePerNode>;     // [NVLink domain][node]
using FreePerSpine = std::vector<FreePerLeaf>;    // [leaf][NVLink domain][node]
using FreePerFabric = std::vector<FreePerSpine>;  // [spine][leaf][NVLink domain][node]

// "n07": the prefix and the number, with as many digits as the largest of `count` numbers has.
inline std::string Numbered(const std::string& prefix, std::size_t number, std::size_t count = 1) {
  std::string digits = std::to_string(number);
  const std::size_t width = std::to_string(count == 0 ? 0 : count - 1).size();
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return prefix + digits;
}

// Levels spine and leaf, and nvlink where `scale_up`. `per_node`: accelerators of each node.
inline FabricShape Spines(const FreePerFabric& free, bool scale_up = true, int per_node = 8) {
  std::size_t nodes = 0;
  for (const auto& spine : free) {
    for (const auto& leaf : spine) {
      for (const auto& domain : leaf) nodes += domain.size();
    }
  }
  FabricShape shape;
  shape.scale_up = scale_up;
  std::size_t leaves = 0, domains = 0;
  for (std::size_t s = 0; s < free.size(); ++s) {
    for (const auto& leaf : free[s]) {
      for (const auto& domain : leaf) {
        for (int count : domain) {
          TestNode node;
          node.name = Numbered("n", shape.nodes.size(), nodes);
          node.domains = {Numbered("s", s), Numbered("l", leaves)};
          if (scale_up) node.scale_up = Numbered("v", domains);
          node.accelerators = per_node;
          node.used = per_node - count;
          shape.nodes.push_back(std::move(node));
        }
        ++domains;
      }
      ++leaves;
    }
  }
  return shape;
}

// One spine, no scale-up network: free accelerators [leaf][node].
inline FabricShape Leaves(const std::vector<FreePerNode>& free, int per_node = 8) {
  FreePerSpine spine;
  for (const FreePerNode& leaf : free) spine.push_back({leaf});
  return Spines({spine}, false, per_node);
}

inline fabric::LinkSpec TestLink(std::int64_t femtoseconds_per_byte) {
  constexpr std::int64_t kFemtosecondsPerSecond = 1'000'000'000'000'000;
  return {{}, kFemtosecondsPerSecond / femtoseconds_per_byte, 100, {}};
}

inline std::string TestLabelKey(const std::string& level) { return "test/" + level; }

inline fabric::FabricSpec MakeSpec(const FabricShape& shape) {
  fabric::FabricSpec spec;
  for (const TestLevel& level : shape.levels) {
    spec.levels.push_back({.name = level.name,
                           .label_key = TestLabelKey(level.name),
                           .identity = fabric::Identity::kValue,
                           .link = TestLink(level.femtoseconds_per_byte)});
  }
  spec.outside = TestLink(shape.outside_femtoseconds_per_byte);
  if (shape.scale_up) {
    spec.scale_up = fabric::ScaleUpSpec{.name = "nvlink",
                                        .label_key = TestLabelKey("nvlink"),
                                        .link = TestLink(shape.scale_up_femtoseconds_per_byte),
                                        .requires_claim = shape.scale_up_requires};
  }
  if (!shape.torus.empty()) {
    spec.torus = fabric::TorusSpec{.name = "torus",
                                   .dimensions = shape.torus,
                                   .level = shape.torus_level,
                                   .link = TestLink(shape.hop_femtoseconds_per_byte),
                                   .shapes = shape.torus_shapes};
    for (std::size_t d = 0; d < shape.torus.size(); ++d) {
      spec.torus->dimensions[d].label_key = TestLabelKey("torus-" + std::to_string(d));
    }
  }
  for (const TestLevel& plane : shape.planes) {
    spec.planes.push_back(
        {plane.name, TestLabelKey(plane.name), TestLink(plane.femtoseconds_per_byte)});
  }
  spec.node_link = TestLink(shape.node_femtoseconds_per_byte);
  spec.node_selector = fabric::LabelSelector{};  // every node, whatever it carries
  spec.rails = shape.rails;
  spec.unusable = shape.unusable;
  spec.cost_tolerance_percent = shape.cost_tolerance_percent;
  return spec;
}

// 96 cores, 1 TiB, 110 pods.
inline fabric::NodeFacts MakeNode(const FabricShape& shape, const TestNode& node) {
  fabric::NodeFacts facts;
  facts.name = node.name;
  facts.labels = node.labels;
  for (std::size_t l = 0; l < shape.levels.size() && l < node.domains.size(); ++l) {
    if (!node.domains[l].empty()) {
      facts.labels.Set(TestLabelKey(shape.levels[l].name), node.domains[l]);
    }
  }
  if (!node.scale_up.empty()) facts.labels.Set(TestLabelKey("nvlink"), node.scale_up);
  for (std::size_t d = 0; d < node.torus.size(); ++d) {
    facts.labels.Set(TestLabelKey("torus-" + std::to_string(d)), std::to_string(node.torus[d]));
  }
  facts.taints = node.taints;
  facts.conditions = node.conditions;
  facts.unschedulable = node.unschedulable;
  facts.allocatable = node.allocatable;
  facts.allocatable.insert({{shape.accelerator, node.accelerators},
                            {"cpu", 96'000},
                            {"memory", std::int64_t{1} << 40},
                            {"pods", 110}});
  return facts;
}

inline std::vector<fabric::NodeFacts> MakeNodes(const FabricShape& shape) {
  std::vector<fabric::NodeFacts> nodes;
  for (const TestNode& node : shape.nodes) nodes.push_back(MakeNode(shape, node));
  return nodes;
}

// Aborts with the error where the shape is no fabric: a mistake of the test.
inline Cluster MakeCluster(const FabricShape& shape) {
  auto built = fabric::Fabric::Build(MakeSpec(shape), MakeNodes(shape), {});
  if (!built) {
    std::fprintf(stderr, "the test's fabric: %s\n", built.error().message.c_str());
    std::abort();
  }
  auto fabric = std::make_unique<const fabric::Fabric>(*std::move(built));
  fabric::Claims claims(*fabric);
  for (const TestNode& node : shape.nodes) {
    const auto n = fabric->FindNode(node.name);
    if (n && node.used > 0) claims.Add(*n, {{shape.accelerator, node.used}});
  }
  return {std::move(fabric), std::move(claims)};
}

}  // namespace weft::testing
