#pragma once

#include <string>
#include <vector>

#include "operator/manifest/import_ib_graph.h"

namespace weft::manifest {

// A host, as far as descriptions name it ("gpu-01 mlx5_0": host and device).
struct IbHost {
  struct Link {
    SwitchIndex to = 0;
    std::string device;  // "" where only inferred
  };
  std::string name;         // lower case, as Kubernetes names it
  std::vector<Link> links;  // by switch
  int hcas = 0;
  std::vector<int> leaves;  // distinct switches of tier 0, ascending
};

struct IbHosts {
  std::vector<IbHost> hosts;  // by name
  int named_hcas = 0;
  int attached_hcas = 0;              // unnamed, but certainly some host's
  int unnamed_hcas = 0;               // the rest: hosts that nobody named
  std::vector<std::string> repeated;  // "tank1 mlx4_0": one description on several HCAs
};

// HCAs joined to hosts by description. An unnamed one (factory description) is attached where only
// one host can own it: it shares its sysimgguid with a named HCA (ports of one card), or it is the
// only unnamed HCA in a group of leaves, and exactly one host of the group lacks that leaf. A host
// without any name would show up on every leaf of its group, so a single unnamed HCA is not one.
IbHosts JoinHosts(const IbGraph& graph);

}  // namespace weft::manifest
