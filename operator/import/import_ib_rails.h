#pragma once

#include <map>
#include <vector>

#include "operator/import/import_ib_graph.h"
#include "operator/import/import_ib_hosts.h"

namespace weft::import {

// The rail of every leaf, 0..count-1. The device names of the hosts tell the leaves of a group
// apart ("HCA-6" is rail 3 if it is so in most complete groups), so a group that lacks a leaf keeps
// the numbers of its other leaves. `groups` is GroupByMajority of the hosts' leaves.
std::map<SwitchIndex, int> FindRails(const std::vector<IbHost>& hosts, const Groups& groups,
                                     int count);

}  // namespace weft::import
