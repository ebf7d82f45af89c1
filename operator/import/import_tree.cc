#include "operator/import/import_tree.h"

#include <algorithm>
#include <set>
#include <utility>

#include "operator/import/import_text.h"

namespace weft::import {
namespace {

constexpr SwitchTree::Index kNone = static_cast<SwitchTree::Index>(-1);

// "" if every name of the level has one parent, else a sentence with an example.
std::string SecondParent(const std::vector<TreeNode>& nodes, std::size_t level) {
  std::map<std::string, const TreeNode*> first;
  if (level == 0) return "";
  for (const TreeNode& node : nodes) {
    const std::string& name = node.path[level];
    if (name.empty()) continue;
    const TreeNode* seen = first.emplace(name, &node).first->second;
    const bool same =
        std::equal(seen->path.begin(), seen->path.begin() + static_cast<std::ptrdiff_t>(level),
                   node.path.begin());
    if (!same) {
      return name + " is under " + seen->path[level - 1] + " (" + seen->name + ") and under " +
             node.path[level - 1] + " (" + node.name + ")";
    }
  }
  return "";
}

// Adds a note if a level has fewer names than the next wider one: the columns may be in the wrong
// order.
void NoteOrder(const std::vector<TreeLevel>& levels, const std::vector<TreeNode>& nodes,
               std::vector<std::string>& notes) {
  std::size_t wider = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    std::set<std::string_view> names;
    for (const TreeNode& node : nodes) names.insert(node.path[i]);
    if (i > 0 && names.size() < wider) {
      notes.push_back("level " + levels[i].name + " has " + std::to_string(names.size()) +
                      " names, and the wider level " + levels[i - 1].name + " has " +
                      std::to_string(wider) +
                      ": are the levels in the wrong order? The widest comes first");
      return;
    }
    wider = names.size();
  }
}

void DescribeLevels(const std::vector<TreeLevel>& levels, const std::vector<TreeNode>& nodes,
                    ImportedCluster& cluster) {
  NoteOrder(levels, nodes, cluster.notes);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    fabric::LevelSpec level{levels[i].name, levels[i].label_key, fabric::Identity::kValue, {}};
    const std::string witness = SecondParent(nodes, i);
    if (!witness.empty()) {
      level.identity = fabric::Identity::kPath;
      cluster.notes.push_back("level " + level.name +
                              ": one name under several parents means several domains (identity "
                              "Path): " +
                              witness);
    }
    cluster.fabric.levels.push_back(std::move(level));
    const auto missing = std::count_if(nodes.begin(), nodes.end(),
                                       [&](const TreeNode& node) { return node.path[i].empty(); });
    if (missing > 0) {
      cluster.notes.push_back(std::to_string(missing) + " nodes have no " + levels[i].name +
                              ": they are incomplete, and no worker is placed on them");
    }
  }
}

fabric::NodeFacts FactsOf(const TreeNode& node, const std::string& name,
                          const ImportOptions& options) {
  const int gpus = node.gpus.value_or(options.gpus_per_node.value_or(kDefaultGpusPerNode));
  fabric::NodeFacts facts = MakeNode(name, options.resource_name, gpus);
  if (node.cpu_millis) facts.allocatable["cpu"] = *node.cpu_millis;
  if (node.memory_bytes) facts.allocatable["memory"] = *node.memory_bytes;
  for (const auto& [key, value] : node.labels) facts.labels.Add(key, value);
  return facts;
}

// Of each domain the number of switches on the longest way down to one that nodes are attached to.
std::map<std::string, std::size_t> HeightsOf(const std::vector<TreeNode>& nodes) {
  std::map<std::string, std::size_t> heights;
  for (bool raised = true; raised;) {
    raised = false;
    for (const TreeNode& node : nodes) {
      std::size_t least = 0;
      for (auto name = node.path.rbegin(); name != node.path.rend(); ++name) {
        std::size_t& height = heights[*name];
        raised = raised || height < least;
        height = std::max(height, least);
        least = height + 1;
      }
    }
  }
  return heights;
}

// The path with a name for each level: of the switches that are not above the level the highest,
// else the node's own.
std::vector<std::string> Padded(const std::vector<std::string>& path,
                                const std::map<std::string, std::size_t>& heights,
                                std::size_t depth) {
  std::vector<std::string> padded(depth);
  auto at = path.rbegin();
  for (std::size_t level = 0; level < depth; ++level) {
    while (std::next(at) != path.rend() && heights.at(*std::next(at)) <= level) ++at;
    padded[depth - 1 - level] = *at;
  }
  return padded;
}

}  // namespace

// Names are shortened in sorted order.
std::map<std::string, std::string> DomainLabels(const std::vector<TreeNode>& nodes) {
  std::set<std::string> distinct;
  for (const TreeNode& node : nodes) {
    for (const std::string& name : node.path) {
      if (!name.empty()) distinct.insert(name);
    }
  }
  LabelNames names;
  std::map<std::string, std::string> labels;
  for (const std::string& name : distinct) labels[name] = names.Shorten(name);
  return labels;
}

std::vector<std::string> PortableLevelNames(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t from_leaf = count; from_leaf-- > 0;) {
    names.push_back(from_leaf == 0   ? "leaf"
                    : from_leaf == 1 ? "spine"
                    : from_leaf == 2 ? "core"
                                     : "tier-" + std::to_string(from_leaf));
  }
  return names;
}

ImportedCluster BuildTree(const std::vector<TreeLevel>& levels, std::vector<TreeNode> nodes,
                          const ImportOptions& options) {
  std::sort(nodes.begin(), nodes.end(),
            [](const TreeNode& a, const TreeNode& b) { return a.name < b.name; });
  ImportedCluster cluster;
  cluster.fabric.name = options.fabric_name;
  DescribeLevels(levels, nodes, cluster);
  const std::map<std::string, std::string> labels = DomainLabels(nodes);
  NodeNames names;
  for (const TreeNode& node : nodes) {
    fabric::NodeFacts facts = FactsOf(node, names.Shorten(node.name), options);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      if (!node.path[i].empty()) facts.labels.Set(levels[i].label_key, labels.at(node.path[i]));
    }
    cluster.nodes.push_back(std::move(facts));
  }
  std::sort(cluster.nodes.begin(), cluster.nodes.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  if (names.changed() > 0) {
    cluster.notes.push_back(std::to_string(names.changed()) +
                            " node names do not fit Kubernetes and were shortened one to one");
  }
  const bool told = std::all_of(nodes.begin(), nodes.end(),
                                [](const TreeNode& node) { return node.gpus.has_value(); });
  if (!options.gpus_per_node && !told) {
    cluster.notes.insert(cluster.notes.begin(),
                         "the source does not say how many GPUs a node has: each is given " +
                             std::to_string(kDefaultGpusPerNode) + " " + options.resource_name +
                             "; --gpus-per-node sets another number");
  }
  cluster.notes.emplace_back(kNoLinksNote);
  return cluster;
}

SwitchTree::Index SwitchTree::Intern(const std::string& name) {
  const auto [at, fresh] = by_name_.emplace(name, name_.size());
  if (fresh) {
    union_parent_.push_back(name_.size());
    tree_parent_.push_back(kNone);
    name_.push_back(name);
  }
  return at->second;
}

SwitchTree::Index SwitchTree::Find(Index at) {
  while (union_parent_[at] != at) {
    union_parent_[at] = union_parent_[union_parent_[at]];
    at = union_parent_[at];
  }
  return at;
}

// If two domains are merged, their parents are merged too, and so on up. A worklist makes this
// near-linear.
void SwitchTree::Unite(Index a, Index b) {
  std::vector<std::pair<Index, Index>> work{{a, b}};
  while (!work.empty()) {
    a = Find(work.back().first);
    b = Find(work.back().second);
    work.pop_back();
    if (a == b) continue;
    if (name_[b] < name_[a]) std::swap(a, b);
    union_parent_[b] = a;
    ++merged_;
    if (tree_parent_[a] == kNone) {
      tree_parent_[a] = tree_parent_[b];
    } else if (tree_parent_[b] != kNone) {
      work.push_back({tree_parent_[a], tree_parent_[b]});
    }
  }
}

void SwitchTree::Link(Index parent, Index child) {
  child = Find(child);
  if (tree_parent_[child] == kNone) {
    tree_parent_[child] = parent;
  } else {
    Unite(tree_parent_[child], parent);
  }
}

// The domains from the top down to `at`.
Result<std::vector<std::string>> SwitchTree::PathOf(Index at) {
  std::vector<std::string> path;
  std::set<Index> seen;
  for (at = Find(at);; at = Find(tree_parent_[at])) {
    if (!seen.insert(at).second) {
      at_fault_ = name_[at];
      return Invalid("the switches form a cycle through " + Quoted(name_[at]));
    }
    if (path.size() <= kMaxImportedLevels) path.push_back(name_[at]);
    if (tree_parent_[at] == kNone) break;
  }
  if (path.size() > kMaxImportedLevels) {
    at_fault_ = path.front();
    return Invalid("more than " + std::to_string(kMaxImportedLevels) +
                   " levels of switches above " + Quoted(path.front()));
  }
  std::reverse(path.begin(), path.end());
  return path;
}

Result<SwitchTree::Paths> SwitchTree::Resolve() {
  Paths paths;
  std::map<Index, std::vector<std::string>> by_switch;
  for (const Attachment& attachment : attached_) {
    const Index at = Find(attachment.at);
    auto known = by_switch.find(at);
    if (known == by_switch.end()) {
      Result<std::vector<std::string>> path = PathOf(at);
      if (!path) return path.error();
      known = by_switch.emplace(at, *std::move(path)).first;
    }
    paths.depth = std::max(paths.depth, known->second.size());
    paths.nodes.push_back({attachment.node, known->second, {}});
  }
  const std::map<std::string, std::size_t> heights = HeightsOf(paths.nodes);
  for (TreeNode& node : paths.nodes) {
    if (node.path.size() == paths.depth) continue;
    if (paths.padded_nodes++ == 0 || node.name < paths.padded_example) {
      paths.padded_example = node.name;
    }
    node.path = Padded(node.path, heights, paths.depth);
  }
  paths.merged = merged_;
  return paths;
}

std::vector<std::string> NotesOn(const SwitchTree::Paths& paths) {
  std::vector<std::string> notes;
  if (paths.merged > 0) {
    notes.push_back(std::to_string(paths.merged) +
                    " switches share their children with another one: redundant switches count "
                    "as one domain, named after the first by name");
  }
  if (paths.padded_nodes > 0) {
    notes.push_back(std::to_string(paths.padded_nodes) + " nodes (" + paths.padded_example +
                    "...) are on a branch with fewer than " + std::to_string(paths.depth) +
                    " switches: each missing level gets the name of the switch below it");
  }
  return notes;
}

}  // namespace weft::import
