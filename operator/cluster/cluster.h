#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/api/pod.h"
#include "operator/base/worker_index.h"
#include "operator/cluster/note.h"
#include "operator/fabric/claims.h"
#include "operator/fabric/fabric.h"

namespace weft::cluster {

// The claims of one worker on one node.
struct Holding {
  fabric::NodeIndex node{0};
  const fabric::Resources* amounts = nullptr;  // lives as long as the Cluster
  const api::Pod* pod = nullptr;               // of the cluster's inputs; null: assumed
  std::string compute_domain;                  // the owner; "" if none
  // Set for a worker of a Placement whose pod is not among the inputs.
  struct Assumed {
    std::string placement;  // the Placement's name
    std::optional<std::int64_t> attempt;
    WorkerIndex worker;
  };
  std::optional<Assumed> assumed;
  fabric::Neighbour neighbour = {};  // the worker as other pods see it
};

// A pod without a node for which kube-scheduler keeps room on one, where it preempts others
// (status.nominatedNodeName). Pods of a higher priority may take that room.
struct Nominated {
  std::int64_t priority = 0;
  Holding holding;
};

// A holder of nodes: a TrainingJob's attempt, a Placement, or another controller's gang or pod.
struct Holder {
  api::ObjectKey key;  // of the job, Placement, controller or pod
  std::string kind;    // "TrainingJob", "Placement", "Job", "JobSet", ..., "Pod"
  std::string group;   // the kind's API group; "" for a pod
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
  std::vector<Holder> holders;                   // by kind, key and group
  std::vector<Nominated> nominated;              // not among the claims; by priority, highest first
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

}  // namespace weft::cluster
