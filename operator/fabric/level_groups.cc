#include "operator/fabric/level_groups.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>

#include "operator/fabric/node_facts.h"
#include "operator/fabric/presets.h"
#include "operator/fabric/rail_sets.h"
#include "operator/fabric/unlabelled_kinds.h"

namespace weft::fabric {
namespace {

// The label's value, or nothing if absent; an absent host-name label counts as the node's name.
std::optional<std::string_view> LabelValue(const NodeFacts& node, std::string_view key) {
  const auto value = node.labels.At(key);
  if (!value && key == kHostNameLabel) return node.name;
  return value;
}

// Numbers values in the order in which they first occur. The map is only looked up, never iterated.
class ValueIds {
 public:
  std::uint32_t Of(std::string_view value) {
    const auto [found, added] = ids_.try_emplace(value, static_cast<std::uint32_t>(values_.size()));
    if (added) values_.push_back(value);
    return found->second;
  }
  std::string_view value(std::uint32_t id) const { return values_[id]; }
  std::size_t size() const { return values_.size(); }

 private:
  std::unordered_map<std::string_view, std::uint32_t> ids_;
  std::vector<std::string_view> values_;
};

class LevelGrouping {
 public:
  LevelGrouping(const FabricSpec& spec, const std::vector<const NodeFacts*>& candidates)
      : spec_(spec), candidates_(candidates) {
    result_.aside.assign(candidates.size(), false);
    result_.levels.resize(spec.levels.size());
  }

  LevelGroups Run() {
    GroupRails();
    FindUnlabelled();
    for (std::size_t n = 0; n < candidates_.size(); ++n) CheckComplete(n);
    for (std::size_t l = 0; l < spec_.levels.size(); ++l) {
      const std::vector<std::uint32_t> values = ValuesOf(l);
      if (spec_.levels[l].identity == Identity::kValue && l > 0) {
        SetInconsistentAside(l, values);
      }
      GroupLevel(l, values);
    }
    ListUnlabelled();
    std::sort(result_.incomplete.begin(), result_.incomplete.end(),
              [](const IncompleteNode& a, const IncompleteNode& b) { return a.node < b.node; });
    return std::move(result_);
  }

 private:
  // Groups nodes by rails, and decides whether these sets are the narrowest level.
  void GroupRails() {
    if (!spec_.rails || spec_.rails->leaf_label_keys.empty()) return;
    std::vector<RailLeaves> leaves(candidates_.size());
    for (std::size_t n = 0; n < candidates_.size(); ++n) {
      for (const std::string& key : spec_.rails->leaf_label_keys) {
        const auto value = LabelValue(*candidates_[n], key);
        leaves[n].push_back(!value || IsPlaceholder(*value) ? std::string_view() : *value);
      }
    }
    rail_sets_ = GroupByRails(leaves);
    result_.rails = rail_sets_.rails_present;
    const std::string& key = spec_.levels.back().label_key;
    leaf_from_rails_ =
        std::none_of(candidates_.begin(), candidates_.end(), [&](const NodeFacts* node) {
          const auto value = key.empty() ? std::nullopt : LabelValue(*node, key);
          return value && !IsPlaceholder(*value);
        });
  }

  bool FromRails(std::size_t level) const {
    return leaf_from_rails_ && level + 1 == spec_.levels.size();
  }

  bool Has(std::size_t n, std::size_t l) const {
    if (FromRails(l)) return result_.rails[n] > 0;
    const auto value = LabelValue(*candidates_[n], spec_.levels[l].label_key);
    return value && !IsPlaceholder(*value);
  }

  void FindUnlabelled() {
    depths_ =
        LabelDepths(candidates_, spec_, [this](std::size_t n, std::size_t l) { return Has(n, l); });
    // Of a kind without labels nothing says that its nodes lack rails.
    for (std::size_t n = 0; n < result_.rails.size(); ++n) {
      if (IsFlat(n, spec_.levels.size() - 1) && result_.rails[n] == 0) {
        result_.rails[n] = spec_.rails->count;
      }
    }
  }

  // Whether the node's kind has no labels of the level and the narrower ones.
  bool IsFlat(std::size_t n, std::size_t level) const { return level >= depths_[n].depth; }

  void ListUnlabelled() {
    std::map<std::pair<std::string, std::size_t>, UnlabelledKind> kinds;
    for (std::size_t n = 0; n < candidates_.size(); ++n) {
      const auto& [kind, depth] = depths_[n];
      if (depth == spec_.levels.size() || result_.aside[n]) continue;
      const LevelSpec& level = spec_.levels[depth];
      auto& of =
          kinds.try_emplace({kind, depth}, UnlabelledKind{kind, level.name, level.label_key, {}})
              .first->second;
      of.nodes.push_back(candidates_[n]->name);
    }
    for (auto& [key, kind] : kinds) result_.unlabelled.push_back(std::move(kind));
  }

  // The value that a node of a kind without this level gets, so that its kind is one domain of its
  // own.
  std::string_view FlatValue(std::size_t n, std::size_t l) {
    std::string own = "unlabelled-" + depths_[n].kind;
    if (l == 0) return made_.emplace_back(std::move(own));
    const bool path = spec_.levels[l].identity == Identity::kPath;
    if (IsFlat(n, l - 1)) own = "flat";
    if (path) return made_.emplace_back(std::move(own));
    const Groups& wider = result_.levels[l - 1];
    const std::string& parent = wider.names[wider.of_node[n]];
    return made_.emplace_back(IsFlat(n, l - 1) ? parent : parent + "/" + own);
  }

  // Puts the node aside if it lacks a level (the widest is reported) or has no rail.
  void CheckComplete(std::size_t n) {
    for (std::size_t l = 0; l < spec_.levels.size(); ++l) {
      if (FromRails(l) || IsFlat(n, l)) continue;
      const LevelSpec& level = spec_.levels[l];
      const auto value = LabelValue(*candidates_[n], level.label_key);
      if (value && !IsPlaceholder(*value)) continue;
      const bool placeholder = value.has_value();
      return SetAside(n, level.name, level.label_key,
                      placeholder ? "placeholder \"" + std::string(*value) + "\"" : "");
    }
    if (!result_.rails.empty() && result_.rails[n] == 0) {
      SetAside(n, spec_.levels.back().name, spec_.rails->leaf_label_keys.front(), "no rail at all");
    }
  }

  void SetAside(std::size_t n, const std::string& level, const std::string& key, std::string why) {
    result_.aside[n] = true;
    result_.incomplete.push_back({candidates_[n]->name, level, key, std::move(why)});
  }

  // By candidate: the number of its value at the level; values_ has the texts.
  std::vector<std::uint32_t> ValuesOf(std::size_t l) {
    values_ = ValueIds();
    std::vector<std::uint32_t> ids(candidates_.size(), kNoGroup);
    for (std::size_t n = 0; n < candidates_.size(); ++n) {
      if (result_.aside[n]) continue;
      ids[n] = IsFlat(n, l)   ? values_.Of(FlatValue(n, l))
               : FromRails(l) ? values_.Of(rail_sets_.names[rail_sets_.of_node[n]])
                              : values_.Of(LabelledValue(n, spec_.levels[l]));
    }
    return ids;
  }

  // Precondition: the node has the label.
  std::string_view LabelledValue(std::size_t n, const LevelSpec& level) {
    const NodeFacts& node = *candidates_[n];
    const std::string_view value = *LabelValue(node, level.label_key);
    if (!level.parts_tpu_slices || !IsWholeTpuSlice(node)) return value;
    return made_.emplace_back(std::string(value) + "/" + node.name);
  }

  void SetInconsistentAside(std::size_t l, const std::vector<std::uint32_t>& values) {
    const std::vector<std::uint32_t>& parents = result_.levels[l - 1].of_node;
    std::vector<std::uint32_t> first_parent(values_.size(), kNoGroup);
    std::vector<bool> inconsistent(values_.size(), false);
    for (std::size_t n = 0; n < values.size(); ++n) {
      if (result_.aside[n]) continue;
      std::uint32_t& parent = first_parent[values[n]];
      if (parent == kNoGroup) parent = parents[n];
      if (parent != parents[n]) inconsistent[values[n]] = true;
    }
    // By value, then by parent: the nodes in order of name.
    std::map<std::string_view, std::map<std::uint32_t, std::vector<std::size_t>>> sides;
    for (std::size_t n = 0; n < values.size(); ++n) {
      if (result_.aside[n] || !inconsistent[values[n]]) continue;
      sides[values_.value(values[n])][parents[n]].push_back(n);
    }
    for (const auto& [value, by_parent] : sides) Resolve(l, value, by_parent);
  }

  void Resolve(std::size_t l, std::string_view value,
               const std::map<std::uint32_t, std::vector<std::size_t>>& by_parent) {
    const std::vector<std::string>& parent_names = result_.levels[l - 1].names;
    auto kept = by_parent.begin();
    for (auto side = by_parent.begin(); side != by_parent.end(); ++side) {
      const std::size_t held = kept->second.size(), size = side->second.size();
      const bool lesser_name = parent_names[side->first] < parent_names[kept->first];
      if (size > held || (size == held && lesser_name)) kept = side;
    }
    const LevelSpec& level = spec_.levels[l];
    for (auto side = by_parent.begin(); side != by_parent.end(); ++side) {
      if (side == kept) continue;
      const std::string &parent_a = parent_names[kept->first],
                        &parent_b = parent_names[side->first];
      result_.inconsistencies.push_back({level.name, std::string(value), parent_a,
                                         candidates_[kept->second.front()]->name, parent_b,
                                         candidates_[side->second.front()]->name});
      for (std::size_t n : side->second) {
        SetAside(n, level.name, level.label_key,
                 "one value under two parents: \"" + std::string(value) + "\" is under \"" +
                     parent_a + "\" and under \"" + parent_b + "\"");
      }
    }
  }

  void GroupLevel(std::size_t l, const std::vector<std::uint32_t>& values) {
    const bool path = spec_.levels[l].identity == Identity::kPath && l > 0;
    Groups& groups = result_.levels[l];
    groups.of_node.assign(candidates_.size(), kNoGroup);
    std::unordered_map<std::uint64_t, std::uint32_t> ids;  // by (parent, value); only looked up
    for (std::size_t n = 0; n < candidates_.size(); ++n) {
      if (result_.aside[n]) continue;
      const std::uint32_t parent = path ? result_.levels[l - 1].of_node[n] : 0;
      const std::uint64_t key = (std::uint64_t{parent} << 32) | values[n];
      const auto [found, added] =
          ids.try_emplace(key, static_cast<std::uint32_t>(groups.names.size()));
      groups.of_node[n] = found->second;
      if (!added) continue;
      const std::string value(values_.value(values[n]));
      groups.names.push_back(path ? result_.levels[l - 1].names[parent] + "/" + value : value);
    }
  }

  const FabricSpec& spec_;
  const std::vector<const NodeFacts*>& candidates_;
  LevelGroups result_;
  RailSets rail_sets_;
  bool leaf_from_rails_ = false;
  std::vector<LabelDepth> depths_;  // by candidate
  std::deque<std::string> made_;    // values that are no label's
  ValueIds values_;
};

}  // namespace

LevelGroups GroupByLevels(const FabricSpec& spec, const std::vector<const NodeFacts*>& candidates) {
  return LevelGrouping(spec, candidates).Run();
}

Groups GroupByLabel(const std::string& label_key, const std::vector<const NodeFacts*>& candidates,
                    const std::vector<bool>& aside) {
  Groups groups;
  groups.of_node.assign(candidates.size(), kNoGroup);
  ValueIds values;
  std::vector<std::uint32_t> group_of_value;
  for (std::size_t n = 0; n < candidates.size(); ++n) {
    if (aside[n]) continue;
    const auto next = static_cast<std::uint32_t>(groups.names.size());
    const auto value = LabelValue(*candidates[n], label_key);
    if (!value || MeansNoDomain(label_key, *value)) {
      groups.of_node[n] = next;
      groups.names.push_back(candidates[n]->name);
      continue;
    }
    const std::uint32_t id = values.Of(*value);
    if (id == group_of_value.size()) {
      group_of_value.push_back(next);
      groups.names.emplace_back(*value);
    }
    groups.of_node[n] = group_of_value[id];
  }
  return groups;
}

}  // namespace weft::fabric
