#pragma once

#include <map>
#include <string>
#include <vector>

#include "operator/manifest/import_ib_dump.h"

namespace weft::manifest {

using SwitchIndex = int;

// A switch as a hop: one box, or all chips of one director chassis.
struct IbSwitch {
  std::string name;
  std::map<SwitchIndex, int> links;  // to other switches, with their number
  int hca_links = 0;
  int tier = -1;  // 0 leaf, 1 spine, ...; -1 where no leaf can be reached
};

struct IbHca {
  std::string description;
  std::string system_guid;
  std::map<SwitchIndex, int> links;
  std::string speed;  // of its first port
};

// The dump as a graph of hops: SHARP aggregation nodes dropped, chassis chips (one sysimgguid) and
// both records of a link merged, tiers found.
//
// Tiers: a leaf is a switch that carries as many HCAs as most HCAs share a switch with (more than
// half of that number). Any other switch with hosts is a spine with guests where most of its links
// go to leaves, else a small leaf. The rest count hops from the leaves.
struct IbGraph {
  std::vector<IbSwitch> switches;  // by name
  std::vector<IbHca> hcas;         // by id
  int aggregation_nodes = 0;

  int TierCount() const;
  // Links of the switch to switches of `tier`.
  int LinksTo(SwitchIndex at, int tier) const;
};

IbGraph BuildIbGraph(const IbDump& dump);

// Sets grouped by what most of their members share.
//
// A set joins the group that owns most of its members, at least half of them; sets of the usual
// size found often come first, so that an odd one never founds a group over them. Each member
// belongs to one group. Deterministic, independent of the order of `sets`.
struct Groups {
  std::vector<int> of_set;                // group of each set; -1 for an empty set
  std::vector<std::vector<int>> members;  // by group; sorted
};
Groups GroupByMajority(const std::vector<std::vector<int>>& sets);

// The size that most members live in: argmax over sizes of size x number of sets; 0 for no sets.
std::size_t UsualSize(const std::vector<std::vector<int>>& sets);

}  // namespace weft::manifest
