#pragma once

#include <string>

namespace weft::fabric {

// A node that carries not all labels, or labels that contradict others.
struct IncompleteNode {
  std::string node;
  std::string missing;  // the level's name
  std::string label_key;
  std::string why;  // "" missing, else e.g. "one value under two parents"
};

// Labels that contradict each other: both witnesses, so that a person can look. A level's value
// under two parents; or a place of the torus that two nodes name, which has no parents.
struct Inconsistency {
  std::string level, value;
  std::string parent_a, node_a;
  std::string parent_b, node_b;
};
std::string Describe(const Inconsistency& found);

}  // namespace weft::fabric
