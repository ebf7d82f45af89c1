#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operator/rules/between_pods.h"
#include "operator/rules/node_filter.h"
#include "operator/rules/node_rules.h"

namespace weft::rules {

// Reasons why a node takes no worker, in the order of kube-scheduler's filters.
//
// Source  Kubernetes pkg/scheduler, getDefaultPlugins, 1.36: NodeUnschedulable, NodeName,
//         TaintToleration, NodeAffinity, NodeResourcesFit, ..., DynamicResources last.
enum class Rejection : std::uint8_t {
  kNone,
  kUnusable,       // Fabric.spec.unusable, or not Ready
  kUnschedulable,  // cordoned, and the pod does not tolerate it
  kExcluded,       // excluded by the caller (it refused this job before)
  kNodeName,
  kTaint,
  kNodeSelector,
  kNodeAffinity,
  kLevelLabel,  // in no domain of a level that the workers must share
  kVolume,      // volumes of its claims: by the node's labels here, by other objects and pods below
  kPool,        // of another product or capacity type than the gang
  kResource,
  kDeviceAccess,   // its accelerators are asked for in another way than the pod does
  kComputeDomain,  // another job's ComputeDomain holds the node
  kHostPort,       // another pod of the node holds a port
  kPodAffinity,    // required affinity, anti-affinity or spread by other pods (between_pods.h)
  kPower,          // a level's power limit leaves no watts for it
};
std::string_view RejectionName(Rejection rejection);

struct Verdict {
  Rejection rejection = Rejection::kNone;
  std::string detail;  // for a person: the taint, the selector, the resource and its free amount
};

// One reason why nodes take no worker, and the number of these nodes.
struct RejectionCount {
  Rejection rejection = Rejection::kNone;
  std::string detail;  // as in Verdict; for kResource only the resource's name
  std::uint32_t nodes = 0;

  friend bool operator==(const RejectionCount&, const RejectionCount&) = default;
};

// Says why a node takes no worker of one query; kNone if CountSlots gives it at least 1. The query
// and its pod must outlive the judge.
//
// Cost  O(taint classes x taints) to make, with power limits also a count of slots; then the rules
//       once for each node, and one text for each taint class, rule or resource that rejects.
class NodeJudge {
 public:
  NodeJudge(const fabric::Claims& claims, const SlotQuery& query);

  Verdict Judge(fabric::NodeIndex node) const;
  // Counts the nodes in [begin, end) that take no worker, by reason, most frequent first.
  std::vector<RejectionCount> Count(fabric::NodeIndex begin, fabric::NodeIndex end) const;
  std::vector<RejectionCount> CountAll() const {
    return Count(fabric::NodeIndex{0}, fabric::NodeIndex{claims_.fabric().node_count()});
  }

 private:
  // Nodes with equal Why have the same text. `item` is the taint class, the rule, the resource, the
  // tier of the limit or 0.
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
  std::string PowerDetail(fabric::NodeIndex first, fabric::NodeIndex begin,
                          fabric::NodeIndex end) const;

  const fabric::Claims& claims_;
  const SlotQuery& query_;
  Wants wants_;
  IndexVector<fabric::PoolIndex, std::uint8_t> pools_;  // whether the query allows its nodes
  std::vector<Rejection> state_;                        // by taint class: unusable or cordoned
  std::vector<std::uint8_t> untolerated_;               // by taint class
  fabric::ByNode<fabric::Tier> stopped_;                // see KeepToPower; empty without limits
  Apart apart_;                                         // see KeepApart
};

}  // namespace weft::rules
