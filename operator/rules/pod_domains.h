#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/fabric/claims.h"
#include "operator/rules/slot_query.h"

namespace weft::rules {

// The domains of a topologyKey: nodes with one value of this label are one domain.
struct Domains {
  static constexpr std::uint32_t kNone = ~0U;  // the node lacks the label
  fabric::ByNode<std::uint32_t> of_node;
  std::uint32_t count = 0;
  // By the label's value, which lives as long as the nodes.
  std::map<std::string_view, std::uint32_t> by_value;

  // Of a node with this value; kNone if it has none, or if no node here has it.
  std::uint32_t At(std::optional<std::string_view> value) const;
};

// The node's value of a topologyKey, if it has the label. A node without the label
// kubernetes.io/hostname has its name as the value.
std::optional<std::string_view> ValueOf(const fabric::NodeFacts& node, const std::string& key);

// Of all nodes. Cost O(nodes).
Domains DomainsOf(const fabric::Fabric& fabric, const std::string& key);

// Whether the term of a pod in the namespace `own_space` selects a pod of `space` with these
// labels.
bool Selects(const fabric::PodTerm& term, const std::string& own_space, const std::string& space,
             const TextMap& labels);

// Calls `visit` with the nodes and pods that the term of a pod in `own_space` selects elsewhere.
// Cost  O(pods of the term's namespaces).
void EachSelected(
    const fabric::Elsewhere::View& elsewhere, const fabric::PodTerm& term,
    const std::string& own_space,
    const std::function<void(const fabric::NodeFacts&, const fabric::Neighbour&)>& visit);

// What counts for one topologySpreadConstraint of the query's pod.
struct SpreadCounts {
  const Domains* domains = nullptr;       // lives as long as the counter
  std::vector<std::uint8_t> eligible;     // by domain: whether the skew is also towards it
  std::vector<std::uint64_t> pods;        // by domain: the pods on its counted nodes that match
  fabric::ByNode<std::uint64_t> on_node;  // these pods by node
};

// Counts for the constraints of one query's pod with one value of whenUnsatisfiable.
//
// Nodes     A node counts if it has the labels of all constraints and passes the constraint's
//           policies for node affinity and taints. So do the nodes elsewhere: with
//           nodeAffinityPolicy Ignore they may be domains of their own, where no worker can go.
// Domains   One is eligible if one of its counted nodes is, with nodeAffinityPolicy Honor, of the
//           job's kind. Such a node would take a worker if it were empty and whatever its other
//           taints: it is of the query's pools, its pool offers the accelerators that a worker
//           asks for, it gives them in the way that the pod asks for them, it is not excluded, and
//           it is usable and not cordoned (or the pod tolerates that).
// Pods      One counts if it is of the job's namespace, matches the constraint's selector, and is
//           not being deleted.
// Source    Kubernetes 1.36 pkg/scheduler/framework/plugins/podtopologyspread: calPreFilterState,
//           matchNodeInclusionPolicies, countPodsMatchSelector. It knows no kinds: with Honor it
//           counts only the node to which a worker is pinned.
class SpreadCounter {
 public:
  // All arguments must outlive the counter. `pods` run; `elsewhere`: on other nodes.
  // Cost  O((nodes + nodes elsewhere) x keys + pods), and for keys with Ignore O(log) of each node.
  SpreadCounter(std::span<const fabric::SpreadRule> rules, const fabric::Fabric& fabric,
                const SlotQuery& query, std::span<const fabric::Claims::PodOn> pods,
                const fabric::Elsewhere::View& elsewhere);

  // For rules[which]. Cost O(nodes, also elsewhere with Ignore + pods of the namespace).
  SpreadCounts Count(std::size_t which);

  // Whether the node has all labels and would take a worker if it were empty.
  bool Takes(fabric::NodeIndex node);

 private:
  const Domains& DomainsBy(const std::string& key);
  // Whether the node elsewhere counts.
  bool Counts(const fabric::SpreadRule& rule, const fabric::NodeFacts& node) const;
  bool IsLabelled(const fabric::NodeFacts& node) const;
  void CountElsewhere(const fabric::SpreadRule& rule, SpreadCounts& counts) const;
  // By node: whether it has all labels, and passes the policies that are honoured.
  const fabric::ByNode<std::uint8_t>& Counted(bool honor_affinity, bool honor_taints);

  std::span<const fabric::SpreadRule> rules_;
  const fabric::Fabric& fabric_;
  const SlotQuery& query_;
  const fabric::Elsewhere::View& elsewhere_;
  std::vector<const fabric::Claims::PodOn*> pods_;  // those that can count
  std::map<std::string_view, Domains> by_key_;      // keys that a node has
  Domains none_;                                    // of all other keys
  fabric::ByNode<std::uint8_t> labelled_;           // whether it has all labels
  fabric::ByNode<std::uint8_t> of_kind_;
  std::array<fabric::ByNode<std::uint8_t>, 4> counted_;  // by policies; empty: not yet asked for
};

}  // namespace weft::rules
