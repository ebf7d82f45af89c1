#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/index.h"

namespace weft::fabric {

// Dense ids. NodeIndex counts nodes in tree order: the nodes of a domain are one contiguous run at
// every tier, domains of one parent are ordered by their least node name, and nodes of a narrowest
// domain are ordered by name.
using NodeIndex = Index<struct NodeTag>;
using DomainIndex = Index<struct DomainTag>;  // within one tier
using ResourceIndex = Index<struct ResourceTag>;

// Tiers run from wide to narrow: tier 0 is `outside` (one domain that holds every node), then the
// levels widest first, then the scale-up network if it nests in them, and last the node itself (its
// domain index has the number of the NodeIndex). A larger Tier is a narrower domain.
using Tier = Index<struct TierTag>;
inline constexpr Tier kOutside{0};
constexpr DomainIndex AsDomain(NodeIndex n) { return DomainIndex{n.Raw()}; }  // of the node tier
constexpr NodeIndex AsNode(DomainIndex d) { return NodeIndex{d.Raw()}; }
template <typename T>
using ByTier = IndexVector<Tier, T>;
template <typename T>
using ByNode = IndexVector<NodeIndex, T>;
template <typename T>
using ByDomain = IndexVector<DomainIndex, T>;

enum class BandwidthSource { kDeclared, kKnownType, kAssumed };

// A resolved link. femtoseconds_per_byte = round(10^15 * oversubscription / (100 * bandwidth)).
struct Link {
  std::string type;
  std::int64_t bandwidth_per_gpu = 0;  // bytes/s before oversubscription
  std::int64_t oversubscription_percent = 100;
  std::int64_t femtoseconds_per_byte = 0;
  std::int64_t latency_nanoseconds = 0;
  BandwidthSource source = BandwidthSource::kAssumed;
};

struct TierInfo {
  std::string name;  // "outside", the level's name, the scale-up name, "node"
  Link link;         // carries bytes between GPUs whose narrowest shared tier this is
  std::optional<std::int64_t> power_watts = {};  // LevelSpec::power_watts
};

// A network beside the levels that divides the nodes. Two nodes of one domain may use its link.
struct Plane {
  std::string name;
  Link link;
  bool scale_up = false;        // a job needs what spec().scale_up requires, if anything
  ByNode<DomainIndex> of_node;  // numbered by the first node
  ByDomain<std::string> names;  // by domain: the label's value, or the node's name

  std::uint32_t size() const { return EndIndex().Raw(); }
  DomainIndex EndIndex() const { return names.EndIndex(); }
};

// One tier's domains. Domain d holds the nodes [begin[d], begin[d + 1]).
struct TierDomains {
  ByDomain<NodeIndex> begin;  // domains + 1 entries
  // The first child of each domain in the next narrower tier (domains + 1 entries); empty at the
  // node tier.
  ByDomain<DomainIndex> child_begin;
  ByNode<DomainIndex> of_node;
  // The label's value ("parent/value" if the level's identity is kPath); empty at the node tier.
  ByDomain<std::string> names;

  std::uint32_t size() const { return EndIndex().Raw(); }
  DomainIndex EndIndex() const { return begin.EndIndex() - 1; }
};

}  // namespace weft::fabric
