#pragma once

#include <string>

namespace weft::fabric {

// A node that lacks a label, or whose labels contradict those of another node.
struct IncompleteNode {
  std::string node;
  std::string missing;  // the level's name
  std::string label_key;
  std::string why;  // "" if the label is missing, else e.g. "one value under two parents"
};

// Two nodes whose labels contradict each other: one value of a level under two parents, or two
// nodes at one place of the torus (then the parents are empty). Both are named for a person to
// check.
struct Inconsistency {
  std::string level, value;
  std::string parent_a, node_a;
  std::string parent_b, node_b;
};
std::string Describe(const Inconsistency& found);

}  // namespace weft::fabric
