#include "operator/import/import_ib_graph.h"

#include <algorithm>
#include <deque>
#include <set>
#include <string_view>
#include <tuple>

#include "operator/import/ib_speed.h"

namespace weft::import {
namespace {

bool IsFactoryName(std::string_view description) {
  return description.empty() || description.find("Technologies") != std::string_view::npos;
}

// "A09-LEAF-1" from "MF0;A09-LEAF-1:MQM9701/U1"; any other description unchanged.
std::string SwitchName(const std::string& description, const std::string& id) {
  if (IsFactoryName(description)) return id;
  const std::size_t semicolon = description.find(';');
  if (semicolon == std::string::npos) return description;
  const std::size_t colon = description.find(':', semicolon);
  const std::string name = description.substr(semicolon + 1, colon - semicolon - 1);
  return name.empty() ? id : name;
}

// A router, or a device of a kind that ibnetdiscover does not know.
bool IsRouter(const std::string& id) { return id.front() == 'R' || id.front() == '?'; }

struct Box {  // what becomes one IbSwitch
  std::string name;
  std::string first_id;
};

class GraphBuilder {
 public:
  explicit GraphBuilder(const IbDump& dump) : dump_(dump) {}

  IbGraph Build() {
    Collect();
    NameSwitches();
    AddLinks();
    for (const IbHca& hca : graph_.hcas) {
      if (hca.back_to_back && hca.links.empty()) ++graph_.back_to_back_hcas;
    }
    return std::move(graph_);
  }

 private:
  static bool IsAggregation(const IbDevice& device) {
    return device.description.find("Aggregation Node") != std::string::npos;
  }

  // Devices that occur only as a peer of others count too.
  void Collect() {
    for (const IbDevice& device : dump_.devices) known_[device.id] = &device;
    for (const IbDevice& device : dump_.devices) {
      for (const IbPort& port : device.ports) {
        if (known_.contains(port.peer) || IsRouter(port.peer)) continue;
        IbDevice& peer = unseen_[port.peer];
        peer.id = port.peer;
        peer.is_switch = port.peer.front() == 'S';
        if (peer.description.empty()) peer.description = port.peer_description;
      }
    }
    for (const auto& [id, device] : unseen_) known_[id] = &device;
    for (const auto& [id, device] : known_) {
      if (device->is_switch) {
        const bool has_system = device->system_guid.find_first_not_of('0') != std::string::npos;
        const std::string key = has_system ? device->system_guid : id;
        chassis_[id] = key;
        boxes_.emplace(key, Box{SwitchName(device->description, id), id});
      } else if (IsAggregation(*device)) {
        ++graph_.aggregation_nodes;
      } else {
        hca_[id] = graph_.hcas.size();
        graph_.hcas.push_back({device->description, device->system_guid, {}, ""});
      }
    }
  }

  void NameSwitches() {
    std::map<std::string, int> uses;
    for (const auto& [key, box] : boxes_) ++uses[box.name];
    std::vector<std::pair<std::string, std::string>> names;
    for (const auto& [key, box] : boxes_) {
      names.push_back({uses[box.name] > 1 ? box.name + "-" + box.first_id : box.name, key});
    }
    std::sort(names.begin(), names.end());
    for (const auto& [name, key] : names) {
      index_[key] = static_cast<SwitchIndex>(graph_.switches.size());
      graph_.switches.emplace_back().name = name;
    }
  }

  void AddLinks() {
    using End = std::pair<std::string_view, int>;
    std::set<std::pair<End, End>> seen;  // both ends print a link
    for (const IbDevice& device : dump_.devices) {
      for (const IbPort& port : device.ports) {
        End a{device.id, port.port}, b{port.peer, port.peer_port};
        if (b < a) std::swap(a, b);
        if (seen.emplace(a, b).second) AddLink(a.first, b.first, port.speed);
      }
    }
  }

  void AddLink(std::string_view a, std::string_view b, const std::string& speed) {
    const auto hca_a = hca_.find(a), hca_b = hca_.find(b);
    const auto switch_a = chassis_.find(a), switch_b = chassis_.find(b);
    if (switch_a != chassis_.end() && switch_b != chassis_.end()) {
      const SwitchIndex x = index_[switch_a->second], y = index_[switch_b->second];
      if (x == y) return;  // inside one chassis
      IbSwitch &from = At(x), &to = At(y);
      Count(speed, from, from.links[y]);
      Count(speed, to, to.links[x]);
      return;
    }
    if (hca_a != hca_.end() && hca_b != hca_.end()) {
      for (const auto& hca : {hca_a, hca_b}) {
        IbHca& end = graph_.hcas[hca->second];
        end.back_to_back = true;
        if (end.speed.empty()) end.speed = speed;
      }
      return;
    }
    const auto hca = hca_a != hca_.end() ? hca_a : hca_b;
    const auto at = switch_a != chassis_.end() ? switch_a : switch_b;
    if (hca == hca_.end() || at == chassis_.end()) return;  // SHARP, routers
    IbHca& end = graph_.hcas[hca->second];
    const SwitchIndex to = index_[at->second];
    ++end.links[to];
    if (end.speed.empty()) end.speed = speed;
    Count(speed, At(to), At(to).hca_links);
  }

  IbSwitch& At(SwitchIndex index) { return graph_.switches[static_cast<std::size_t>(index)]; }

  static void Count(const std::string& speed, IbSwitch& at, IbLinks& links) {
    const std::optional<IbSpeed> read = ReadIbSpeed(speed);
    ++links.count;
    at.speeds_known = at.speeds_known && read;
    if (read) links.bytes_per_second += static_cast<double>(read->bytes_per_second);
  }

  const IbDump& dump_;
  IbGraph graph_;
  std::map<std::string, const IbDevice*, std::less<>> known_;
  std::map<std::string, IbDevice> unseen_;
  std::map<std::string, Box> boxes_;                         // by chassis key
  std::map<std::string, std::string, std::less<>> chassis_;  // switch id -> chassis key
  std::map<std::string, SwitchIndex> index_;                 // chassis key -> switch
  std::map<std::string, std::size_t, std::less<>> hca_;
};

// The number of HCAs on the switch of the median HCA.
int UsualHcas(const std::vector<IbSwitch>& switches) {
  std::vector<int> counts;
  std::int64_t total = 0, below = 0;
  for (const IbSwitch& s : switches) {
    if (s.hca_links.count > 0) counts.push_back(s.hca_links.count);
    total += s.hca_links.count;
  }
  std::sort(counts.begin(), counts.end());
  for (const int count : counts) {
    below += count;
    if (below * 2 >= total) return count;
  }
  return 0;
}

void FindTiers(std::vector<IbSwitch>& switches) {
  const int usual = UsualHcas(switches);
  for (IbSwitch& s : switches) {
    if (s.hca_links.count * 2 > usual && s.hca_links.count > 0) s.tier = 0;
  }
  std::vector<std::size_t> small_leaves;
  for (std::size_t i = 0; i < switches.size(); ++i) {
    if (switches[i].tier == 0 || switches[i].hca_links.count == 0) continue;
    int all = 0, to_leaves = 0;
    for (const auto& [peer, links] : switches[i].links) {
      all += links.count;
      if (switches[static_cast<std::size_t>(peer)].tier == 0) to_leaves += links.count;
    }
    if (to_leaves * 2 <= all) small_leaves.push_back(i);
  }
  for (const std::size_t i : small_leaves) switches[i].tier = 0;
  std::deque<std::size_t> queue;
  for (std::size_t i = 0; i < switches.size(); ++i) {
    if (switches[i].tier == 0) queue.push_back(i);
  }
  for (; !queue.empty(); queue.pop_front()) {
    for (const auto& [peer, links] : switches[queue.front()].links) {
      IbSwitch& next = switches[static_cast<std::size_t>(peer)];
      if (next.tier >= 0) continue;
      next.tier = switches[queue.front()].tier + 1;
      queue.push_back(static_cast<std::size_t>(peer));
    }
  }
}

struct DistinctSet {
  std::vector<int> members;
  std::vector<std::size_t> sets;  // indices of equal sets
};

// The group that has most of the members, if at least half, or if all members are in groups; else
// -1. Ties go to the older group.
int BestOwner(const std::vector<int>& members, const std::map<int, int>& owner) {
  std::map<int, std::size_t> votes;
  std::size_t owned = 0;
  for (const int member : members) {
    const auto found = owner.find(member);
    if (found == owner.end()) continue;
    ++votes[found->second];
    ++owned;
  }
  int best = -1;
  std::size_t most = 0;
  for (const auto& [group, count] : votes) {
    if (count > most) std::tie(best, most) = std::tie(group, count);
  }
  return most * 2 >= members.size() || owned == members.size() ? best : -1;
}

}  // namespace

int IbGraph::TierCount() const {
  int count = 0;
  for (const IbSwitch& s : switches) count = std::max(count, s.tier + 1);
  return count;
}

IbLinks IbGraph::LinksTo(SwitchIndex at, int tier) const {
  IbLinks sum;
  for (const auto& [peer, links] : switches[static_cast<std::size_t>(at)].links) {
    if (switches[static_cast<std::size_t>(peer)].tier != tier) continue;
    sum.count += links.count;
    sum.bytes_per_second += links.bytes_per_second;
  }
  return sum;
}

IbGraph BuildIbGraph(const IbDump& dump) {
  IbGraph graph = GraphBuilder(dump).Build();
  FindTiers(graph.switches);
  return graph;
}

std::size_t UsualSize(const std::vector<std::vector<int>>& sets) {
  std::map<std::size_t, std::size_t> members_of_size;
  for (const auto& set : sets) members_of_size[set.size()] += set.size();
  std::size_t usual = 0, most = 0;
  for (const auto& [size, members] : members_of_size) {
    if (members > most) std::tie(usual, most) = std::tie(size, members);
  }
  return usual;
}

Groups GroupByMajority(const std::vector<std::vector<int>>& sets) {
  std::map<std::vector<int>, std::vector<std::size_t>> distinct;
  for (std::size_t i = 0; i < sets.size(); ++i) distinct[sets[i]].push_back(i);
  std::vector<DistinctSet> candidates;
  for (auto& [members, who] : distinct) {
    if (!members.empty()) candidates.push_back({members, std::move(who)});
  }
  const std::size_t usual = UsualSize(sets);
  std::sort(candidates.begin(), candidates.end(), [&](const DistinctSet& a, const DistinctSet& b) {
    const std::size_t size_a = std::min(a.members.size(), usual);
    const std::size_t size_b = std::min(b.members.size(), usual);
    if (size_a != size_b) return size_a > size_b;
    if (a.sets.size() != b.sets.size()) return a.sets.size() > b.sets.size();
    return a.members < b.members;
  });
  Groups groups{std::vector<int>(sets.size(), -1), {}};
  std::map<int, int> owner;  // member -> group
  for (const DistinctSet& candidate : candidates) {
    int group = BestOwner(candidate.members, owner);
    const bool founds = group < 0;
    if (founds) {
      group = static_cast<int>(groups.members.size());
      groups.members.emplace_back();
    }
    auto& members = groups.members[static_cast<std::size_t>(group)];
    for (const int member : candidate.members) {
      const bool room = founds || members.size() < usual;
      if (room && owner.emplace(member, group).second) members.push_back(member);
    }
    for (const std::size_t set : candidate.sets) groups.of_set[set] = group;
  }
  for (auto& members : groups.members) std::sort(members.begin(), members.end());
  return groups;
}

}  // namespace weft::import
