#include "operator/rules/pod_domains.h"

#include <algorithm>
#include <set>
#include <utility>

#include "operator/base/check.h"
#include "operator/fabric/selector.h"
#include "operator/rules/node_rules.h"
#include "operator/rules/selector.h"

namespace weft::rules {

using fabric::ByNode;
using fabric::Fabric;
using fabric::NodeFacts;
using fabric::NodeIndex;
using fabric::SpreadRule;

namespace {

// By node: whether it is of the job's kind (SpreadCounter).
ByNode<std::uint8_t> OfKind(const Fabric& fabric, const SlotQuery& query) {
  IndexVector<fabric::PoolIndex, std::uint8_t> pools = PoolsAllowed(fabric, query);
  for (const Want& want : ResolveWants(fabric, *query.pod).list) {
    if (!fabric.IsAccelerator(want.resource)) continue;
    for (const fabric::PoolIndex pool : pools.Indices()) {
      if (!fabric.PoolOffers(pool, want.resource)) pools[pool] = 0;
    }
  }
  std::vector<std::uint8_t> by_class;
  for (const NodeIndex n : fabric.taint_classes()) {
    const bool takes =
        query.ignore_health || (fabric.usable(n) && !CordonBlocks(*query.pod, fabric.node(n)));
    by_class.push_back(takes && !AccessBlocks(*query.pod, fabric.node(n)) ? 1 : 0);
  }
  ByNode<std::uint8_t> of_kind(fabric.node_count(), 0);
  for (const NodeIndex n : of_kind.Indices()) {
    of_kind[n] = pools[fabric.pool(n)] != 0 ? by_class[fabric.taint_class(n)] : 0;
  }
  for (const NodeIndex n : query.excluded) of_kind[n] = 0;
  return of_kind;
}

// Whether nodeTaintsPolicy Honor counts the node.
bool PassesTaintsPolicy(const SlotQuery& query, const NodeFacts& node) {
  if (!query.ignore_health && CordonBlocks(*query.pod, node)) return false;
  return PassesTaints(query, node.taints);
}

// Whether the term is about pods of the namespace of its own pod only.
bool IsOfOwnSpace(const fabric::PodTerm& term) {
  return !term.all_namespaces && term.namespaces.empty() && !term.space_selector;
}

}  // namespace

std::optional<std::string_view> ValueOf(const NodeFacts& node, const std::string& key) {
  std::optional<std::string_view> value = node.labels.At(key);
  if (!value && key == fabric::kHostNameLabel) value = node.name;
  return value;
}

Domains DomainsOf(const Fabric& fabric, const std::string& key) {
  Domains domains;
  domains.of_node.assign(fabric.node_count(), Domains::kNone);
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    const std::optional<std::string_view> value = ValueOf(fabric.node(n), key);
    if (!value) continue;
    domains.of_node[n] = domains.by_value.try_emplace(*value, domains.count).first->second;
    domains.count = static_cast<std::uint32_t>(domains.by_value.size());
  }
  return domains;
}

std::uint32_t Domains::At(std::optional<std::string_view> value) const {
  if (!value) return kNone;
  const auto found = by_value.find(*value);
  return found == by_value.end() ? kNone : found->second;
}

bool Selects(const fabric::PodTerm& term, const std::string& own_space, const std::string& space,
             const TextMap& labels) {
  const std::vector<std::string>& named = term.namespaces;
  const bool in = term.all_namespaces || (IsOfOwnSpace(term) && space == own_space) ||
                  std::find(named.begin(), named.end(), space) != named.end();
  return in && term.selector && fabric::Matches(*term.selector, labels);
}

void EachSelected(const fabric::Elsewhere::View& elsewhere, const fabric::PodTerm& term,
                  const std::string& own_space,
                  const std::function<void(const NodeFacts&, const fabric::Neighbour&)>& visit) {
  if (!term.selector) return;
  const auto check = [&](const fabric::Elsewhere::PodAt& at) {
    if (fabric::Matches(*term.selector, *at.pod.labels)) visit(*at.node.facts, at.pod);
  };
  if (term.all_namespaces) {
    elsewhere.EachPod(check);
  } else if (IsOfOwnSpace(term)) {
    elsewhere.EachPodIn(own_space, check);
  } else {
    const std::set<std::string_view> spaces(term.namespaces.begin(), term.namespaces.end());
    for (const std::string_view space : spaces) elsewhere.EachPodIn(space, check);
  }
}

SpreadCounter::SpreadCounter(std::span<const SpreadRule> rules, const Fabric& fabric,
                             const SlotQuery& query, std::span<const fabric::Claims::PodOn> pods,
                             const fabric::Elsewhere::View& elsewhere)
    : rules_(rules),
      fabric_(fabric),
      query_(query),
      elsewhere_(elsewhere),
      labelled_(fabric.node_count(), 1),
      of_kind_(OfKind(fabric, query)) {
  none_.of_node.assign(fabric.node_count(), Domains::kNone);
  std::set<std::string_view> keys;
  for (const SpreadRule& rule : rules_) {
    if (!keys.insert(rule.topology_key).second) continue;
    const Domains& domains = DomainsBy(rule.topology_key);
    for (const NodeIndex n : labelled_.Indices()) {
      if (domains.of_node[n] == Domains::kNone) labelled_[n] = 0;
    }
  }
  const std::string space = SpaceOf(query);
  for (const fabric::Claims::PodOn& on : pods) {
    if (labelled_[on.node] != 0 && !on.pod.ending && *on.pod.space == space) pods_.push_back(&on);
  }
}

const Domains& SpreadCounter::DomainsBy(const std::string& key) {
  const auto known = by_key_.find(key);
  if (known != by_key_.end()) return known->second;
  Domains domains = DomainsOf(fabric_, key);
  const bool ignores = std::any_of(rules_.begin(), rules_.end(), [&](const SpreadRule& rule) {
    return rule.topology_key == key && !rule.honor_affinity;
  });
  if (ignores) {
    elsewhere_.EachNode([&](const fabric::Elsewhere::NodeAt& at) {
      const std::optional<std::string_view> value = ValueOf(*at.facts, key);
      if (value) domains.by_value.try_emplace(*value, domains.count);
      domains.count = static_cast<std::uint32_t>(domains.by_value.size());
    });
  }
  if (domains.count == 0) return none_;
  return by_key_.emplace(key, std::move(domains)).first->second;
}

const ByNode<std::uint8_t>& SpreadCounter::Counted(bool honor_affinity, bool honor_taints) {
  ByNode<std::uint8_t>& counted = counted_[(honor_affinity ? 1U : 0U) + (honor_taints ? 2U : 0U)];
  if (!counted.empty()) return counted;
  std::vector<std::uint8_t> by_class;
  for (const NodeIndex n : fabric_.taint_classes()) {
    by_class.push_back(!honor_taints || PassesTaintsPolicy(query_, fabric_.node(n)) ? 1 : 0);
  }
  counted = labelled_;
  for (const NodeIndex n : counted.Indices()) {
    if (counted[n] == 0) continue;
    const bool passes = by_class[fabric_.taint_class(n)] != 0 &&
                        (!honor_affinity || MatchesNode(*query_.pod, fabric_.node(n)));
    counted[n] = passes ? 1 : 0;
  }
  return counted;
}

SpreadCounts SpreadCounter::Count(std::size_t which) {
  WEFT_CHECK(which < rules_.size());
  const SpreadRule& rule = rules_[which];
  const Domains& domains = DomainsBy(rule.topology_key);
  SpreadCounts counts;
  counts.domains = &domains;
  counts.eligible.assign(domains.count, 0);
  counts.pods.assign(domains.count, 0);
  counts.on_node.assign(fabric_.node_count(), 0);
  const ByNode<std::uint8_t>& counted = Counted(rule.honor_affinity, rule.honor_taints);
  for (const NodeIndex n : counted.Indices()) {
    if (counted[n] == 0 || (rule.honor_affinity && of_kind_[n] == 0)) continue;
    counts.eligible[domains.of_node[n]] = 1;
  }
  CountElsewhere(rule, counts);
  if (!rule.selector) return counts;
  for (const fabric::Claims::PodOn* on : pods_) {
    if (counted[on->node] == 0 || !fabric::Matches(*rule.selector, *on->pod.labels)) continue;
    ++counts.pods[domains.of_node[on->node]];
    ++counts.on_node[on->node];
  }
  return counts;
}

bool SpreadCounter::IsLabelled(const NodeFacts& node) const {
  return std::all_of(rules_.begin(), rules_.end(), [&](const SpreadRule& rule) {
    return ValueOf(node, rule.topology_key).has_value();
  });
}

bool SpreadCounter::Counts(const SpreadRule& rule, const NodeFacts& node) const {
  return IsLabelled(node) && (!rule.honor_affinity || MatchesNode(*query_.pod, node)) &&
         (!rule.honor_taints || PassesTaintsPolicy(query_, node));
}

// With Honor a domain that only has nodes elsewhere is not of the job's kind, so it is unknown
// here.
void SpreadCounter::CountElsewhere(const SpreadRule& rule, SpreadCounts& counts) const {
  const Domains& domains = *counts.domains;
  if (!rule.honor_affinity) {
    elsewhere_.EachNode([&](const fabric::Elsewhere::NodeAt& at) {
      if (!Counts(rule, *at.facts)) return;
      counts.eligible[domains.At(ValueOf(*at.facts, rule.topology_key))] = 1;
    });
  }
  if (!rule.selector) return;
  elsewhere_.EachPodIn(SpaceOf(query_), [&](const fabric::Elsewhere::PodAt& at) {
    if (at.pod.ending || !fabric::Matches(*rule.selector, *at.pod.labels)) return;
    const std::uint32_t domain = domains.At(ValueOf(*at.node.facts, rule.topology_key));
    if (domain != Domains::kNone && Counts(rule, *at.node.facts)) ++counts.pods[domain];
  });
}

bool SpreadCounter::Takes(NodeIndex node) {
  return of_kind_[node] != 0 && Counted(true, true)[node] != 0;
}

}  // namespace weft::rules
