#include "operator/fabric/rail_sets.h"

#include <algorithm>
#include <map>
#include <set>

namespace weft::fabric {
namespace {

// A leaf in more sets than this does not tell where a node belongs. The limit keeps the grouping
// linear if one switch is listed for every node.
constexpr std::size_t kSetsPerLeaf = 64;

struct LeafList {
  RailLeaves leaves;
  std::vector<std::size_t> nodes;
  std::size_t present = 0;
};

struct Set {
  RailLeaves opened_by;  // the set's first list; gives its lexicographic rank and name
  RailLeaves leaves;     // with missing leaves added by later members
};

class RailGrouping {
 public:
  explicit RailGrouping(const std::vector<RailLeaves>& nodes) : nodes_(nodes) {}

  RailSets Run() {
    RailSets result;
    result.of_node.assign(nodes_.size(), kNoSet);
    result.rails_present.assign(nodes_.size(), 0);
    for (const LeafList& list : DistinctLists()) {
      const std::uint32_t set = Join(list);
      for (std::size_t node : list.nodes) {
        result.of_node[node] = set;
        result.rails_present[node] = static_cast<int>(list.present);
      }
    }
    result.names = Names();
    return result;
  }

 private:
  // Ordered by rails (most first), then nodes (most first), then lexicographically; lists without a
  // rail are left out.
  std::vector<LeafList> DistinctLists() const {
    std::map<RailLeaves, std::vector<std::size_t>> by_leaves;
    for (std::size_t n = 0; n < nodes_.size(); ++n) by_leaves[nodes_[n]].push_back(n);
    std::vector<LeafList> lists;
    for (auto& [leaves, nodes] : by_leaves) {
      const std::size_t present =
          leaves.size() - static_cast<std::size_t>(std::count(leaves.begin(), leaves.end(), ""));
      if (present > 0) lists.push_back({leaves, std::move(nodes), present});
    }
    std::stable_sort(lists.begin(), lists.end(), [](const LeafList& a, const LeafList& b) {
      if (a.present != b.present) return a.present > b.present;
      return a.nodes.size() > b.nodes.size();
    });
    return lists;
  }

  std::uint32_t Join(const LeafList& list) {
    std::map<std::uint32_t, std::size_t> shared;  // by set
    for (std::string_view leaf : list.leaves) {
      const auto found = sets_of_leaf_.find(leaf);
      if (found == sets_of_leaf_.end()) continue;
      for (std::uint32_t set : found->second) ++shared[set];
    }
    std::uint32_t best = kNoSet;
    for (const auto& [set, count] : shared) {
      const bool complete = list.present == list.leaves.size();
      if (complete && 2 * count <= list.present) continue;
      if (best == kNoSet || count > shared[best] ||
          (count == shared[best] && sets_[set].opened_by < sets_[best].opened_by)) {
        best = set;
      }
    }
    if (best == kNoSet) {
      best = static_cast<std::uint32_t>(sets_.size());
      sets_.push_back({list.leaves, RailLeaves(list.leaves.size())});
    }
    FillGaps(best, list.leaves);
    return best;
  }

  void FillGaps(std::uint32_t set, const RailLeaves& leaves) {
    for (std::size_t rail = 0; rail < leaves.size(); ++rail) {
      std::string_view& held = sets_[set].leaves[rail];
      if (!held.empty() || leaves[rail].empty()) continue;
      held = leaves[rail];
      std::set<std::uint32_t>& sets = sets_of_leaf_[held];
      if (sets.size() < kSetsPerLeaf) sets.insert(set);
    }
  }

  // "leaf-3+7": the first leaf and the number of others; if that is not unique, all leaves.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    std::map<std::string, int> uses;
    for (const Set& set : sets_) {
      const std::set<std::string_view> distinct(set.leaves.begin(), set.leaves.end());
      const std::size_t others = distinct.size() - distinct.count("") - 1;
      const auto first = std::find_if(set.leaves.begin(), set.leaves.end(),
                                      [](std::string_view leaf) { return !leaf.empty(); });
      std::string name(*first);
      if (others > 0) name.append("+").append(std::to_string(others));
      names.push_back(std::move(name));
      ++uses[names.back()];
    }
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      if (uses[names[s]] == 1) continue;
      names[s].clear();
      for (std::string_view leaf : sets_[s].leaves) {
        if (!names[s].empty()) names[s] += '+';
        names[s] += leaf.empty() ? "-" : leaf;
      }
    }
    return names;
  }

  const std::vector<RailLeaves>& nodes_;
  std::vector<Set> sets_;
  std::map<std::string_view, std::set<std::uint32_t>> sets_of_leaf_;
};

}  // namespace

RailSets GroupByRails(const std::vector<RailLeaves>& nodes) { return RailGrouping(nodes).Run(); }

}  // namespace weft::fabric
