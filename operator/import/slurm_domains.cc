#include "operator/import/slurm_domains.h"

#include <utility>

#include "operator/import/import_text.h"

namespace weft::import {

Status SlurmDomains::Begin(const std::string& name, const std::string& where) {
  if (name.empty() || name.find_first_of("[],") != std::string::npos) {
    return Invalid(Quoted(name) + " is not the name of one switch or block");
  }
  const auto [seen, fresh] = defined_.emplace(name, where);
  if (!fresh) return Invalid(Quoted(name) + " is already defined in " + seen->second);
  at_ = tree_.Intern(name);
  name_ = name;
  return {};
}

Status SlurmDomains::AddChildren(std::string_view list, const std::string& where) {
  auto children = ExpandHostList(list, kMaxImportedNodes);
  if (!children) return children.error();
  if (children_.size() + children->size() > kMaxImportedNodes) return Invalid("too many switches");
  for (std::string& child : *children) children_.push_back({name_, std::move(child), where});
  return {};
}

Status SlurmDomains::AddNodes(std::string_view list, const std::string& where) {
  auto nodes = ExpandHostList(list, kMaxImportedNodes - nodes_.size());
  if (!nodes) return nodes.error();
  std::string twice;
  std::size_t more = 0;
  for (const std::string& node : *nodes) {
    const auto [seen, fresh] = nodes_.emplace(LowerCase(node), where);
    if (fresh) {
      tree_.Attach(node, at_);
    } else if (twice.empty()) {
      twice = "node " + Quoted(node) + " is already in " + seen->second;
    } else {
      ++more;
    }
  }
  if (more > 0) twice += ", and so are " + std::to_string(more) + " more nodes of the list";
  if (!twice.empty()) skipped_.SkipPart(where, "Nodes: " + twice);
  return {};
}

Status SlurmDomains::AddNodesAbove(const std::string& name, std::string_view list,
                                   const std::string& where) {
  auto nodes = ExpandHostList(list, kMaxImportedNodes);
  if (!nodes) return nodes.error();
  const SwitchTree::Index at = tree_.Intern(name);
  for (const std::string& node : *nodes) {
    if (nodes_.emplace(LowerCase(node), where).second) tree_.Attach(node, at);
  }
  return nodes_.size() <= kMaxImportedNodes ? Status() : Invalid("too many nodes");
}

// A switch may be defined after its parent, so children are linked at the end.
void SlurmDomains::LinkChildren() {
  for (const Child& child : children_) {
    if (!defined_.contains(child.name)) {
      skipped_.SkipPart(child.where, Quoted(child.name) + " is defined nowhere");
    } else if (child.name == child.parent) {
      skipped_.SkipPart(child.where, Quoted(child.name) + " is its own child");
    } else {
      tree_.Link(tree_.Intern(child.parent), tree_.Intern(child.name));
    }
  }
}

Result<ImportedCluster> SlurmDomains::Finish(const std::string& whole,
                                             const ImportOptions& options) {
  LinkChildren();
  if (nodes_.empty()) return Invalid(whole + "no switch or block names a node");
  Result<SwitchTree::Paths> paths = tree_.Resolve();
  if (!paths) {
    return Invalid(defined_[tree_.at_fault()] + ": " + paths.error().message);
  }
  std::vector<TreeLevel> levels;
  for (const std::string& name : PortableLevelNames(paths->depth)) {
    levels.push_back({name, "weft.dev/" + name});
  }
  const std::vector<std::string> notes = NotesOn(*paths);
  ImportedCluster cluster = BuildTree(levels, std::move(paths->nodes), options);
  cluster.notes.insert(cluster.notes.begin(), notes.begin(), notes.end());
  return cluster;
}

std::vector<std::string> NotesOnBlocks(const std::string& sizes) {
  std::vector<std::string> notes = {
      "blocks are the level leaf; where a block is one NVLink domain, make it the Fabric's scaleUp "
      "instead"};
  if (!sizes.empty()) {
    notes.push_back(sizes +
                    ": sizes only group consecutive blocks for Slurm's planning and make no level");
  }
  return notes;
}

}  // namespace weft::import
