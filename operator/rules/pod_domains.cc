#include "operator/rules/pod_domains.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "operator/base/check.h"
#include "operator/fabric/selector.h"
#include "operator/rules/node_rules.h"
#include "operator/rules/selector.h"

namespace weft::rules {

using fabric::Fabric;
using fabric::NodeFacts;
using fabric::NodeIndex;
using fabric::SpreadRule;

namespace {

std::optional<std::string_view> ValueOf(const NodeFacts& node, const std::string& key) {
  std::optional<std::string_view> value = node.labels.At(key);
  if (!value && key == fabric::kHostNameLabel) value = node.name;
  return value;
}

// Whether the node passes nodeAffinityPolicy and nodeTaintsPolicy.
bool PassesPolicies(const SpreadRule& rule, const Fabric& fabric, const SlotQuery& query,
                    NodeIndex n) {
  const NodeFacts& node = fabric.node(n);
  if (rule.honor_affinity && !MatchesNode(*query.pod, node)) return false;
  if (!rule.honor_taints) return true;
  // The taints of a cordoned node come and go with the cordon.
  if (CordonBlocks(fabric, *query.pod, n)) return query.ignore_health;
  return PassesTaints(query, node.taints);
}

}  // namespace

Domains DomainsOf(const Fabric& fabric, const std::string& key) {
  Domains domains;
  domains.of_node.assign(fabric.node_count(), Domains::kNone);
  std::map<std::string_view, std::uint32_t> by_value;
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    const std::optional<std::string_view> value = ValueOf(fabric.node(n), key);
    if (!value) continue;
    domains.of_node[n] = by_value.try_emplace(*value, domains.count).first->second;
    domains.count = static_cast<std::uint32_t>(by_value.size());
  }
  return domains;
}

bool Selects(const fabric::PodTerm& term, const std::string& own_space, const std::string& space,
             const TextMap& labels) {
  const std::vector<std::string>& named = term.namespaces;
  const bool in = term.all_namespaces ||
                  (named.empty() ? space == own_space
                                 : std::find(named.begin(), named.end(), space) != named.end());
  return in && term.selector && fabric::Matches(*term.selector, labels);
}

SpreadCounts CountSpread(std::span<const SpreadRule> rules, std::size_t which, const Fabric& fabric,
                         const SlotQuery& query, std::span<const fabric::Claims::PodOn> pods) {
  WEFT_CHECK(which < rules.size());
  const SpreadRule& rule = rules[which];
  SpreadCounts counts;
  counts.domains = DomainsOf(fabric, rule.topology_key);
  counts.eligible.assign(counts.domains.count, 0);
  counts.pods.assign(counts.domains.count, 0);
  counts.on_node.assign(fabric.node_count(), 0);
  fabric::ByNode<std::uint8_t> counted(fabric.node_count(), 0);
  for (const NodeIndex n : counted.Indices()) {
    const bool labelled = std::all_of(rules.begin(), rules.end(), [&](const SpreadRule& one) {
      return ValueOf(fabric.node(n), one.topology_key).has_value();
    });
    if (!labelled || !PassesPolicies(rule, fabric, query, n)) continue;
    counted[n] = 1;
    counts.eligible[counts.domains.of_node[n]] = 1;
  }
  if (!rule.selector) return counts;
  const std::string space = SpaceOf(query);
  for (const fabric::Claims::PodOn& on : pods) {
    if (counted[on.node] == 0 || on.pod.ending || *on.pod.space != space) continue;
    if (!fabric::Matches(*rule.selector, *on.pod.labels)) continue;
    ++counts.pods[counts.domains.of_node[on.node]];
    ++counts.on_node[on.node];
  }
  return counts;
}

}  // namespace weft::rules
