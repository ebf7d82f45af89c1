#include "operator/rules/keep_workers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "operator/base/check.h"
#include "operator/fabric/selector.h"
#include "operator/rules/node_rules.h"
#include "operator/rules/pod_domains.h"
#include "operator/rules/volumes.h"

namespace weft::rules {

using fabric::ByNode;
using fabric::Claims;
using fabric::Fabric;
using fabric::HostPort;
using fabric::Neighbour;
using fabric::NodeFacts;
using fabric::NodeIndex;
using fabric::PodTerm;
using fabric::SpreadRule;

namespace {

using PodOn = Claims::PodOn;
using Slots = ByNode<std::uint32_t>;

bool Clash(const HostPort& a, const HostPort& b) {
  return a.port == b.port && a.protocol == b.protocol &&
         (a.address.empty() || b.address.empty() || a.address == b.address);
}

// One query's rules, applied to its slots in turn. With `rules`, those between the workers go
// there.
class Keeping {
 public:
  Keeping(const Claims& claims, const SlotQuery& query, SlotTaker taker, WorkerRules* rules)
      : fabric_(claims.fabric()),
        query_(query),
        space_(SpaceOf(query)),
        taker_(taker),
        slots_(taker_.slots()),
        rules_(rules) {
    if (query.ignore_claims) return;
    pods_ = claims.PodsOn();
    elsewhere_ = claims.elsewhere();
  }

  void Run() {
    KeepToVolumes(query_, fabric_, pods_, elsewhere_, taker_);
    KeepToPorts();
    KeepFromPods();
    for (const PodTerm& term : terms().anti_affinity) KeepFrom(term);
    KeepTogether();
    KeepToUnbound(query_, fabric_, taker_, rules_);
    Spread();
    if (terms().host_ports.empty() && !query_.pod->claims_compute_domain) return;
    for (std::uint32_t& slots : taker_.slots()) slots = std::min(slots, 1U);
  }

 private:
  const fabric::PodTerms& terms() const { return *query_.pod->terms; }

  bool SelectsOwn(const PodTerm& term, const std::string& of_space) const {
    return Selects(term, of_space, space_, query_.pod->labels);
  }
  bool SelectsPod(const PodTerm& term, const Neighbour& pod) const {
    return Selects(term, space_, *pod.space, *pod.labels);
  }

  std::uint32_t Text(const std::string& text) { return taker_.Text(Apart::Kind::kPods, text); }
  void Take(NodeIndex node, std::uint32_t left, std::uint32_t why) { taker_.Take(node, left, why); }

  void KeepToPorts() {
    if (terms().host_ports.empty()) return;
    for (const PodOn& on : pods_) {
      if (on.pod.terms == nullptr) continue;
      for (const HostPort& own : terms().host_ports) {
        const auto& theirs = on.pod.terms->host_ports;
        const bool clash = std::any_of(theirs.begin(), theirs.end(),
                                       [&](const HostPort& one) { return Clash(own, one); });
        if (!clash) continue;
        const std::string text = PortText(own) + " is held by another pod";
        Take(on.node, 0, taker_.Text(Apart::Kind::kPort, text));
      }
    }
  }

  // Takes the slots of all nodes whose domain is among `blocked` (or is not, if `others`).
  void Block(const Domains& domains, const std::set<std::uint32_t>& blocked, bool others,
             const std::string& text) {
    const std::uint32_t why = Text(text);
    for (const NodeIndex n : slots_.Indices()) {
      const std::uint32_t domain = domains.of_node[n];
      const bool in = domain != Domains::kNone && blocked.contains(domain);
      if (in != others) Take(n, 0, why);
    }
  }

  // Anti-affinity of pods that run. A term whose key the pod's node lacks keeps nobody away; it
  // would cost a pass over all nodes, and a pod can name any number of keys.
  void KeepFromPods() {
    std::map<std::string_view, std::set<std::string_view>> by_key;
    const auto add = [&](const PodTerm& term, const std::string& space, const NodeFacts& node) {
      if (!SelectsOwn(term, space)) return;
      const std::optional<std::string_view> value = ValueOf(node, term.topology_key);
      if (value) by_key[term.topology_key].insert(*value);
    };
    for (const PodOn& on : pods_) {
      if (on.pod.terms == nullptr) continue;
      for (const PodTerm& term : on.pod.terms->anti_affinity) {
        add(term, *on.pod.space, fabric_.node(on.node));
      }
    }
    elsewhere_.EachAway(space_, [&](const fabric::Elsewhere::TermAt& at) {
      add(*at.term, *at.space, *at.node.facts);
    });
    for (const auto& [of, values] : by_key) {
      const std::string key(of);
      const Domains domains = DomainsOf(fabric_, key);
      std::set<std::uint32_t> blocked;
      for (const std::string_view value : values) blocked.insert(domains.At(value));
      Block(domains, blocked, false, "anti-affinity of pods that run there, by " + key);
    }
  }

  void KeepFrom(const PodTerm& term) {
    const Domains domains = DomainsOf(fabric_, term.topology_key);
    std::set<std::uint32_t> blocked;
    for (const PodOn& on : pods_) {
      if (SelectsPod(term, on.pod)) blocked.insert(domains.of_node[on.node]);
    }
    EachSelected(elsewhere_, term, space_, [&](const NodeFacts& node, const Neighbour& /*pod*/) {
      blocked.insert(domains.At(ValueOf(node, term.topology_key)));
    });
    Block(domains, blocked, false, "anti-affinity to pods that run there, by " + term.topology_key);
    if (!SelectsOwn(term, space_)) return;
    if (rules_ != nullptr) {
      AddLimit(domains, std::vector<std::uint64_t>(domains.count, 1));
      return;
    }
    KeepToShares(domains, std::vector<std::uint64_t>(domains.count, 1),
                 "anti-affinity to the other workers, by " + term.topology_key);
  }

  // Workers that each domain takes. A domain with one node only has the limit in its slots.
  void AddLimit(const Domains& domains, std::vector<std::uint64_t> most) {
    for (const NodeIndex n : slots_.Indices()) {
      const std::uint32_t d = domains.of_node[n];
      if (d == Domains::kNone) continue;
      Take(n, static_cast<std::uint32_t>(std::min<std::uint64_t>(most[d], slots_[n])),
           Apart::kNotApart);
    }
    const std::vector<std::uint64_t> room = RoomBy(domains);
    bool limited = false;
    for (std::uint32_t d = 0; d < domains.count; ++d) limited = limited || room[d] > most[d];
    if (limited) rules_->limits.push_back({domains.of_node, std::move(most)});
  }

  // A domain takes no more than the skew above the highest that the emptiest can come to. If it
  // stays as it is, this is the whole rule.
  void AddSpread(const SpreadRule& rule, const SpreadCounts& counts) {
    const std::vector<std::uint64_t> room = RoomBy(*counts.domains);
    const std::uint64_t emptiest = EmptiestOf(rule, counts);
    const bool few = CountsAsEmpty(rule, counts);
    std::uint64_t level = emptiest;
    while (!few && CanReach(level + 1, counts, room)) ++level;
    const auto skew = static_cast<std::uint64_t>(rule.max_skew);
    std::vector<std::uint64_t> most;
    for (const std::uint64_t pods : counts.pods) {
      most.push_back(level + skew - std::min(level + skew, pods));
    }
    if (level > emptiest) {
      rules_->spreads.push_back({counts.domains->of_node, counts.pods, counts.eligible, skew, few});
    }
    AddLimit(*counts.domains, std::move(most));
  }

  // Whether the workers can bring all domains to as many pods.
  bool CanReach(std::uint64_t level, const SpreadCounts& counts,
                const std::vector<std::uint64_t>& room) const {
    std::uint64_t demanded = 0;
    for (std::size_t d = 0; d < room.size(); ++d) {
      if (counts.eligible[d] == 0 || counts.pods[d] >= level) continue;
      const std::uint64_t least = level - counts.pods[d];
      demanded += least;
      if (least > room[d] || demanded > query_.cap) return false;
    }
    return demanded > 0;
  }

  // At most `share` slots for each domain, on its roomiest nodes.
  void KeepToShares(const Domains& domains, std::vector<std::uint64_t> share,
                    const std::string& text) {
    const std::uint32_t why = Text(text);
    for (const NodeIndex n : taker_.Roomiest()) {
      if (domains.of_node[n] == Domains::kNone) continue;
      std::uint64_t& left = share[domains.of_node[n]];
      Take(n, static_cast<std::uint32_t>(std::min<std::uint64_t>(left, slots_[n])), why);
      left -= slots_[n];
    }
  }

  // The nodes of pods that match all terms of required affinity. One without any of their labels
  // does not count.
  std::vector<const NodeFacts*> NodesBeside(bool nominated) const {
    const std::vector<PodTerm>& affinity = terms().affinity;
    std::vector<const NodeFacts*> with;
    const auto add = [&](const NodeFacts& node, const Neighbour& pod) {
      const bool all = std::all_of(affinity.begin(), affinity.end(),
                                   [&](const PodTerm& term) { return SelectsPod(term, pod); });
      const bool labelled = std::any_of(affinity.begin(), affinity.end(), [&](const PodTerm& term) {
        return ValueOf(node, term.topology_key).has_value();
      });
      if (all && labelled && pod.nominated == nominated) with.push_back(&node);
    };
    for (const PodOn& on : pods_) add(fabric_.node(on.node), on.pod);
    EachSelected(elsewhere_, affinity.front(), space_, add);
    return with;
  }

  // Required affinity. While no pod matches all terms, a pod that matches its own terms may go to
  // any node with the labels, as kube-scheduler lets the first of a group. As if nothing else ran,
  // the pods that it must be beside may come anywhere. kube-scheduler asks twice where a pod is
  // nominated, as if it were there and as if not: such a pod alone is no company for others, but
  // says where a group begins.
  void KeepTogether() {
    const std::vector<PodTerm>& affinity = terms().affinity;
    if (affinity.empty()) return;
    const bool own = std::all_of(affinity.begin(), affinity.end(),
                                 [&](const PodTerm& term) { return SelectsOwn(term, space_); });
    std::vector<const NodeFacts*> with = NodesBeside(false);
    if (with.empty() && own) with = NodesBeside(true);
    for (const PodTerm& term : affinity) {
      const Domains domains = DomainsOf(fabric_, term.topology_key);
      std::set<std::uint32_t> allowed;
      for (const NodeFacts* node : with) {
        allowed.insert(domains.At(ValueOf(*node, term.topology_key)));
      }
      if (with.empty() && own) allowed = Together(domains);
      if (query_.ignore_claims && !own) {
        for (std::uint32_t d = 0; d < domains.count; ++d) allowed.insert(allowed.end(), d);
      }
      const std::string to = with.empty() && own ? "the other workers" : "pods that run";
      Block(domains, allowed, true, "affinity to " + to + ", by " + term.topology_key);
    }
  }

  // The domains of which the workers may share one.
  std::set<std::uint32_t> Together(const Domains& domains) {
    if (rules_ == nullptr) return Roomiest(domains);
    std::set<std::uint32_t> all;
    for (std::uint32_t d = 0; d < domains.count; ++d) all.insert(all.end(), d);
    if (all.size() > 1) rules_->together.push_back({domains.of_node});
    return all;
  }

  std::set<std::uint32_t> Roomiest(const Domains& domains) const {
    const std::vector<std::uint64_t> room = RoomBy(domains);
    if (room.empty()) return {};
    return {static_cast<std::uint32_t>(std::max_element(room.begin(), room.end()) - room.begin())};
  }

  std::vector<std::uint64_t> RoomBy(const Domains& domains) const {
    std::vector<std::uint64_t> room(domains.count, 0);
    for (const NodeIndex n : slots_.Indices()) {
      if (domains.of_node[n] != Domains::kNone) room[domains.of_node[n]] += slots_[n];
    }
    return room;
  }

  void Spread() {
    const std::vector<SpreadRule>& rules = terms().spread;
    if (rules.empty()) return;
    SpreadCounter counter(rules, fabric_, query_, pods_, elsewhere_);
    for (std::size_t rule = 0; rule < rules.size(); ++rule) {
      Spread(rules[rule], counter.Count(rule));
    }
  }

  void Spread(const SpreadRule& rule, const SpreadCounts& counts) {
    const Domains& domains = *counts.domains;
    const std::string text = "topologySpreadConstraints by " + rule.topology_key;
    const std::uint32_t without = Text(text + ": the node lacks the label");
    for (const NodeIndex n : slots_.Indices()) {
      if (domains.of_node[n] == Domains::kNone) Take(n, 0, without);
    }
    if (!rule.selector) return;
    const bool own = fabric::Matches(*rule.selector, query_.pod->labels);
    if (IsForNodes(rule)) KeepToNodes(rule, counts, own);
    if (own && rules_ != nullptr && EligibleIn(counts) > 0) {
      AddSpread(rule, counts);
      return;
    }
    if (own) {
      KeepToShares(domains, SharesOf(rule, counts, RoomBy(domains)), text);
      return;
    }
    // The workers do not count, so the skew stays as it is.
    const std::uint64_t most = EmptiestOf(rule, counts) + static_cast<std::uint64_t>(rule.max_skew);
    std::set<std::uint32_t> blocked;
    for (std::uint32_t d = 0; d < domains.count; ++d) {
      if (counts.pods[d] > most) blocked.insert(d);
    }
    Block(domains, blocked, false, text);
  }

  // A node takes workers up to max_skew, which counts its pods too.
  void KeepToNodes(const SpreadRule& rule, const SpreadCounts& counts, bool own) {
    const auto skew = static_cast<std::uint64_t>(rule.max_skew);
    const std::uint32_t why =
        Text("topologySpreadConstraints by " + rule.topology_key + ": minDomains of a pinned pod");
    for (const NodeIndex n : slots_.Indices()) {
      const std::uint64_t pods = counts.on_node[n];
      const std::uint64_t left = pods > skew ? 0 : own ? skew - pods : slots_[n];
      Take(n, static_cast<std::uint32_t>(std::min<std::uint64_t>(left, slots_[n])), why);
    }
  }

  // How many workers each domain takes: up to max_skew more than the emptiest has; if that is not
  // enough, the emptiest are filled first, as long as they have room.
  std::vector<std::uint64_t> SharesOf(const SpreadRule& rule, const SpreadCounts& counts,
                                      const std::vector<std::uint64_t>& room) const {
    const std::vector<std::uint8_t>& eligible = counts.eligible;
    const std::vector<std::uint64_t>& pods = counts.pods;
    const auto skew = static_cast<std::uint64_t>(rule.max_skew);
    if (EligibleIn(counts) == 0) return std::vector<std::uint64_t>(pods.size(), 0);
    const bool few = CountsAsEmpty(rule, counts);
    std::vector<std::uint64_t> best;
    for (std::uint64_t level = EmptiestOf(rule, counts);; ++level) {
      std::vector<std::uint64_t> least, most;
      std::uint64_t demanded = 0, fits = 0;
      bool reached = true;
      for (std::size_t d = 0; d < pods.size(); ++d) {
        const std::uint64_t up_to = level + skew;
        least.push_back(eligible[d] != 0 && pods[d] < level ? level - pods[d] : 0);
        most.push_back(std::min(room[d], pods[d] < up_to ? up_to - pods[d] : 0));
        reached = reached && least[d] <= room[d];
        demanded += least[d];
        fits += most[d];
      }
      if (!reached || demanded > query_.cap) return best;  // no better than the level before
      best = demanded == 0 ? most : Filled(least, most, query_.cap);
      if (few || fits >= query_.cap) return best;
    }
  }

  static std::int64_t EligibleIn(const SpreadCounts& counts) {
    return std::accumulate(counts.eligible.begin(), counts.eligible.end(), std::int64_t{0});
  }

  // Whether the emptiest domain counts as empty, because there are fewer than minDomains.
  static bool CountsAsEmpty(const SpreadRule& rule, const SpreadCounts& counts) {
    return EligibleIn(counts) == 0 || EligibleIn(counts) < rule.min_domains;
  }

  // The pods in the emptiest domain that counts.
  static std::uint64_t EmptiestOf(const SpreadRule& rule, const SpreadCounts& counts) {
    if (CountsAsEmpty(rule, counts)) return 0;
    std::uint64_t emptiest = ~0ULL;
    for (std::size_t d = 0; d < counts.pods.size(); ++d) {
      if (counts.eligible[d] != 0) emptiest = std::min(emptiest, counts.pods[d]);
    }
    return emptiest;
  }

  // `least` everywhere, and the rest of `total` where there is room up to `most`.
  static std::vector<std::uint64_t> Filled(const std::vector<std::uint64_t>& least,
                                           const std::vector<std::uint64_t>& most,
                                           std::uint64_t total) {
    std::uint64_t left = total - std::accumulate(least.begin(), least.end(), std::uint64_t{0});
    std::vector<std::uint64_t> shares = least;
    for (std::size_t d = 0; d < shares.size(); ++d) {
      const std::uint64_t more = std::min(left, most[d] - std::min(most[d], shares[d]));
      shares[d] += more;
      left -= more;
    }
    return shares;
  }

  const Fabric& fabric_;
  const SlotQuery& query_;
  std::string space_;
  SlotTaker taker_;
  const Slots& slots_;
  WorkerRules* rules_;
  std::vector<PodOn> pods_;
  fabric::Elsewhere::View elsewhere_;
};

}  // namespace

std::string PortText(const HostPort& port) {
  return "host port " + std::to_string(port.port) + "/" + port.protocol;
}

bool IsForNodes(const SpreadRule& rule) { return rule.honor_affinity && rule.min_domains > 1; }

void KeepWorkers(const Claims& claims, const SlotQuery& query, ByNode<std::uint32_t>& slots,
                 Apart* apart) {
  Keeping(claims, query, {slots, apart}, nullptr).Run();
}

WorkerRules RulesOfWorkers(const Claims& claims, const SlotQuery& query,
                           ByNode<std::uint32_t>& slots) {
  WorkerRules rules;
  Keeping(claims, query, {slots, nullptr}, &rules).Run();
  return rules;
}

}  // namespace weft::rules
