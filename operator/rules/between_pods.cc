#include "operator/rules/between_pods.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "operator/base/check.h"
#include "operator/base/phrases.h"
#include "operator/fabric/selector.h"
#include "operator/rules/keep_workers.h"
#include "operator/rules/node_rules.h"
#include "operator/rules/pod_domains.h"
#include "operator/rules/volumes.h"
#include "operator/rules/worker_rules.h"

namespace weft::rules {

using fabric::Claims;
using fabric::Neighbour;
using fabric::NodeIndex;
using fabric::PodTerm;
using fabric::SpreadRule;

namespace {

using Slots = fabric::ByNode<std::uint32_t>;

std::uint64_t TotalOf(const Slots& slots) {
  return std::accumulate(slots.begin(), slots.end(), std::uint64_t{0});
}

// Where one rule after the other has left too few slots, those of a placement that keeps all.
void FindOthers(const Claims& claims, const SlotQuery& query, Slots all, Slots& slots,
                Apart* apart) {
  const WorkerRules rules = RulesOfWorkers(claims, query, all);
  if (rules.empty()) return;
  const std::optional<Slots> found = FindWorkers(rules, all, query.cap);
  if (!found) return;
  if (apart != nullptr) {
    const auto elsewhere = static_cast<std::uint32_t>(apart->texts.size());
    apart->texts.push_back({Apart::Kind::kPods, BetweenWorkersText(query)});
    for (const NodeIndex n : slots.Indices()) {
      if ((*found)[n] > 0) apart->why[n] = Apart::kNotApart;
      if ((*found)[n] == 0 && slots[n] > 0) apart->why[n] = elsewhere;
    }
  }
  slots = *found;
}

// Whether a pod that runs has anti-affinity to the query's pod.
bool IsKeptAway(const Claims& claims, const SlotQuery& query) {
  const std::string space = SpaceOf(query);
  for (const Neighbour& pod : claims.keeping_away()) {
    for (const PodTerm& term : pod.terms->anti_affinity) {
      if (Selects(term, *pod.space, space, query.pod->labels)) return true;
    }
  }
  bool kept = false;
  claims.elsewhere().EachAway(space, [&](const fabric::Elsewhere::TermAt& at) {
    kept = kept || Selects(*at.term, *at.space, space, query.pod->labels);
  });
  return kept;
}

}  // namespace

bool LooksAtPods(const Claims& claims, const SlotQuery& query) {
  const fabric::PodTerms& terms = *query.pod->terms;
  return !terms.host_ports.empty() || !terms.affinity.empty() || !terms.anti_affinity.empty() ||
         !terms.spread.empty() || query.pod->claims_compute_domain || LooksAtVolumes(query) ||
         (!query.ignore_claims && IsKeptAway(claims, query));
}

void KeepApart(const Claims& claims, const SlotQuery& query, Slots& slots, Apart* apart) {
  WEFT_CHECK(slots.size() == claims.fabric().node_count());
  if (!LooksAtPods(claims, query)) return;
  const Slots all = slots;
  KeepWorkers(claims, query, slots, apart);
  if (TotalOf(slots) < query.cap && TotalOf(all) >= query.cap)
    FindOthers(claims, query, all, slots, apart);
}

std::string BetweenWorkersText(const SlotQuery& query) {
  const fabric::PodTerms& terms = *query.pod->terms;
  const std::string space = SpaceOf(query);
  if (const std::string text = SoleVolumeText(query); !text.empty()) return text;
  if (!terms.host_ports.empty()) {
    return "a node takes one worker, because it has one " + PortText(terms.host_ports.front());
  }
  if (query.pod->claims_compute_domain) {
    return "a node takes one worker, because it has one ComputeDomain channel";
  }
  const auto own = [&](const PodTerm& term) {
    return Selects(term, space, space, query.pod->labels);
  };
  for (const PodTerm& term : terms.anti_affinity) {
    if (own(term)) {
      return "one value of " + term.topology_key +
             " takes one worker, because the pods have anti-affinity to each other";
    }
  }
  for (const PodTerm& term : terms.affinity) {
    if (own(term)) {
      return "all workers must share one value of " + term.topology_key +
             ", because the pods have affinity to each other";
    }
  }
  for (const SpreadRule& rule : terms.spread) {
    if (rule.selector && fabric::Matches(*rule.selector, query.pod->labels)) {
      if (IsForNodes(rule)) {
        return "a node takes " + CountText(rule.max_skew, "worker") +
               ", because of minDomains in topologySpreadConstraints: kube-scheduler counts only " +
               "the node to which a worker is pinned";
      }
      return "topologySpreadConstraints allow a skew of " + std::to_string(rule.max_skew) +
             " between values of " + rule.topology_key;
    }
  }
  return UnboundVolumesText(query);
}

}  // namespace weft::rules
