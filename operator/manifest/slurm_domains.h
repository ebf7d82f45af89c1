#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/manifest/import_tree.h"
#include "operator/manifest/imported_cluster.h"

namespace weft::manifest {

// The switches or blocks of a Slurm topology and the nodes under them, whichever of Slurm's files
// they come from. Lists are Slurm host lists: "n[01-04],login".
//
// `where` is a place of the file as messages name it later: "line 12".
// Errors  kInvalid without the file's name; without a place too where the call itself is the place.
class SlurmDomains {
 public:
  // Starts a switch or block; following calls of AddChildren and AddNodes belong to it.
  Status Begin(const std::string& name, const std::string& where);
  Status AddChildren(std::string_view list, const std::string& where);
  Status AddNodes(std::string_view list, const std::string& where);

  // Blocks are the level leaf, switches leaf, spine, core... `whole` is the prefix of a message
  // that has no single place: "[0].tree: ".
  Result<ImportedCluster> Finish(const std::string& whole, const ImportOptions& options);

 private:
  SwitchTree tree_;
  SwitchTree::Index at_ = 0;
  std::size_t links_ = 0;
  std::map<std::string, std::string> defined_;   // switch -> where
  std::map<std::string, std::string> children_;  // child switch -> the first place that names it
  std::map<std::string, std::string> nodes_;     // node, in lower case -> where
};

// Adds the notes about a topology of blocks. `sizes` as the file writes them; "" none.
std::vector<std::string> NotesOnBlocks(const std::string& sizes);

}  // namespace weft::manifest
