#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/manifest/imported_cluster.h"

namespace weft::manifest {

// One node of a tree-shaped source.
struct TreeNode {
  std::string name;
  std::vector<std::string> path;  // its domains, widest first; "" where the source has none
  std::map<std::string, std::string> labels = {};
  // The source's data about this node; absent: the same as for every node.
  std::optional<int> gpus = {};
  std::optional<std::int64_t> cpu_millis = {}, memory_bytes = {};
};

// The shape that all paths share; widest first.
struct TreeLevel {
  std::string name, label_key;
};

// The tree as a cluster: one level per path entry, identity Value where every name of the level has
// one parent and Path elsewhere (said in a note, with a witness), names as labels, one to one.
// Precondition: every path is as long as `levels`, node names are unique.
ImportedCluster BuildTree(const std::vector<TreeLevel>& levels, std::vector<TreeNode> nodes,
                          const ImportOptions& options);

// The portable names of `count` levels, widest first: ..., core, spine, leaf.
std::vector<std::string> PortableLevelNames(std::size_t count);

// Switches, their links and the nodes under them, as names; gives every node's path.
//
// A switch with several parents (redundant trunks) makes these parents one domain, named after the
// least of them. Branches of unequal depth are padded: the narrowest level is the node's own
// switch, the widest its root, and a missing switch between is its nearest ancestor.
class SwitchTree {
 public:
  using Index = std::size_t;

  Index Intern(const std::string& name);
  void Link(Index parent, Index child);
  void Attach(const std::string& node, Index at) { attached_.push_back({node, at}); }

  struct Paths {
    std::vector<TreeNode> nodes;
    std::size_t depth = 0;         // entries of every path
    std::size_t merged = 0;        // switches that went into another one's domain
    std::size_t padded_nodes = 0;  // nodes whose branch is shorter than depth
    std::string padded_example;
  };
  // Errors  kInvalid without a place: a cycle, or more than kMaxImportedLevels levels.
  Result<Paths> Resolve();

 private:
  struct Attachment {
    std::string node;
    Index at;
  };

  Index Find(Index at);
  void Unite(Index a, Index b);
  Result<std::vector<std::string>> PathOf(Index at);

  std::map<std::string, Index> by_name_;
  std::vector<std::string> name_;    // by Index; the domain's name at a root of the union
  std::vector<Index> union_parent_;  // disjoint sets of switches that are one domain
  std::vector<Index> tree_parent_;   // by root of the union; kNone at the top
  std::vector<Attachment> attached_;
  std::size_t merged_ = 0;
};

// Notes on what Resolve had to settle.
std::vector<std::string> NotesOn(const SwitchTree::Paths& paths);

}  // namespace weft::manifest
