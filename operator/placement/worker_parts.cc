#include "operator/placement/worker_parts.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "operator/base/check.h"
#include "operator/rules/pod_domains.h"

namespace weft::placement {

using fabric::NodeIndex;
using rules::Domains;
using rules::WorkerRules;
using Limit = WorkerRules::Limit;
using Slots = fabric::ByNode<std::uint32_t>;

namespace {

// Ways to divide the workers over the domains of a spread that are tried, each at least one solve.
constexpr std::size_t kMostShares = 64;
constexpr std::size_t kShareSteps = 20'000;  // of the search for them

// Limits of the rules, and of a part's spreads.
std::vector<const Limit*> LimitsOf(const WorkerRules& rules, const Part& part) {
  std::vector<const Limit*> limits;
  for (const Limit& limit : rules.limits) limits.push_back(&limit);
  for (const Limit& limit : part.shares) limits.push_back(&limit);
  return limits;
}

std::vector<std::uint64_t> CountIn(const Limit& limit, const Slots& used) {
  return rules::CountIn(limit.of_node, limit.most.size(), used);
}

// A domain with more workers than its limit, the one with the most too many.
struct Broken {
  const Limit* limit = nullptr;
  std::uint32_t domain = 0;
  std::uint64_t too_many = 0;
};

Broken WorstOf(const std::vector<const Limit*>& limits, const Slots& used) {
  Broken worst;
  for (const Limit* limit : limits) {
    const std::vector<std::uint64_t> workers = CountIn(*limit, used);
    for (std::uint32_t d = 0; d < workers.size(); ++d) {
      if (workers[d] <= limit->most[d] + worst.too_many) continue;
      worst = {limit, d, workers[d] - limit->most[d]};
    }
  }
  return worst;
}

// Each placement that keeps the limit leaves a worker out on one of the used nodes. Where the limit
// is one worker, it uses one of these nodes and no other, or none of them.
std::vector<Part> DivideLimit(const Part& part, const Slots& used, const Broken& broken) {
  std::vector<NodeIndex> in_use;
  for (const NodeIndex n : used.Indices()) {
    if (used[n] > 0 && broken.limit->of_node[n] == broken.domain) in_use.push_back(n);
  }
  WEFT_CHECK(!in_use.empty());
  std::vector<Part> parts;
  if (broken.limit->most[broken.domain] > 1) {
    for (const NodeIndex n : in_use) {
      parts.push_back(part);
      parts.back().slots[n] = used[n] - 1;
    }
    return parts;
  }
  parts.push_back(part);
  for (const NodeIndex n : in_use) parts.back().slots[n] = 0;
  if (broken.limit->most[broken.domain] == 0) return parts;
  for (const NodeIndex kept : in_use) {
    parts.push_back(part);
    Slots& slots = parts.back().slots;
    for (const NodeIndex n : slots.Indices()) {
      if (broken.limit->of_node[n] == broken.domain) slots[n] = n == kept ? 1 : 0;
    }
  }
  return parts;
}

// The ways to divide workers over the domains of a spread.
class Shares {
 public:
  Shares(const WorkerRules::Spread& rule, std::vector<std::uint64_t> room)
      : rule_(rule), room_(std::move(room)), taken_(room_.size(), 0) {
    after_.assign(room_.size() + 1, 0);
    for (std::size_t d = room_.size(); d-- > 0;) after_[d] = after_[d + 1] + room_[d];
  }

  // Nothing: there are too many.
  std::optional<std::vector<std::vector<std::uint64_t>>> All(std::uint64_t workers) {
    if (!Add(0, workers)) return std::nullopt;
    return std::move(found_);
  }

  // Near `workers` by domain: moves one after the other from the fullest domain to the emptiest.
  std::optional<std::vector<std::uint64_t>> Near(std::vector<std::uint64_t> workers) const {
    std::uint64_t left = std::accumulate(workers.begin(), workers.end(), std::uint64_t{0});
    for (; left > 0 && !rules::HoldsIn(rule_, workers); --left) {
      std::optional<std::size_t> fullest, emptiest;
      const auto pods = [&](std::size_t d) { return rule_.pods[d] + workers[d]; };
      for (std::size_t d = 0; d < workers.size(); ++d) {
        if (workers[d] > 0 && (!fullest || pods(d) > pods(*fullest))) fullest = d;
        if (workers[d] < room_[d] && (!emptiest || pods(d) < pods(*emptiest))) emptiest = d;
      }
      if (!fullest || !emptiest) return std::nullopt;
      --workers[*fullest];
      ++workers[*emptiest];
    }
    if (!rules::HoldsIn(rule_, workers)) return std::nullopt;
    return workers;
  }

 private:
  bool Add(std::size_t domain, std::uint64_t left) {
    if (++steps_ > kShareSteps) return false;
    if (!MayHold(domain)) return true;
    if (domain == room_.size()) {
      if (left > 0 || !rules::HoldsIn(rule_, taken_)) return true;
      found_.push_back(taken_);
      return found_.size() <= kMostShares;
    }
    const std::uint64_t least = left - std::min(left, after_[domain + 1]);
    for (std::uint64_t here = least; here <= std::min(left, room_[domain]); ++here) {
      taken_[domain] = here;
      if (!Add(domain + 1, left - here)) return false;
    }
    taken_[domain] = 0;
    return true;
  }

  // Whether the domains before this one are no obstacle.
  bool MayHold(std::size_t domain) const {
    std::uint64_t emptiest = rule_.from_zero ? 0 : ~0ULL - rule_.max_skew, fullest = 0;
    for (std::size_t d = 0; d < domain; ++d) {
      const std::uint64_t pods = rule_.pods[d] + taken_[d];
      if (rule_.eligible[d] != 0) emptiest = std::min(emptiest, pods);
      if (taken_[d] > 0) fullest = std::max(fullest, pods);
    }
    return fullest <= emptiest + rule_.max_skew;
  }

  const WorkerRules::Spread& rule_;
  std::vector<std::uint64_t> room_, taken_;  // by domain
  std::vector<std::uint64_t> after_;         // room from a domain on
  std::vector<std::vector<std::uint64_t>> found_;
  std::size_t steps_ = 0;
};

Division DivideSpread(const WorkerRules::Spread& rule, const Part& part, const Slots& used,
                      std::uint64_t workers) {
  const std::size_t domains = rule.pods.size();
  Shares shares(rule, rules::CountIn(rule.of_node, domains, part.slots));
  Division division;
  const auto add = [&](std::vector<std::uint64_t> share) {
    division.parts.push_back(part);
    division.parts.back().shares.push_back({rule.of_node, std::move(share)});
  };
  if (auto all = shares.All(workers)) {
    for (auto& share : *all) add(std::move(share));
    return division;
  }
  division.all = false;
  if (auto near = shares.Near(rules::CountIn(rule.of_node, domains, used))) add(*std::move(near));
  return division;
}

}  // namespace

bool LimitsLeaveRoom(const WorkerRules& rules, const Part& part, std::uint64_t workers) {
  for (const Limit* limit : LimitsOf(rules, part)) {
    std::uint64_t room = 0;
    for (const NodeIndex n : part.slots.Indices()) {
      if (limit->of_node[n] == Domains::kNone) room += part.slots[n];
    }
    const std::vector<std::uint64_t> in_domains = CountIn(*limit, part.slots);
    for (std::size_t d = 0; d < in_domains.size(); ++d) {
      room += std::min(in_domains[d], limit->most[d]);
    }
    if (room < workers) return false;
  }
  if (rules.limits.size() + part.shares.size() != 2) return true;
  WorkerRules both;
  for (const Limit* limit : LimitsOf(rules, part)) both.limits.push_back(*limit);
  return !rules::IsQuick(both, part.slots, workers) ||
         rules::FindWorkers(both, part.slots, workers).has_value();
}

void LeaveOutAlike(const objective::PairCost& pair_cost, const WorkerRules& rules,
                   const std::vector<NodeIndex>& previous, Part& part) {
  const fabric::Fabric& fabric = pair_cost.fabric();
  const auto& narrowest = fabric.domains(fabric.node_tier() - 1).of_node;
  const std::vector<const Limit*> limits = LimitsOf(rules, part);
  if (limits.empty()) return;
  using Kind = std::pair<std::pair<std::uint32_t, std::uint64_t>, std::vector<std::uint32_t>>;
  std::map<Kind, std::vector<NodeIndex>> kinds;
  for (const NodeIndex n : part.slots.Indices()) {
    if (part.slots[n] == 0) continue;
    Kind kind{{narrowest[n].Raw(), pair_cost.stand(n)}, {}};
    for (const Limit* limit : limits) kind.second.push_back(limit->of_node[n]);
    for (const auto& rule : rules.spreads) kind.second.push_back(rule.of_node[n]);
    kinds[std::move(kind)].push_back(n);
  }
  for (auto& [kind, nodes] : kinds) {
    std::uint64_t left = ~0ULL;
    for (std::size_t l = 0; l < limits.size(); ++l) {
      if (kind.second[l] != Domains::kNone) left = std::min(left, limits[l]->most[kind.second[l]]);
    }
    const auto was_used = [&](NodeIndex n) {
      return std::binary_search(previous.begin(), previous.end(), n);
    };
    std::stable_sort(nodes.begin(), nodes.end(), [&](NodeIndex a, NodeIndex b) {
      if (part.slots[a] != part.slots[b]) return part.slots[a] > part.slots[b];
      return was_used(a) && !was_used(b);
    });
    for (const NodeIndex n : nodes) {
      part.slots[n] = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, part.slots[n]));
      left -= part.slots[n];
    }
  }
}

Division Divide(const WorkerRules& rules, const Part& part, const Slots& used,
                std::uint64_t workers) {
  const Broken broken = WorstOf(LimitsOf(rules, part), used);
  if (broken.limit != nullptr) return {DivideLimit(part, used, broken), true};
  for (const WorkerRules::Spread& rule : rules.spreads) {
    if (HoldsIn(rule, rules::CountIn(rule.of_node, rule.pods.size(), used))) continue;
    return DivideSpread(rule, part, used, workers);
  }
  return {};
}

Part KeepUsed(const WorkerRules& rules, const Part& part, const Slots& used) {
  Part kept = part;
  for (const Limit* limit : LimitsOf(rules, part)) {
    const std::vector<std::uint64_t> workers = CountIn(*limit, used);
    std::vector<std::uint64_t> left = limit->most;
    for (const NodeIndex n : kept.slots.Indices()) {
      const std::uint32_t d = limit->of_node[n];
      if (d == Domains::kNone || workers[d] <= limit->most[d]) continue;
      const auto stay = std::min<std::uint64_t>({left[d], used[n], kept.slots[n]});
      kept.slots[n] = static_cast<std::uint32_t>(stay);
      left[d] -= stay;
    }
  }
  return kept;
}

}  // namespace weft::placement
