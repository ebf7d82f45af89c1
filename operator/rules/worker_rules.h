#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "operator/fabric/fabric.h"

namespace weft::rules {

// The rules between the workers of one job: those that a choice of nodes keeps or breaks. Rules
// that a node keeps or breaks by itself, whichever other nodes are used, are in the slots beside
// them.
//
// Shapes  A rule numbers its domains from 0; Domains::kNone is a node without the label, on which
//         nothing is limited (a rule that needs the label leaves that node no slots).
struct WorkerRules {
  // Required affinity to each other, or a claim whose first worker binds the volume of all: every
  // worker is in one domain.
  struct Together {
    fabric::ByNode<std::uint32_t> of_node;
  };
  // Anti-affinity to each other: a domain takes this many.
  struct Limit {
    fabric::ByNode<std::uint32_t> of_node;
    std::vector<std::uint64_t> most;  // by domain
  };
  // A topologySpreadConstraint that selects the workers: a domain that takes one has in the end at
  // most `max_skew` more pods than the emptiest of the eligible domains. Then the workers can be
  // bound one after the other, those of the emptiest domain first.
  struct Spread {
    fabric::ByNode<std::uint32_t> of_node;
    std::vector<std::uint64_t> pods;     // by domain: that run and count
    std::vector<std::uint8_t> eligible;  // by domain: whether the skew is also towards it
    std::uint64_t max_skew = 1;
    bool from_zero = false;  // fewer domains than minDomains: the emptiest counts as empty
  };
  std::vector<Together> together;
  std::vector<Limit> limits;
  std::vector<Spread> spreads;

  bool empty() const { return together.empty() && limits.empty() && spreads.empty(); }
};

// `used`: the workers on each node.
bool HoldsTogether(const WorkerRules::Together& rule, const fabric::ByNode<std::uint32_t>& used);
// Whether the domains of this many workers, by domain, keep the rule.
bool HoldsIn(const WorkerRules::Spread& rule, const std::vector<std::uint64_t>& workers);
// By domain of a rule with `count` domains.
std::vector<std::uint64_t> CountIn(const fabric::ByNode<std::uint32_t>& of_node, std::size_t count,
                                   const fabric::ByNode<std::uint32_t>& used);
bool HoldAll(const WorkerRules& rules, const fabric::ByNode<std::uint32_t>& used);

// The sets of nodes that share a domain of every rule of `together` and have at least `workers`
// slots, roomiest first. Without such a rule one set of all nodes with slots.
std::vector<std::vector<fabric::NodeIndex>> SetsTogether(const WorkerRules& rules,
                                                         const fabric::ByNode<std::uint32_t>& slots,
                                                         std::uint64_t workers);
// The slots of these nodes.
fabric::ByNode<std::uint32_t> SlotsIn(const std::vector<fabric::NodeIndex>& nodes,
                                      const fabric::ByNode<std::uint32_t>& slots);

// Whether FindWorkers and the like are quick: where two limits meet, or a spread, their work grows
// with the workers times the kinds of nodes (those of one domain in every rule), and a planner that
// serves a whole fleet must not wait for that.
bool IsQuick(const WorkerRules& rules, const fabric::ByNode<std::uint32_t>& slots,
             std::uint64_t workers);

// Slots for this many workers that keep all rules, whichever of them are used; or nothing, which is
// no proof that there are none where `gave_up` is true.
//
// How     Up to two limits and no spread are a flow from the domains of one to those of the other,
//         which finds workers if there are any. Three limits are a matching in three dimensions,
//         which is NP-hard: then, and with spreads, workers are placed one by one, in the emptiest
//         domains first, and undone, up to a number of steps. If that is not quick, nothing is
//         undone.
// Cost    O(nodes log nodes + workers x kinds of nodes) for a flow, and if nothing is undone.
std::optional<fabric::ByNode<std::uint32_t>> FindWorkers(const WorkerRules& rules,
                                                         const fabric::ByNode<std::uint32_t>& slots,
                                                         std::uint64_t workers,
                                                         bool* gave_up = nullptr);

}  // namespace weft::rules
