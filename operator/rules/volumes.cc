#include "operator/rules/volumes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "operator/base/check.h"
#include "operator/rules/node_rules.h"
#include "operator/rules/pod_domains.h"
#include "operator/rules/selector.h"

namespace weft::rules {

using fabric::ByNode;
using fabric::Fabric;
using fabric::NodeFacts;
using fabric::NodeIndex;

namespace {

using PodsOn = std::vector<fabric::Claims::PodOn>;
using Unbound = VolumeRules::Unbound;
using Terms = std::optional<std::vector<NodeSelectorTerm>>;

constexpr std::uint32_t kMade = ~0U - 1;  // instead of the index of a free volume
constexpr std::uint32_t kNoVolume = ~0U;

bool Reaches(const Terms& terms, const NodeFacts& node) {
  return !terms || MatchesAffinity(*terms, node);
}

// Whether one of the terms could hold once the node has the labels that it lacks.
bool MayReach(std::span<const NodeSelectorTerm> terms, const NodeFacts& node) {
  return std::any_of(terms.begin(), terms.end(), [&](const NodeSelectorTerm& term) {
    NodeSelectorTerm known = term;
    std::erase_if(known.match_expressions,
                  [&](const auto& one) { return one.op == "In" && !node.labels.At(one.key); });
    const bool none = known.match_expressions.empty() && known.match_fields.empty();
    return none ? !term.match_expressions.empty() : MatchesTerm(known, node);
  });
}

std::string SoleText(const std::string& claim) {
  return "its claim " + claim + " allows one pod (ReadWriteOncePod)";
}

bool Uses(const fabric::Neighbour& pod, const std::string& space, const std::string& claim) {
  if (pod.terms == nullptr || *pod.space != space) return false;
  return std::any_of(pod.terms->volumes.begin(), pod.terms->volumes.end(),
                     [&](const fabric::ClaimedVolume& one) { return one.claim == claim; });
}

void KeepToSoles(const SlotQuery& query, const PodsOn& pods,
                 const fabric::Elsewhere::View& elsewhere, SlotTaker& taker) {
  const std::string space = SpaceOf(query);
  for (const VolumeRules::Sole& sole : query.pod->volumes->soles) {
    bool used = std::any_of(pods.begin(), pods.end(),
                            [&](const auto& on) { return Uses(on.pod, space, sole.claim); });
    elsewhere.EachPodIn(space, [&](const fabric::Elsewhere::PodAt& at) {
      used = used || Uses(at.pod, space, sole.claim);
    });
    if (used) {
      taker.TakeAll(Apart::Kind::kVolume, SoleText(sole.claim) + ", and a running pod uses it");
    }
    if (!sole.shared || query.cap < 2) continue;
    const std::uint32_t why = taker.Text(Apart::Kind::kVolume, SoleText(sole.claim));
    std::uint32_t left = 1;
    for (const NodeIndex n : taker.Roomiest()) taker.Take(n, std::exchange(left, 0), why);
  }
}

// The volumes of a driver that pods of one node use.
struct VolumesInUse {
  std::set<std::string_view> handles;
  std::int64_t to_come = 0;  // of ephemeral volumes whose claims do not exist yet

  std::int64_t count() const { return static_cast<std::int64_t>(handles.size()) + to_come; }
};

std::map<NodeIndex, VolumesInUse> InUse(const DriverVolumes& driver, const PodsOn& pods) {
  std::map<NodeIndex, VolumesInUse> used;
  for (const fabric::Claims::PodOn& on : pods) {
    if (on.pod.terms == nullptr) continue;
    for (const fabric::ClaimedVolume& one : on.pod.terms->volumes) {
      const auto handle = driver.handles.find({*on.pod.space, one.claim});
      if (handle != driver.handles.end()) {
        used[on.node].handles.insert(handle->second);
      } else if (one.own && driver.classes.contains(one.storage_class)) {
        ++used[on.node].to_come;
      }
    }
  }
  return used;
}

constexpr std::string_view kFree = "free ";

// Whether the limit is that of the devices that no other claim has (cluster/claim_rules.h).
bool IsOfFreeDevices(const VolumeRules::Attached& attached) {
  return attached.driver.starts_with(kFree);
}

// The devices of a request of DRA (cluster/claim_rules.h) are limited like the volumes of a driver.
std::string LimitText(const VolumeRules::Attached& attached) {
  if (attached.driver.starts_with("request ")) {
    return "its " + attached.driver + " finds too few devices";
  }
  if (IsOfFreeDevices(attached)) {
    return "its " + attached.driver.substr(kFree.size()) + " finds too few free devices";
  }
  return "its claims exceed the limit of volumes of " + attached.driver;
}

void KeepToLimits(const VolumeRules::Attached& attached, const Fabric& fabric, const PodsOn& pods,
                  SlotTaker& taker) {
  WEFT_CHECK(attached.of != nullptr);
  const auto used = InUse(*attached.of, pods);
  const std::uint32_t why = taker.Text(Apart::Kind::kVolume, LimitText(attached));
  for (const NodeIndex n : taker.slots().Indices()) {
    if (taker.slots()[n] == 0) continue;
    const auto limit = attached.of->limits.find(fabric.node(n).name);
    if (limit == attached.of->limits.end()) continue;
    const auto there = used.find(n);
    const std::int64_t count = there == used.end() ? 0 : there->second.count();
    std::int64_t more = 0;
    for (const std::string& handle : attached.shared) {
      if (there == used.end() || !there->second.handles.contains(handle)) ++more;
    }
    if (attached.own == 0 && more == 0) continue;
    const std::int64_t left = limit->second - count - more;
    const std::int64_t fits = left < 0            ? 0
                              : attached.own == 0 ? std::int64_t{taker.slots()[n]}
                                                  : left / attached.own;
    if (fits < taker.slots()[n]) taker.Take(n, static_cast<std::uint32_t>(fits), why);
  }
}

// Which volumes of a claim reach which nodes. Volumes whose terms ask for one value of one label
// (a local volume, a zone) are found by the node's label, the others one by one.
class Reach {
 public:
  explicit Reach(const std::vector<FreeVolume>& volumes) : volumes_(volumes) {
    for (std::uint32_t v = 0; v < volumes.size(); ++v) {
      const fabric::SelectorExpression* only = Only(volumes[v].affinity);
      if (only == nullptr) {
        others_.push_back(v);
      } else {
        for (const std::string& value : only->values) by_label_[only->key][value].push_back(v);
      }
    }
  }

  // Ascending.
  std::vector<std::uint32_t> Of(const NodeFacts& node) const {
    std::vector<std::uint32_t> found;
    for (const std::uint32_t v : others_) {
      if (Reaches(volumes_[v].affinity, node)) found.push_back(v);
    }
    for (const auto& [key, by_value] : by_label_) {
      const auto value = node.labels.At(key);
      const auto of = value ? by_value.find(*value) : by_value.end();
      if (of != by_value.end()) found.insert(found.end(), of->second.begin(), of->second.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

 private:
  static const fabric::SelectorExpression* Only(const Terms& terms) {
    if (!terms || terms->size() != 1) return nullptr;
    const NodeSelectorTerm& term = terms->front();
    if (term.match_expressions.size() != 1 || !term.match_fields.empty()) return nullptr;
    const fabric::SelectorExpression& only = term.match_expressions.front();
    return only.op == "In" && !IsMalformedExpression(only) ? &only : nullptr;
  }

  const std::vector<FreeVolume>& volumes_;
  std::vector<std::uint32_t> others_;
  std::map<std::string, std::map<std::string, std::vector<std::uint32_t>, std::less<>>> by_label_;
};

// The claims without a volume of one query.
class Binding {
 public:
  Binding(const SlotQuery& query, const Fabric& fabric, SlotTaker& taker, WorkerRules* rules)
      : query_(query), fabric_(fabric), taker_(taker), rules_(rules) {
    for (const Unbound& one : query.pod->volumes->unbound) {
      (one.shared ? shared_ : own_).push_back({&one, Reach(one.volumes)});
    }
  }

  void Run() {
    if (!shared_.empty()) KeepToGroups();
    if (!own_.empty()) KeepToFree();
  }

 private:
  struct Claim {
    const Unbound* unbound;
    Reach reach;
  };
  // By claim: the index of its volume, or kMade.
  using Choice = std::vector<std::uint32_t>;

  std::uint32_t Text(const std::vector<Claim>& claims, const std::string& what) {
    std::string names;
    for (const Claim& one : claims) names += (names.empty() ? "" : ", ") + one.unbound->claim;
    return taker_.Text(Apart::Kind::kVolume, "its claim " + names + what);
  }

  // The volume that a claim gets on the node if `taken` have other claims; kNoVolume: none.
  static std::uint32_t VolumeOn(const Claim& claim, const NodeFacts& node,
                                const std::set<std::string_view>& taken) {
    for (const std::uint32_t v : claim.reach.Of(node)) {
      if (!taken.contains(claim.unbound->volumes[v].name)) return v;
    }
    return claim.unbound->makes && Reaches(claim.unbound->made_in, node) ? kMade : kNoVolume;
  }

  std::optional<Choice> ChoiceOn(const std::vector<Claim>& claims, const NodeFacts& node,
                                 std::set<std::string_view> taken) const {
    Choice choice;
    for (const Claim& one : claims) {
      const std::uint32_t v = VolumeOn(one, node, taken);
      if (v == kNoVolume) return std::nullopt;
      if (v != kMade) taken.insert(one.unbound->volumes[v].name);
      choice.push_back(v);
    }
    return choice;
  }

  // All workers use the volumes that the first one gets.
  void KeepToGroups() {
    const std::uint32_t none = Text(shared_, " finds no volume there");
    std::map<Choice, std::uint64_t> room;
    ByNode<std::optional<Choice>> of_node(fabric_.node_count());
    for (const NodeIndex n : taker_.slots().Indices()) {
      if (taker_.slots()[n] == 0) continue;
      of_node[n] = ChoiceOn(shared_, fabric_.node(n), {});
      if (of_node[n]) {
        room[*of_node[n]] += taker_.slots()[n];
      } else {
        taker_.Take(n, 0, none);
      }
    }
    if (room.size() < 2 || query_.cap < 2) return;
    if (rules_ != nullptr) {
      KeepTogether(room, of_node);
      return;
    }
    const auto best = std::max_element(
        room.begin(), room.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::uint32_t other = Text(shared_, " is for all workers, and would get another volume");
    for (const NodeIndex n : of_node.Indices()) {
      if (of_node[n] && *of_node[n] != best->first) taker_.Take(n, 0, other);
    }
  }

  void KeepTogether(const std::map<Choice, std::uint64_t>& room,
                    const ByNode<std::optional<Choice>>& of_node) {
    std::map<Choice, std::uint32_t> numbers;
    for (const auto& [choice, slots] : room) {
      numbers.emplace(choice, static_cast<std::uint32_t>(numbers.size()));
    }
    ByNode<std::uint32_t> domains(of_node.size(), Domains::kNone);
    for (const NodeIndex n : of_node.Indices()) {
      if (of_node[n]) domains[n] = numbers.at(*of_node[n]);
    }
    rules_->together.push_back({std::move(domains)});
  }

  // Each worker gets volumes of its own.
  void KeepToFree() {
    const std::uint32_t why = Text(own_, " finds no free volume there");
    std::set<std::string_view> taken;
    for (const NodeIndex n : taker_.Roomiest()) {
      std::uint32_t fits = 0;
      for (; fits < taker_.slots()[n]; ++fits) {
        const auto choice = ChoiceOn(own_, fabric_.node(n), taken);
        if (!choice) break;
        bool all_made = true;
        for (std::size_t c = 0; c < own_.size(); ++c) {
          if ((*choice)[c] == kMade) continue;
          all_made = false;
          taken.insert(own_[c].unbound->volumes[(*choice)[c]].name);
        }
        if (!all_made) continue;
        fits = taker_.slots()[n];  // as many as wanted
        break;
      }
      taker_.Take(n, fits, why);
    }
  }

  const SlotQuery& query_;
  const Fabric& fabric_;
  SlotTaker& taker_;
  WorkerRules* rules_;
  std::vector<Claim> shared_, own_;
};

}  // namespace

const VolumeRules::Place* MissedPlace(const PodRequirements& pod, const NodeFacts& node,
                                      bool labels_may_come) {
  const std::vector<VolumeRules::Place>& places = pod.volumes->places;
  const auto missed = std::find_if(places.begin(), places.end(), [&](const auto& place) {
    return !MatchesAffinity(place.terms, node) && !(labels_may_come && MayReach(place.terms, node));
  });
  return missed == places.end() ? nullptr : &*missed;
}

bool LooksAtVolumes(const SlotQuery& query) {
  const VolumeRules& volumes = *query.pod->volumes;
  return !volumes.soles.empty() || !volumes.attached.empty() ||
         (!query.ignore_claims && (!volumes.blocked.empty() || !volumes.unbound.empty()));
}

void KeepToVolumes(const SlotQuery& query, const Fabric& fabric, const PodsOn& pods,
                   const fabric::Elsewhere::View& elsewhere, SlotTaker& taker) {
  const VolumeRules& volumes = *query.pod->volumes;
  if (!query.ignore_claims && !volumes.blocked.empty()) {
    taker.TakeAll(Apart::Kind::kVolume, volumes.blocked);
  }
  KeepToSoles(query, pods, elsewhere, taker);
  for (const VolumeRules::Attached& one : volumes.attached) {
    if (query.ignore_claims && IsOfFreeDevices(one)) continue;
    KeepToLimits(one, fabric, pods, taker);
  }
}

void KeepToUnbound(const SlotQuery& query, const Fabric& fabric, SlotTaker& taker,
                   WorkerRules* rules) {
  if (query.ignore_claims || query.pod->volumes->unbound.empty()) return;
  Binding(query, fabric, taker, rules).Run();
}

std::string SoleVolumeText(const SlotQuery& query) {
  for (const VolumeRules::Sole& sole : query.pod->volumes->soles) {
    if (!sole.shared || query.cap < 2) continue;
    return "all workers name the claim " + sole.claim +
           ", which one pod at a time can use (ReadWriteOncePod)";
  }
  return "";
}

std::string UnboundVolumesText(const SlotQuery& query) {
  for (const Unbound& one : query.pod->volumes->unbound) {
    if (one.shared && query.cap > 1) {
      return "all workers must be where one volume for the claim " + one.claim + " is";
    }
    if (!one.shared && !one.makes) {
      return "each worker needs a free volume for its claim " + one.claim;
    }
  }
  return "";
}

}  // namespace weft::rules
