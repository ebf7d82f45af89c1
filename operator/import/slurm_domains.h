#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/import/import_tree.h"
#include "operator/import/imported_cluster.h"
#include "operator/import/skipped_lines.h"

namespace weft::import {

// The switches or blocks of a Slurm topology and the nodes below them, from either of Slurm's
// files. Lists are Slurm host lists: "n[01-04],login".
//
// `where` is a place in the file for later messages: "line 12". A node that a second domain names,
// a child that is defined nowhere and a switch that is its own child are left out and noted in
// `skipped`: Slurm warns of the first and refuses the others.
// Errors  kInvalid without the file's name; also without a place if the caller knows it.
// Source  SchedMD/slurm src/plugins/topology/tree/switch_record.c, switch_record_validate.
class SlurmDomains {
 public:
  explicit SlurmDomains(SkippedLines& skipped) : skipped_(skipped) {}

  // Starts a switch or block; later calls of AddChildren and AddNodes add to it.
  Status Begin(const std::string& name, const std::string& where);
  Status AddChildren(std::string_view list, const std::string& where);
  Status AddNodes(std::string_view list, const std::string& where);
  // Adds those nodes of the list that are in no domain yet to a switch that has children: `scontrol
  // show topology` lists the nodes of the children too.
  Status AddNodesAbove(const std::string& name, std::string_view list, const std::string& where);

  // Makes the cluster. Blocks become the level leaf; switches become leaf, spine, core... `whole`
  // starts a message that has no single place: "[0].tree: ".
  Result<ImportedCluster> Finish(const std::string& whole, const ImportOptions& options);

 private:
  void LinkChildren();

  SkippedLines& skipped_;
  SwitchTree tree_;
  SwitchTree::Index at_ = 0;
  std::string name_;                            // of the current domain
  std::map<std::string, std::string> defined_;  // switch -> where
  struct Child {
    std::string parent, name, where;
  };
  std::vector<Child> children_;
  std::map<std::string, std::string> nodes_;  // node, in lower case -> where
};

// The notes about a topology of blocks. `sizes`: as written in the file; "" if absent.
std::vector<std::string> NotesOnBlocks(const std::string& sizes);

}  // namespace weft::import
