#include "operator/rules/preferred_pods.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "operator/rules/node_rules.h"
#include "operator/rules/pod_domains.h"

namespace weft::rules {

using fabric::ByNode;
using fabric::Claims;
using fabric::Neighbour;
using fabric::NodeIndex;
using fabric::PodTerm;

namespace {

constexpr std::int64_t kHardPodAffinityWeight = 1;
constexpr std::int64_t kMostWeight = 100;  // that the API server admits
constexpr double kMostCrowded = 1e12;      // keeps sums of scores from overflow

// The weights of terms that are met, by topologyKey, each for the domain of a node. Only keys that
// the node of a pod has: others would cost a pass over all nodes each, and a pod can name any.
class MetTerms {
 public:
  MetTerms(const fabric::Fabric& fabric, const SlotQuery& query)
      : fabric_(fabric), query_(query), space_(SpaceOf(query)) {}

  // The terms of a pod that runs towards the query's pod.
  void AddTheirs(const Claims::PodOn& on) {
    if (on.pod.terms == nullptr) return;
    const auto add = [&](const PodTerm& term, std::int64_t weight) {
      AddTheirs(term, *on.pod.space, fabric_.node(on.node), weight);
    };
    for (const PodTerm& term : on.pod.terms->affinity) add(term, kHardPodAffinityWeight);
    for (const fabric::PreferredPodTerm& one : on.pod.terms->preferred) add(one.term, one.weight);
  }

  // The terms of both sides towards pods elsewhere.
  void AddElsewhere(const fabric::Elsewhere::View& elsewhere) {
    elsewhere.EachBeside(space_, [&](const fabric::Elsewhere::TermAt& at) {
      const std::int64_t weight = at.weight == 0 ? kHardPodAffinityWeight : at.weight;
      AddTheirs(*at.term, *at.space, *at.node.facts, weight);
    });
    for (const fabric::PreferredPodTerm& one : query_.pod->terms->preferred) {
      EachSelected(elsewhere, one.term, space_,
                   [&](const fabric::NodeFacts& node, const Neighbour& /*pod*/) {
                     Add(one.term, node, one.weight);
                   });
    }
  }

  // The query's terms towards a pod that runs.
  void AddOwn(const Claims::PodOn& on) {
    for (const fabric::PreferredPodTerm& one : query_.pod->terms->preferred) {
      if (Selects(one.term, space_, *on.pod.space, *on.pod.labels)) {
        Add(one.term, fabric_.node(on.node), one.weight);
      }
    }
  }

  ByNode<std::int64_t> ByNodeOf() const {
    if (by_key_.empty()) return {};
    ByNode<std::int64_t> met(fabric_.node_count(), 0);
    for (const auto& [key, weights] : by_key_) {
      const Domains domains = DomainsOf(fabric_, key);
      std::vector<std::int64_t> by_domain(domains.count, 0);
      for (const auto& [value, weight] : weights) {
        const std::uint32_t domain = domains.At(value);
        if (domain != Domains::kNone) by_domain[domain] += weight;
      }
      for (const NodeIndex n : met.Indices()) {
        if (domains.of_node[n] != Domains::kNone) met[n] += by_domain[domains.of_node[n]];
      }
    }
    return met;
  }

 private:
  void AddTheirs(const PodTerm& term, const std::string& space, const fabric::NodeFacts& node,
                 std::int64_t weight) {
    if (Selects(term, space, space_, query_.pod->labels)) Add(term, node, weight);
  }

  void Add(const PodTerm& term, const fabric::NodeFacts& node, std::int64_t weight) {
    const std::optional<std::string_view> value = ValueOf(node, term.topology_key);
    if (!value) return;
    by_key_[term.topology_key].emplace_back(*value, std::clamp(weight, -kMostWeight, kMostWeight));
  }

  const fabric::Fabric& fabric_;
  const SlotQuery& query_;
  std::string space_;
  std::map<std::string, std::vector<std::pair<std::string_view, std::int64_t>>> by_key_;
};

// Whether a pod that runs has a term that counts for the query's pod.
bool IsPreferred(const Claims& claims, const SlotQuery& query) {
  const std::string space = SpaceOf(query);
  const auto towards = [&](const Neighbour& pod, const PodTerm& term) {
    return Selects(term, *pod.space, space, query.pod->labels);
  };
  bool wished = false;
  claims.elsewhere().EachBeside(space, [&](const fabric::Elsewhere::TermAt& at) {
    wished = wished || Selects(*at.term, *at.space, space, query.pod->labels);
  });
  return wished ||
         std::any_of(
             claims.preferring().begin(), claims.preferring().end(), [&](const Neighbour& pod) {
               return std::any_of(pod.terms->affinity.begin(), pod.terms->affinity.end(),
                                  [&](const PodTerm& term) { return towards(pod, term); }) ||
                      std::any_of(pod.terms->preferred.begin(), pod.terms->preferred.end(),
                                  [&](const fabric::PreferredPodTerm& one) {
                                    return towards(pod, one.term);
                                  });
             });
}

}  // namespace

ByNode<std::int64_t> PreferredPodsBy(const Claims& claims, const SlotQuery& query) {
  if (query.ignore_claims) return {};
  if (query.pod->terms->preferred.empty() && !IsPreferred(claims, query)) return {};
  MetTerms met(claims.fabric(), query);
  for (const Claims::PodOn& on : claims.PodsOn()) {
    met.AddTheirs(on);
    met.AddOwn(on);
  }
  met.AddElsewhere(claims.elsewhere());
  return met.ByNodeOf();
}

ByNode<std::int64_t> CrowdedBy(const Claims& claims, const SlotQuery& query) {
  const std::vector<fabric::SpreadRule>& rules = query.pod->terms->preferred_spread;
  if (rules.empty()) return {};
  std::vector<Claims::PodOn> pods;
  if (!query.ignore_claims) pods = claims.PodsOn();
  const fabric::Elsewhere::View elsewhere =
      query.ignore_claims ? fabric::Elsewhere::View() : claims.elsewhere();
  const fabric::Fabric& fabric = claims.fabric();
  SpreadCounter counter(rules, fabric, query, pods, elsewhere);
  std::vector<NodeIndex> takers;
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    if (counter.Takes(n)) takers.push_back(n);
  }
  ByNode<double> sums(fabric.node_count(), 0.0);
  for (std::size_t rule = 0; rule < rules.size(); ++rule) {
    const SpreadCounts counts = counter.Count(rule);
    const Domains& domains = *counts.domains;
    std::vector<std::uint8_t> taking(domains.count, 0);
    for (const NodeIndex n : takers) taking[domains.of_node[n]] = 1;
    const double weight = std::log(std::accumulate(taking.begin(), taking.end(), 0.0) + 2.0);
    for (const NodeIndex n : takers) {
      sums[n] += static_cast<double>(counts.pods[domains.of_node[n]]) * weight +
                 static_cast<double>(rules[rule].max_skew - 1);
    }
  }
  ByNode<std::int64_t> crowded(fabric.node_count(), kNoLabel);
  for (const NodeIndex n : takers) crowded[n] = std::llround(std::min(sums[n], kMostCrowded));
  return crowded;
}

}  // namespace weft::rules
