#include "operator/import/import_ib_hosts.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "operator/import/import_text.h"

namespace weft::import {
namespace {

struct Description {
  std::string host, device;
};

// If no driver has set a name, firmware writes the product: "MT4129 ConnectX7 Mellanox
// Technologies", "MT25408 ConnectX".
Description Parse(std::string_view text) {
  if (text.find("Technologies") != text.npos || text.find("ConnectX") != text.npos) return {};
  text = Trim(text);
  const std::size_t space = text.find_first_of(" \t");
  Description parsed{LowerCase(text.substr(0, space)), ""};
  if (space != text.npos) {
    const std::string_view rest = Trim(text.substr(space));
    parsed.device = rest.substr(0, rest.find_first_of(" \t"));
  }
  return parsed;
}

class Joiner {
 public:
  explicit Joiner(const IbGraph& graph) : graph_(graph) {}

  IbHosts Join() {
    JoinNamed();
    JoinByCard();
    FindLeaves();
    JoinByLeaf();
    FindLeaves();
    for (auto& [name, host] : by_name_) joined_.hosts.push_back(std::move(host));
    joined_.unnamed_hcas = static_cast<int>(unnamed_.size());
    return std::move(joined_);
  }

 private:
  void Add(IbHost& host, const IbHca& hca, const std::string& device) {
    if (graph_.Counts(hca)) ++host.hcas;
    for (const auto& [to, count] : hca.links) host.links.push_back({to, device});
  }

  void JoinNamed() {
    std::set<std::string> seen, repeated;
    for (const IbHca& hca : graph_.hcas) {
      const Description parsed = Parse(hca.description);
      if (parsed.host.empty()) {
        unnamed_.push_back(&hca);
        continue;
      }
      if (!parsed.device.empty() && !seen.insert(hca.description).second) {
        repeated.insert(hca.description);
      }
      IbHost& host = by_name_[parsed.host];
      host.name = parsed.host;
      Add(host, hca, parsed.device);
      ++joined_.named_hcas;
      const bool card = hca.system_guid.find_first_not_of('0') != std::string::npos;
      if (card) owners_of_card_[hca.system_guid].insert(parsed.host);
    }
    joined_.repeated.assign(repeated.begin(), repeated.end());
  }

  void JoinByCard() {
    std::vector<const IbHca*> left;
    for (const IbHca* hca : unnamed_) {
      const auto owners = owners_of_card_.find(hca->system_guid);
      if (owners == owners_of_card_.end() || owners->second.size() != 1) {
        left.push_back(hca);
        continue;
      }
      Add(by_name_[*owners->second.begin()], *hca, "");
      ++joined_.attached_hcas;
    }
    unnamed_ = std::move(left);
  }

  void FindLeaves() {
    for (auto& [name, host] : by_name_) {
      std::set<int> leaves;
      for (const IbHost::Link& link : host.links) {
        if (graph_.switches[static_cast<std::size_t>(link.to)].tier == 0) leaves.insert(link.to);
      }
      host.leaves.assign(leaves.begin(), leaves.end());
      std::sort(host.links.begin(), host.links.end(),
                [](const auto& a, const auto& b) { return a.to < b.to; });
    }
  }

  // The only host of `group` without a link to `leaf`; null if there is none or several.
  IbHost* OnlyHostWithout(const std::vector<IbHost*>& hosts, int leaf) {
    IbHost* only = nullptr;
    for (IbHost* host : hosts) {
      if (std::binary_search(host->leaves.begin(), host->leaves.end(), leaf)) continue;
      if (only != nullptr) return nullptr;
      only = host;
    }
    return only;
  }

  void JoinByLeaf() {
    std::vector<IbHost*> hosts;
    std::vector<std::vector<int>> sets;
    for (auto& [name, host] : by_name_) {
      hosts.push_back(&host);
      sets.push_back(host.leaves);
    }
    const Groups groups = GroupByMajority(sets);
    std::map<int, std::size_t> group_of_leaf;
    std::vector<std::vector<IbHost*>> members(groups.members.size());
    for (std::size_t g = 0; g < groups.members.size(); ++g) {
      for (const int leaf : groups.members[g]) group_of_leaf[leaf] = g;
    }
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      if (groups.of_set[i] >= 0)
        members[static_cast<std::size_t>(groups.of_set[i])].push_back(hosts[i]);
    }
    std::vector<std::vector<const IbHca*>> unnamed(groups.members.size());
    for (const IbHca* hca : unnamed_) {
      if (hca->links.empty()) continue;
      const auto group = group_of_leaf.find(hca->links.begin()->first);
      if (group != group_of_leaf.end()) unnamed[group->second].push_back(hca);
    }
    for (std::size_t g = 0; g < unnamed.size(); ++g) {
      // In a group with a single leaf, an unnamed HCA may be a whole unnamed host.
      if (unnamed[g].size() != 1 || groups.members[g].size() < 2) continue;
      const IbHca* hca = unnamed[g].front();
      IbHost* host = OnlyHostWithout(members[g], hca->links.begin()->first);
      if (host == nullptr) continue;
      Add(*host, *hca, "");
      ++joined_.attached_hcas;
      std::erase(unnamed_, hca);
    }
  }

  const IbGraph& graph_;
  IbHosts joined_;
  std::map<std::string, IbHost> by_name_;
  std::map<std::string, std::set<std::string>> owners_of_card_;
  std::vector<const IbHca*> unnamed_;
};

}  // namespace

IbHosts JoinHosts(const IbGraph& graph) { return Joiner(graph).Join(); }

}  // namespace weft::import
