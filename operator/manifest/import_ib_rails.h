#pragma once

#include <map>
#include <vector>

#include "operator/manifest/import_ib_graph.h"
#include "operator/manifest/import_ib_hosts.h"

namespace weft::manifest {

// The rail of every leaf, 0..count-1: leaves of one group are told apart by the device names of
// their hosts ("HCA-6" is rail 3 where most complete groups say so), so that a group that lacks a
// leaf keeps the numbers of the others. `groups` is GroupByMajority of the hosts' leaves.
std::map<SwitchIndex, int> FindRails(const std::vector<IbHost>& hosts, const Groups& groups,
                                     int count);

}  // namespace weft::manifest
