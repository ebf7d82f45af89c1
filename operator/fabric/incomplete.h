#pragma once

#include <string>
#include <vector>

namespace weft::fabric {

// A node that lacks a label, or whose labels contradict those of another node.
struct IncompleteNode {
  std::string node;
  std::string missing;  // the level's name
  std::string label_key;
  std::string why;  // "" if the label is missing, else e.g. "one value under two parents"
};

// Nodes of one kind, none of which has the labels of this level and the narrower ones, although
// nodes of other kinds have them. They are one domain of each of these levels: a flat pool.
struct UnlabelledKind {
  std::string kind;                // "NVIDIA-L40S", "A100 on a2-highgpu-1g" (LabelDepth)
  std::string level;               // the widest that they lack
  std::string label_key;           // of that level
  std::vector<std::string> nodes;  // by name
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
