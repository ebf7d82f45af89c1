#pragma once

#include <string>
#include <vector>

#include "operator/import/import_ib_graph.h"

namespace weft::import {

// A host that descriptions of HCAs name ("gpu-01 mlx5_0": host and device).
struct IbHost {
  struct Link {
    SwitchIndex to = 0;
    std::string device;  // "" if the link is inferred
  };
  std::string name;         // in lower case, as Kubernetes requires
  std::vector<Link> links;  // by switch
  int hcas = 0;
  std::vector<int> leaves;  // distinct switches of tier 0, ascending
};

struct IbHosts {
  std::vector<IbHost> hosts;  // by name
  int named_hcas = 0;
  int attached_hcas = 0;              // HCAs without a name whose host is certain
  int unnamed_hcas = 0;               // other HCAs without a name
  std::vector<std::string> repeated;  // "tank1 mlx4_0": one description on several HCAs
};

// Assigns HCAs to hosts by description. An HCA without a name (factory description) is attached to
// a host if only that host can own it: it shares its sysimgguid with a named HCA (ports of one
// card), or it is the only unnamed HCA in a group of leaves and exactly one host of the group lacks
// a link to its leaf. A host without names would have an HCA on every leaf of its group, so a
// single unnamed HCA is not such a host.
IbHosts JoinHosts(const IbGraph& graph);

}  // namespace weft::import
