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

#include "operator/api/kinds.h"
#include "operator/base/result.h"
#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"

namespace weft::decide {

enum class Severity : std::uint8_t { kInfo, kWarning, kError };
std::string_view SeverityName(Severity severity);  // "info", "warning", "error"

// Something a person should know, beside the answer.
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
  std::string compute_domain;                  // the owner, "" for none
  // A worker of a Placement whose pod nobody has seen yet.
  struct Assumed {
    std::string placement;  // its name
    std::optional<std::int64_t> attempt;
    std::uint32_t worker = 0;
  };
  std::optional<Assumed> assumed;
};

// A holder of nodes: a TrainingJob's attempt, a Placement, or another controller's gang or pod.
struct Holder {
  api::ObjectKey key;  // the job's, the Placement's, the controller's or the pod's
  std::string kind;    // "TrainingJob", "Placement", "Job", "JobSet", ..., "Pod"
  std::vector<Holding> holdings;
  std::optional<std::int64_t> expected_seconds;  // expectedDurationSeconds of its TrainingJob
};

bool LinksDeclared(const fabric::Fabric& on);  // no tier's bandwidth is Assumed

// One fabric with what is in use on it.
struct ClusterFabric {
  explicit ClusterFabric(std::shared_ptr<const fabric::Fabric> built)
      : fabric(std::move(built)), claims(*fabric) {}

  const std::string& name() const { return fabric->spec().name; }
  bool LinksDeclared() const;

  std::shared_ptr<const fabric::Fabric> fabric;  // claims point at it
  fabric::Claims claims;                         // of all holders
  std::vector<Holder> holders;                   // by kind, then key
  bool recognised = false;                       // no Fabric object: made from the labels alone
};

// What decisions read: the inputs, the fabrics built from them, and the claims and their holders.
// Movable; the inputs do not change after Build.
struct Cluster {
  std::unique_ptr<const api::Inputs> inputs;
  std::vector<ClusterFabric> fabrics;    // in input order
  std::vector<std::string> overlapping;  // nodes in two Fabrics, used by neither, by name
  std::vector<Note> notes;
  std::deque<fabric::Resources> amounts;  // of holders without pods

  std::optional<std::size_t> FindFabric(const std::string& name) const;
};

// The fabrics without claims; they stay the same until a Node or a Fabric changes.
struct Fabrics {
  struct Built {
    std::shared_ptr<const fabric::Fabric> fabric;
    bool recognised = false;
  };
  struct Refused {
    std::string name, why;
  };
  std::vector<Built> built;      // in input order
  std::vector<Refused> refused;  // Fabrics that cannot be built
  std::vector<std::string> overlapping;
  std::vector<Note> notes;
};

enum class OnBadFabric : std::uint8_t {
  kRefuse,    // plan, lint: an error, with both witnesses of an inconsistent tree
  kSetAside,  // the running operator: drops the Fabric, or the smaller side of its tree
};

// Without a Fabric object the label family is recognised (a note says which), else one flat network
// is assumed.
//
// Errors  kInvalid, "<place>: spec.levels[0]...: ..." for a Fabric that cannot be built.
// Cost    O(nodes log nodes).
Result<Fabrics> BuildFabrics(const api::Inputs& inputs, OnBadFabric on_bad = OnBadFabric::kRefuse);

// Books the claims on fabrics that were built of the same nodes. Pods that hold a node are usage; a
// Placement with nodes counts once: a worker whose pod is among the pods is not counted again.
//
// Cost    O(nodes + pods log pods).
Cluster BuildCluster(api::Inputs inputs, const Fabrics& fabrics);
// Both.
Result<Cluster> BuildCluster(api::Inputs inputs);


}  // namespace weft::decide
