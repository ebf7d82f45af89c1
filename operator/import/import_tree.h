#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/import/imported_cluster.h"

namespace weft::import {

// One node of a tree-shaped source.
struct TreeNode {
  std::string name;
  std::vector<std::string> path;  // its domains, widest first; "" if the source has none
  std::map<std::string, std::string> labels = {};
  // The source's data about this node; absent: the default of all nodes.
  std::optional<int> gpus = {};
  std::optional<std::int64_t> cpu_millis = {}, memory_bytes = {};
};

// One level of all paths, widest first.
struct TreeLevel {
  std::string name, label_key;
};

// Makes a cluster with one level per path entry. A level's identity is Value if each of its names
// has one parent, else Path (a note says so, with an example). Names become labels, one to one.
// Precondition: every path is as long as `levels`, and node names are unique.
ImportedCluster BuildTree(const std::vector<TreeLevel>& levels, std::vector<TreeNode> nodes,
                          const ImportOptions& options);

// The label value of each distinct name of a domain in the nodes' paths, as BuildTree writes it.
std::map<std::string, std::string> DomainLabels(const std::vector<TreeNode>& nodes);

// The portable names of `count` levels, widest first: ..., core, spine, leaf.
std::vector<std::string> PortableLevelNames(std::size_t count);

// Switches, their links and the nodes below them, all by name; computes every node's path.
//
// If a switch has several parents (redundant trunks), these parents are one domain, named by the
// least of their names. Branches of unequal depth are padded: a switch stands at the level of the
// longest branch below it, so the narrowest level is the node's own switch and nodes share a level
// exactly where they share a switch; a missing switch is replaced by the one below it.
class SwitchTree {
 public:
  using Index = std::size_t;

  Index Intern(const std::string& name);
  void Link(Index parent, Index child);
  void Attach(const std::string& node, Index at) { attached_.push_back({node, at}); }

  struct Paths {
    std::vector<TreeNode> nodes;
    std::size_t depth = 0;         // entries of every path
    std::size_t merged = 0;        // switches merged into another one's domain
    std::size_t padded_nodes = 0;  // nodes whose branch is shorter than depth
    std::string padded_example;
  };
  // Errors  kInvalid without a place: a cycle, or more than kMaxImportedLevels levels.
  Result<Paths> Resolve();
  const std::string& at_fault() const {
    return at_fault_;
  }  // the switch that Resolve's error names

 private:
  struct Attachment {
    std::string node;
    Index at;
  };

  Index Find(Index at);
  void Unite(Index a, Index b);
  Result<std::vector<std::string>> PathOf(Index at);

  std::map<std::string, Index> by_name_;
  std::vector<std::string> name_;    // by Index; at the root of a set: the domain's name
  std::vector<Index> union_parent_;  // disjoint sets of switches that are one domain
  std::vector<Index> tree_parent_;   // parent of each set, by its root; kNone at the top
  std::vector<Attachment> attached_;
  std::size_t merged_ = 0;
  std::string at_fault_;
};

// Notes about the merging and padding that Resolve did.
std::vector<std::string> NotesOn(const SwitchTree::Paths& paths);

}  // namespace weft::import
