#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/text_map.h"
#include "operator/fabric/spec.h"

namespace weft::fabric {

// A port of the node that a pod takes.
struct HostPort {
  std::string protocol = "TCP";
  std::string address;  // "": all addresses of the node
  std::int64_t port = 0;

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

// One term of required pod affinity or anti-affinity. Without any namespaces, nor a selector of
// them, it is about pods of the pod's own.
struct PodTerm {
  std::string topology_key;               // nodes with one value of this label are one domain
  std::optional<LabelSelector> selector;  // of pods; absent: none
  std::vector<std::string> namespaces;    // of these pods
  bool all_namespaces = false;
  // Of the namespaces with these labels too; absent: none. cluster/space_selectors.h replaces it by
  // their names.
  std::optional<LabelSelector> space_selector = std::nullopt;

  friend bool operator==(const PodTerm&, const PodTerm&) = default;
};

// One term of preferred pod affinity; of anti-affinity with a weight below 0.
struct PreferredPodTerm {
  std::int64_t weight = 1;
  PodTerm term;

  friend bool operator==(const PreferredPodTerm&, const PreferredPodTerm&) = default;
};

// One topologySpreadConstraint, its matchLabelKeys as requirements of the selector.
//
// Source  kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints
struct SpreadRule {
  std::string topology_key;
  std::int64_t max_skew = 1;
  std::int64_t min_domains = 1;  // with fewer, the emptiest counts as empty
  std::optional<LabelSelector> selector;
  // Which nodes count: with nodeAffinityPolicy Honor, those that match the pod's nodeSelector and
  // required node affinity; with nodeTaintsPolicy Honor, those whose taints the pod tolerates.
  bool honor_affinity = true;
  bool honor_taints = false;

  friend bool operator==(const SpreadRule&, const SpreadRule&) = default;
};

// A volume of a pod that a PersistentVolumeClaim of its namespace gives.
struct ClaimedVolume {
  std::string claim;  // the claim's name; of `own` in a template the volume's name
  bool own = false;   // an ephemeral volume, for which each pod has a claim of its own
  // What the claim of `own` asks for.
  std::string storage_class = "";
  std::vector<std::string> access_modes = {};
  std::int64_t bytes = 0;
  bool block = false;  // volumeMode Block, else Filesystem

  friend bool operator==(const ClaimedVolume&, const ClaimedVolume&) = default;
};

// What a pod demands of the pods beside it, and wishes; and the volumes that it may share with
// them.
struct PodTerms {
  std::vector<HostPort> host_ports = {};
  std::vector<PodTerm> affinity = {}, anti_affinity = {};  // required
  std::vector<SpreadRule> spread = {};                     // with DoNotSchedule
  std::vector<PreferredPodTerm> preferred = {};
  std::vector<ClaimedVolume> volumes = {};
  std::vector<SpreadRule> preferred_spread = {};  // with ScheduleAnyway

  friend bool operator==(const PodTerms&, const PodTerms&) = default;
};

// A pod as other pods see it. Points into the inputs of decisions; null: nothing is known.
struct Neighbour {
  const std::string* space = nullptr;  // its namespace
  const TextMap* labels = nullptr;
  const PodTerms* terms = nullptr;  // null: none
  // Whether it is being deleted. It still holds resources and ports and counts for affinity and
  // anti-affinity, but not for a spread.
  bool ending = false;
  // Whether it has no node yet, only room that kube-scheduler keeps for it: no other pod may rely on
  // its coming.
  bool nominated = false;

  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

}  // namespace weft::fabric
