#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/fabric/node_facts.h"
#include "operator/fabric/spec.h"

namespace weft::manifest {

// A cluster that was not read from a Kubernetes API but from a fabric dump, a table or a generator,
// ready to be written as Node, Pod and Fabric manifests.
struct BusyPod {  // a running pod that holds accelerators ("--fragmented")
  std::string name;
  std::string node;
  fabric::Resources requests;
};
struct ImportedCluster {
  fabric::FabricSpec fabric;
  // Cost is never compared across accelerators: a mixed fleet has one Fabric per family.
  std::vector<fabric::FabricSpec> more_fabrics;
  std::vector<fabric::NodeFacts> nodes;  // by name
  std::vector<BusyPod> pods;
  // Notes for people: lines for standard error ("13 hosts lack one or more of 4 rails").
  std::vector<std::string> notes;
};

// Options of every importer.
struct ImportOptions {
  std::optional<int> gpus_per_node;  // absent: each importer's own default, said in a note
  std::string resource_name = "nvidia.com/gpu";
  std::string fabric_name = "default";
};

// A note where the source names no types of links.
inline constexpr const char* kNoLinksNote =
    "the source names no link types, so bandwidths are assumed; --link and --oversubscription set "
    "them";

// Default number of accelerators of a node: HGX and OAM boards have eight.
inline constexpr int kDefaultGpusPerNode = 8;
inline constexpr int kMaxGpusPerNode = 1024;
// Bounds on hostile input: the nodes of one import, and the levels of its tree (Kueue's bound too).
inline constexpr std::size_t kMaxImportedNodes = std::size_t{1} << 17;
inline constexpr std::size_t kMaxImportedLevels = 16;

// A Ready node as a training fleet has it: host-name label, `gpus` of `resource` (none at 0), and
// CPU and memory in proportion to them.
fabric::NodeFacts MakeNode(const std::string& name, const std::string& resource, int gpus);
// Requests of a pod that holds `gpus` of a MakeNode node.
fabric::Resources ShareOfNode(const std::string& resource, int gpus);

// Manifests of the cluster as one multi-document YAML text: Fabrics, Nodes, Pods (names sorted).
// Cost  O(size of the text): 100,000 nodes within a second or two.
std::string WriteManifests(const ImportedCluster& cluster);

// A name that fits a label value (at most 63 characters of [A-Za-z0-9._-], alphanumeric at both
// ends): itself where it does, else a readable prefix and a hash of the whole, one to one among
// all names asked of this object. Hand names in sorted, so that the answer does not depend on
// the input's order.
class LabelNames {
 public:
  std::string Shorten(const std::string& name);

 private:
  std::map<std::string, std::string> by_name_;
  std::map<std::string, std::string> by_label_;
};

// The same for a Node's name, which must be a lower-case DNS name; at most 63 characters, so that
// it is its own host-name label. Names that differ only in case are one host, as in DNS.
class NodeNames {
 public:
  std::string Shorten(const std::string& name);
  // Number of names that were changed, except for upper case.
  std::size_t changed() const { return changed_; }

 private:
  std::map<std::string, std::string> by_name_;
  std::map<std::string, std::string> by_label_;
  std::size_t changed_ = 0;
};

}  // namespace weft::manifest
