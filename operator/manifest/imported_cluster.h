#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "operator/fabric/spec.h"
#include "operator/fabric/node_facts.h"

namespace weft::manifest {

// A cluster that came from somewhere else than a Kubernetes API: a fabric dump, a table, a
// generator. Ready to be written as Node, Pod and Fabric manifests.
struct BusyPod {  // a running pod that holds accelerators ("--fragmented")
  std::string name;
  std::string node;
  fabric::Resources requests;
};
struct ImportedCluster {
  fabric::FabricSpec fabric;
  std::vector<fabric::NodeFacts> nodes;
  std::vector<BusyPod> pods;
  // What a person should know: lines for standard error ("13 hosts lack one or more of 4 rails").
  std::vector<std::string> notes;
};

// Manifests of the cluster as one multi-document YAML text: Fabric, Nodes, Pods (names sorted).
std::string WriteManifests(const ImportedCluster& cluster);

// A name that fits a label value (at most 63 characters of [A-Za-z0-9._-]): itself where it does,
// else a shortened form, one to one.
class LabelNames {
 public:
  std::string Shorten(const std::string& name);

 private:
  std::map<std::string, std::string> by_name_;
  std::map<std::string, std::string> by_label_;
};

}  // namespace weft::manifest
