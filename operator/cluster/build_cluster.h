#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/cluster/note.h"
#include "operator/fabric/fabric.h"

namespace weft::cluster {

// The fabrics without claims; they stay the same until a Node or a Fabric changes, or a job names
// another accelerator resource.
struct Fabrics {
  struct Built {
    std::shared_ptr<const fabric::Fabric> fabric;
    bool recognised = false;
  };
  struct NotBuilt {
    std::string name, why;
  };
  std::vector<Built> built;         // in input order
  std::vector<NotBuilt> not_built;  // Fabrics that cannot be built
  std::vector<std::string> overlapping;
  std::vector<std::string> accelerator_resources;  // NamedAcceleratorResources of the inputs
  std::vector<Note> notes;
};

enum class OnBadFabric : std::uint8_t {
  kRefuse,    // plan, lint: an error, naming both nodes of an inconsistent tree
  kSetAside,  // operator: leaves out the Fabric, or the smaller side of its tree
};

// Builds all fabrics. If there is no Fabric object, a known label family is recognised (a note
// names it), else one flat network is assumed.
//
// Errors  kInvalid, "<place>: spec.levels[0]...: ..." for a Fabric that cannot be built.
// Cost    O(nodes log nodes).
Result<Fabrics> BuildFabrics(const api::Inputs& inputs, OnBadFabric on_bad = OnBadFabric::kRefuse);

// Adds the claims to fabrics that were built from the same nodes. Pods on a node count as use. So
// do the workers of a Placement with nodes, except those whose pods are among the inputs, and the
// accelerators of ResourceClaims (devices.h), which the cluster's inputs list as pods' requests.
//
// Cost    O(nodes + pods log pods).
Cluster BuildCluster(api::Inputs inputs, const Fabrics& fabrics);
// BuildFabrics, then BuildCluster.
Result<Cluster> BuildCluster(api::Inputs inputs);

}  // namespace weft::cluster
