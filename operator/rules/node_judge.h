#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operator/rules/node_filter.h"
#include "operator/rules/node_rules.h"

namespace weft::placement {

// Reasons why a node takes no worker, in the order of kube-scheduler's filters.
//
// Source  Kubernetes pkg/scheduler, getDefaultPlugins, 1.36: NodeUnschedulable, NodeName,
//         TaintToleration, NodeAffinity, NodeResourcesFit, ..., DynamicResources last.
enum class Rejection : std::uint8_t {
  kNone,
  kUnusable,       // Fabric.spec.unusable, or not Ready
  kUnschedulable,  // cordoned, and not tolerated
  kExcluded,       // excluded by the caller (it refused this job before)
  kNodeName,
  kTaint,
  kNodeSelector,
  kNodeAffinity,
  kPool,  // of another product or capacity type than the gang
  kResource,
  kComputeDomain,  // another job's ComputeDomain holds the node
};
std::string_view RejectionName(Rejection rejection);

struct Verdict {
  Rejection rejection = Rejection::kNone;
  std::string detail;  // for a person: the taint, the selector, the resource and how much is free
};

// Nodes that take no worker for one reason.
struct RejectionCount {
  Rejection rejection = Rejection::kNone;
  std::string detail;  // of Verdict; kResource: the resource's name alone
  std::uint32_t nodes = 0;

  friend bool operator==(const RejectionCount&, const RejectionCount&) = default;
};

// Says why nodes take no worker of one query; kNone where CountSlots gives at least 1. The query
// and its pod must outlive it.
//
// Cost  O(taint classes x taints) to make; a node's rules each, and one text for each taint class,
//       rule or resource that rejects.
class NodeJudge {
 public:
  NodeJudge(const fabric::Claims& claims, const SlotQuery& query);

  Verdict Judge(fabric::NodeIndex node) const;
  // The nodes of [begin, end) that take no worker, counted by reason, most frequent first.
  std::vector<RejectionCount> Count(fabric::NodeIndex begin, fabric::NodeIndex end) const;

 private:
  // Nodes of equal Why have equal texts: `item` is the taint class, the rule, the resource or 0.
  struct Why {
    Rejection rejection = Rejection::kNone;
    std::uint32_t item = 0;

    friend auto operator<=>(const Why&, const Why&) = default;
  };
  Why WhyNot(fabric::NodeIndex node) const;
  Why WhyNotByLabels(fabric::NodeIndex node) const;
  const Want* Scarcest(fabric::NodeIndex node) const;
  std::int64_t FreeOf(fabric::NodeIndex node, fabric::ResourceIndex resource) const;
  std::string Detail(Why why, fabric::NodeIndex node) const;
  std::string ShortText(fabric::NodeIndex node) const;

  const fabric::Claims& claims_;
  const SlotQuery& query_;
  Wants wants_;
  std::vector<std::uint8_t> pools_;        // by pool: whether its nodes count
  std::vector<Rejection> state_;           // by taint class: unusable or cordoned
  std::vector<std::uint8_t> untolerated_;  // by taint class
};

}  // namespace weft::placement
