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
  return {};
}

Status SlurmDomains::AddChildren(std::string_view list, const std::string& where) {
  auto children = ExpandHostList(list, kMaxImportedNodes);
  if (!children) return children.error();
  links_ += children->size();
  if (links_ > kMaxImportedNodes) return Invalid("too many switches");
  for (const std::string& child : *children) {
    children_.emplace(child, where);
    tree_.Link(at_, tree_.Intern(child));
  }
  return {};
}

Status SlurmDomains::AddNodes(std::string_view list, const std::string& where) {
  auto nodes = ExpandHostList(list, kMaxImportedNodes - nodes_.size());
  if (!nodes) return nodes.error();
  for (const std::string& node : *nodes) {
    const auto [seen, fresh] = nodes_.emplace(LowerCase(node), where);
    if (!fresh) return Invalid("node " + Quoted(node) + " is already in " + seen->second);
    tree_.Attach(node, at_);
  }
  return {};
}

Result<ImportedCluster> SlurmDomains::Finish(const std::string& whole,
                                             const ImportOptions& options) {
  for (const auto& [child, where] : children_) {
    if (!defined_.contains(child)) {
      return Invalid(where + ": " + Quoted(child) + " is defined nowhere");
    }
  }
  if (nodes_.empty()) return Invalid(whole + "no switch or block names a node");
  Result<SwitchTree::Paths> paths = tree_.Resolve();
  if (!paths) return Invalid(whole + paths.error().message);
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
