#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/api/pod.h"
#include "operator/base/result.h"
#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"

namespace weft::cluster {

enum class Severity : std::uint8_t { kInfo, kWarning, kError };
std::string_view SeverityName(Severity severity);  // "info", "warning", "error"

// A remark for a person, in addition to the answer.
struct Note {
  Severity severity = Severity::kInfo;
  std::string reason;  // one word in camel case: "NoComputeDomain", "LinksAssumed", "Overlapping"
  std::string text;    // a sentence

  friend bool operator==(const Note&, const Note&) = default;
};

// The claims of one worker on one node.
struct Holding {
  fabric::NodeIndex node = 0;
  const fabric::Resources* amounts = nullptr;  // lives as long as the Cluster
  const api::Pod* pod = nullptr;               // of the cluster's inputs; null: assumed
  std::string compute_domain;                  // the owner; "" if none
  // Set for a worker of a Placement whose pod is not among the inputs.
  struct Assumed {
    std::string placement;  // the Placement's name
    std::optional<std::int64_t> attempt;
    std::uint32_t worker = 0;
  };
  std::optional<Assumed> assumed;
};

// A holder of nodes: a TrainingJob's attempt, a Placement, or another controller's gang or pod.
struct Holder {
  api::ObjectKey key;  // of the job, Placement, controller or pod
  std::string kind;    // "TrainingJob", "Placement", "Job", "JobSet", ..., "Pod"
  std::vector<Holding> holdings;
  std::optional<std::int64_t> expected_seconds;  // spec.expectedDurationSeconds of the job
  std::string queue;                             // the LocalQueue of Kueue; "" if none is known
};

bool LinksDeclared(const fabric::Fabric& on);  // no tier's bandwidth is Assumed
// "torus.shapes names domains of pod that have no complete node: pod-8"; "" if every one has one.
std::string AbsentTorusesText(const fabric::Fabric& on);

// One fabric with its claims and their holders.
struct ClusterFabric {
  explicit ClusterFabric(std::shared_ptr<const fabric::Fabric> built)
      : fabric(std::move(built)), claims(*fabric) {}

  const std::string& name() const { return fabric->spec().name; }
  bool LinksDeclared() const;

  std::shared_ptr<const fabric::Fabric> fabric;  // claims point at it
  fabric::Claims claims;                         // of all holders
  std::vector<Holder> holders;                   // by kind, then key
  bool recognised = false;                       // true: no Fabric object, derived from node labels
};

// All that decisions read: the inputs, the fabrics built from them, the claims and their holders.
// Movable; the inputs do not change after BuildCluster.
struct Cluster {
  std::unique_ptr<const api::Inputs> inputs;
  std::vector<ClusterFabric> fabrics;    // in input order
  std::vector<std::string> overlapping;  // nodes that two Fabrics select, so neither uses them
  std::vector<Note> notes;
  std::deque<fabric::Resources> amounts;  // amounts of holders without pods

  std::optional<std::size_t> FindFabric(const std::string& name) const;
};

// The fabrics without claims; they stay the same until a Node or a Fabric changes.
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
