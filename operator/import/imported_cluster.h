#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/fabric/node_facts.h"
#include "operator/fabric/spec.h"

namespace weft::import {

// A cluster from a fabric dump, a table or a generator instead of an API server, ready to be
// written as Node, Pod and Fabric manifests.
struct BusyPod {  // a running pod that holds accelerators ("--fragmented")
  std::string name;
  std::string node;
  fabric::Resources requests;
};
struct ImportedCluster {
  fabric::FabricSpec fabric;
  // A mixed fleet has one Fabric per accelerator family, because costs of different accelerators
  // are not comparable.
  std::vector<fabric::FabricSpec> more_fabrics;
  std::vector<fabric::NodeFacts> nodes;  // by name
  std::vector<BusyPod> pods;
  // Notes for people: lines for standard error ("13 hosts lack one or more of 4 rails").
  std::vector<std::string> notes;
  // What was left out of the source: "FILE: line 12: ... (the line is left out)".
  std::vector<std::string> warnings = {};
};

// Options of every importer.
struct ImportOptions {
  std::optional<int> gpus_per_node;  // absent: the importer's default, with a note
  std::string resource_name = "nvidia.com/gpu";
  std::string fabric_name = "default";
};

// The note for a source that names no types of links.
inline constexpr const char* kNoLinksNote =
    "the source names no link types, so bandwidths are assumed; --link and --oversubscription set "
    "them";

// Default number of accelerators of a node: HGX and OAM boards have eight.
inline constexpr int kDefaultGpusPerNode = 8;
inline constexpr int kMaxGpusPerNode = 1024;
// Limits for hostile input: the nodes of one import, and the levels of its tree (Kueue has the same
// limit).
inline constexpr std::size_t kMaxImportedNodes = std::size_t{1} << 17;
inline constexpr std::size_t kMaxImportedLevels = 16;

// A Ready node of a training fleet, with a host-name label, `gpus` of `resource` (not listed if 0),
// and CPU and memory in proportion.
fabric::NodeFacts MakeNode(const std::string& name, const std::string& resource, int gpus);
// The requests of a pod that uses `gpus` of a node made by MakeNode.
fabric::Resources ShareOfNode(const std::string& resource, int gpus);

// Turns names into label values (at most 63 characters of [A-Za-z0-9._-], alphanumeric at both
// ends). A valid name stays; any other becomes a readable prefix and a hash of the name, one to one
// among all names given to this object. Give names in sorted order, so that the result does not
// depend on the order of the input.
class LabelNames {
 public:
  std::string Shorten(const std::string& name);

 private:
  std::map<std::string, std::string> by_name_;
  std::map<std::string, std::string> by_label_;
};

// The same for names of Nodes, which must be lower-case DNS names, here of at most 63 characters,
// so that the host-name label is the name itself. Names that differ only in case are one host, as
// in DNS.
class NodeNames {
 public:
  std::string Shorten(const std::string& name);
  // How many names were changed, apart from changes of case.
  std::size_t changed() const { return changed_; }

 private:
  std::map<std::string, std::string> by_name_;
  std::map<std::string, std::string> by_label_;
  std::size_t changed_ = 0;
};

}  // namespace weft::import
