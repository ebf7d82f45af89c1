#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/rules/slot_query.h"

namespace weft::rules {

// The domains of a topologyKey: nodes with one value of this label are one domain.
struct Domains {
  static constexpr std::uint32_t kNone = ~0U;  // the node lacks the label
  fabric::ByNode<std::uint32_t> of_node;
  std::uint32_t count = 0;
};

// A node without the label kubernetes.io/hostname has its name as the value. Cost O(nodes).
Domains DomainsOf(const fabric::Fabric& fabric, const std::string& key);

// Whether the term of a pod in the namespace `own_space` selects a pod of `space` with these
// labels.
bool Selects(const fabric::PodTerm& term, const std::string& own_space, const std::string& space,
             const TextMap& labels);

// What kube-scheduler counts for one topologySpreadConstraint of the query's pod.
struct SpreadCounts {
  Domains domains;                        // of all nodes
  std::vector<std::uint8_t> eligible;     // by domain: whether one of its nodes counts
  std::vector<std::uint64_t> pods;        // by domain: the pods on its counted nodes that match
  fabric::ByNode<std::uint64_t> on_node;  // these pods by node
};

// Of rules[which]. A node counts if it has the labels of all `rules` and passes the rule's policies
// for node affinity and taints. A pod counts if it is of the job's namespace, matches the rule's
// selector, and is not being deleted.
//
// rules   the constraints with one value of whenUnsatisfiable
// pods    that run
// Source  Kubernetes 1.36 pkg/scheduler/framework/plugins/podtopologyspread: calPreFilterState,
//         matchNodeInclusionPolicies, countPodsMatchSelector.
// Cost    O(nodes x rules + pods).
SpreadCounts CountSpread(std::span<const fabric::SpreadRule> rules, std::size_t which,
                         const fabric::Fabric& fabric, const SlotQuery& query,
                         std::span<const fabric::Claims::PodOn> pods);

}  // namespace weft::rules
