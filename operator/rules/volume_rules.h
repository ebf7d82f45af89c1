#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/rules/node_selector_term.h"

namespace weft::rules {

// A PersistentVolume that no claim holds.
struct FreeVolume {
  std::string name;
  // Of its spec.nodeAffinity: one term must match the node; absent: no restriction.
  std::optional<std::vector<NodeSelectorTerm>> affinity;

  friend bool operator==(const FreeVolume&, const FreeVolume&) = default;
};

// How many volumes of one CSI driver nodes take, and which claims are such volumes.
struct DriverVolumes {
  std::map<std::string, std::int64_t, std::less<>> limits;  // by node; others take any number
  // By namespace and name of the claim: what tells the volume from others.
  std::map<std::pair<std::string, std::string>, std::string> handles;
  std::set<std::string, std::less<>> classes;  // StorageClasses whose volumes the driver makes

  friend bool operator==(const DriverVolumes&, const DriverVolumes&) = default;
};

// Where the volumes of a worker's claims let it run, as the objects of the cluster say.
//
// Source  Kubernetes 1.36 pkg/scheduler/framework/plugins: volumebinding, volumezone,
//         volumerestrictions, nodevolumelimits.
struct VolumeRules {
  // Why no node takes a worker before an object of the cluster changes: "its claim data does not
  // exist"; "": nothing. Counts as something that other pods hold.
  std::string blocked;

  // One term must match the node.
  struct Place {
    std::vector<NodeSelectorTerm> terms;
    std::string text;  // "its claim data is bound to volume pv-1 in zone a"

    friend bool operator==(const Place&, const Place&) = default;
  };
  std::vector<Place> places;  // all of them must hold

  // A claim with the access mode ReadWriteOncePod.
  struct Sole {
    std::string claim;
    bool shared = false;  // all workers name it; else each has its own

    friend bool operator==(const Sole&, const Sole&) = default;
  };
  std::vector<Sole> soles;

  // A claim that gets its volume when its first pod gets a node: a free one, else one that is made.
  struct Unbound {
    std::string claim;
    bool shared = false;              // all workers name it; else each has its own
    std::vector<FreeVolume> volumes;  // that it could get: the first of those that reach the node
    bool makes = false;               // where none of them reaches the node, one is made
    // Where volumes are made: one term must match the node; absent: everywhere.
    std::optional<std::vector<NodeSelectorTerm>> made_in;

    friend bool operator==(const Unbound&, const Unbound&) = default;
  };
  std::vector<Unbound> unbound;  // smaller requests first; they get different volumes

  // Volumes of a CSI driver that limits their number on some node.
  struct Attached {
    std::string driver;
    std::vector<std::string> shared;          // handles of the volumes that all workers share
    std::uint32_t own = 0;                    // volumes that each worker has for itself
    std::shared_ptr<const DriverVolumes> of;  // never null

    friend bool operator==(const Attached& a, const Attached& b) {
      return a.driver == b.driver && a.shared == b.shared && a.own == b.own &&
             (a.of == b.of || *a.of == *b.of);
    }
  };
  std::vector<Attached> attached;

  friend bool operator==(const VolumeRules&, const VolumeRules&) = default;
};

}  // namespace weft::rules
