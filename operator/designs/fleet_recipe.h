#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/designs/design.h"
#include "operator/designs/geometry.h"
#include "operator/fabric/spec.h"

namespace weft::designs {

// One level of a design; a domain has `nodes_each` consecutive nodes.
struct RecipeLevel {
  std::string name;  // the level's name
  std::string label_key;
  std::string domain_prefix;  // "su-" gives su-01, su-02, ...
  int nodes_each = 0;         // 0: one domain has all nodes
  fabric::LinkSpec link;
};

// A torus of nodes in each domain of the widest level: a grid of cubes, each of consecutive nodes.
// From cube to cube the first dimension changes fastest; from node to node inside a cube, the last.
struct RecipeTorus {
  std::array<int, 3> cube{};   // nodes of a cube, by dimension
  std::array<int, 3> cubes{};  // in the torus, by dimension
  fabric::LinkSpec link;
};

// How to build the nodes of one accelerator family and their Fabric.
struct FleetRecipe {
  Design design;
  std::string node_prefix;
  std::string resource;
  std::vector<std::pair<std::string, std::string>> labels;  // of every node
  std::string count_label;                                  // holds the number of accelerators
  std::vector<RecipeLevel> levels;                          // widest first
  fabric::LinkSpec outside;
  fabric::LinkSpec node_link;
  int rails = 0;
  int nodes_per_clique = 0;  // scale-up domain (nvidia.com/gpu.clique); 0: one node
  bool clique_in_name = {};  // node names count cliques as racks: r01-t07
  bool rail_labels = {};     // nodes have a label for the leaf of each rail
  std::optional<RecipeTorus> torus = {};
  std::string accelerator_model = {};  // of the Fabric; "": the nodes have product labels or none
};

// The recipe for a geometry with racks.
FleetRecipe RecipeOf(const Geometry& geometry);

// The recipes of all single-family designs, in the order of Designs(). `nodes` decides whether a
// fabric needs one more tier. Precondition: the design is known and not "mixed".
FleetRecipe RecipeFor(std::string_view design, int nodes);

}  // namespace weft::designs
