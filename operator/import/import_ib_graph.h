#pragma once

#include <map>
#include <string>
#include <vector>

#include "operator/import/ib_dump.h"

namespace weft::import {

using SwitchIndex = int;

struct IbLinks {
  int count = 0;
  double bytes_per_second = 0;  // the sum, of those whose speed is known
};

// A switch that counts as one hop: a single box, or all chips of one director chassis.
struct IbSwitch {
  std::string name;
  std::map<SwitchIndex, IbLinks> links;  // to each other switch
  IbLinks hca_links;
  bool speeds_known = true;  // of all these links
  int tier = -1;             // 0 leaf, 1 spine, ...; -1 if it reaches no leaf
};

struct IbHca {
  std::string description;
  std::string system_guid;
  std::map<SwitchIndex, int> links;
  std::string speed;          // of the first port
  bool back_to_back = false;  // some port is linked to another HCA
};

// The dump as a graph of hops. SHARP aggregation nodes are dropped; the chips of a chassis (one
// sysimgguid) are merged, and so are the two records of a link; every switch has its tier.
//
// Tiers: the usual number of HCAs on a switch is the number n for which the most HCAs are on
// switches with n HCAs. A leaf is a switch with more than half of that number. Any other switch
// with hosts is a spine if most of its links go to leaves, else a small leaf. The tier of all other
// switches is their distance from the leaves in hops.
struct IbGraph {
  std::vector<IbSwitch> switches;  // by name
  std::vector<IbHca> hcas;         // by id
  int aggregation_nodes = 0;
  int back_to_back_hcas = 0;  // HCAs that are linked to other HCAs and to no switch

  // Whether the HCA is of the fabric: linked to a switch, or there is none.
  bool Counts(const IbHca& hca) const { return switches.empty() || !hca.links.empty(); }
  int TierCount() const;
  // The links that the switch has to switches of `tier`.
  IbLinks LinksTo(SwitchIndex at, int tier) const;
};

IbGraph BuildIbGraph(const IbDump& dump);

// Groups of sets that have most of their members in common.
//
// A set joins the group that has most of its members, if that is at least half, or if each of them
// is in a group; else it opens a group. Frequent sets of the usual size are taken first, so that an
// odd set does not open their group. Each member is in one group. The result does not depend on the
// order of `sets`.
struct Groups {
  std::vector<int> of_set;                // the group of each set; -1 if the set is empty
  std::vector<std::vector<int>> members;  // by group; sorted, never empty
};
Groups GroupByMajority(const std::vector<std::vector<int>>& sets);

// The size of set that most members are in: argmax of size x number of such sets; 0 without sets.
std::size_t UsualSize(const std::vector<std::vector<int>>& sets);

}  // namespace weft::import
