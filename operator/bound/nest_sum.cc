#include "operator/bound/nest_sum.h"

#include <algorithm>
#include <limits>
#include <map>

#include "operator/base/check.h"
#include "operator/bound/lower.h"

namespace weft::bound {

using fabric::NodeIndex;
using objective::Instance;

namespace {

constexpr std::uint64_t kStepsOfHull = 16;  // per entry, for sorting and summing
constexpr std::uint32_t kEmpty = ~0U;       // no class: a domain without room

// For each number up to `most`, the least sum of an entry of `a` and one of `b` whose indices add
// up to it.
std::vector<double> LeastSum(const std::vector<double>& a, const std::vector<double>& b,
                             std::uint64_t most) {
  WEFT_DCHECK(!a.empty() && !b.empty());
  std::vector<double> sum(std::min<std::uint64_t>(most + 1, a.size() + b.size() - 1),
                          std::numeric_limits<double>::infinity());
  for (std::size_t j = 0; j < std::min(b.size(), sum.size()); ++j) {
    const std::size_t end = std::min(a.size(), sum.size() - j);
    LowerTo(sum.data() + j, a.data(), b[j], end);
  }
  return sum;
}

// The same, but only the last entry is made; the others are infinite.
std::vector<double> LeastSumOfAll(const std::vector<double>& a, const std::vector<double>& b,
                                  std::uint64_t most) {
  WEFT_DCHECK(!a.empty() && !b.empty());
  const std::size_t all = std::min<std::uint64_t>(most, a.size() + b.size() - 2);
  std::vector<double> sum(all + 1, std::numeric_limits<double>::infinity());
  const std::size_t end = std::min(b.size() - 1, all);
  for (std::size_t j = all < a.size() ? 0 : all + 1 - a.size(); j <= end; ++j) {
    sum[all] = std::min(sum[all], a[all - j] + b[j]);
  }
  return sum;
}

bool IsConvex(const std::vector<double>& cost) {
  for (std::size_t k = 2; k < cost.size(); ++k) {
    if (cost[k] - cost[k - 1] < cost[k - 1] - cost[k - 2]) return false;
  }
  return true;
}

}  // namespace

// Finds or adds the classes of one level.
class NestSum::ClassMaker {
 public:
  ClassMaker(NestSum& sum, std::size_t level) : sum_(sum), level_(level) {}

  // The class of a domain with these children; empties the list.
  std::uint32_t ClassOf(std::vector<std::uint32_t>& children) {
    if (children.empty()) return kEmpty;
    std::sort(children.begin(), children.end());
    if (children != before_) {  // in a large fabric most neighbours are alike
      const auto [at, is_new] = known_.try_emplace(children, kEmpty);
      if (is_new) at->second = sum_.AddClass(level_, children);
      class_before_ = at->second;
      before_.swap(children);
    }
    children.clear();
    return class_before_;
  }

 private:
  NestSum& sum_;
  std::size_t level_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> known_;
  std::vector<std::uint32_t> before_;  // the children of the last domain
  std::uint32_t class_before_ = kEmpty;
};

std::optional<NestSum> NestSum::Of(const Instance& instance, std::span<const Level> nest, Run run,
                                   std::vector<std::uint32_t> grain) {
  NestSum sum(instance, nest, run, std::move(grain));
  if (!sum.HoldsTheJob()) return std::nullopt;
  return sum;
}

NestSum::NestSum(const Instance& instance, std::span<const Level> nest, Run run,
                 std::vector<std::uint32_t> grain)
    : workers_(instance.workers()), grain_(std::move(grain)) {
  WEFT_CHECK(!nest.empty() && grain_.size() == nest.size());  // one a level
  grain_.push_back(grain_.back());                            // for the whole run
  ClassesOfLevel classes = AddNarrowest(instance, nest.front(), run);
  for (std::size_t level = 0; level < nest.size(); ++level) {
    steps_.push_back(static_cast<double>(nest[level].step) / 2);
    classes = AddWider(instance, nest, level, run, std::move(classes));
  }
}

NestSum::ClassesOfLevel NestSum::AddNarrowest(const Instance& instance, const Level& level,
                                              Run run) {
  const SlotsOfLevel in = SlotsIn(instance, level, run);
  const std::uint64_t most = workers_ / grain_.front();
  std::vector<std::uint32_t> class_with(most + 1, kEmpty);
  ClassesOfLevel made{in.first, std::vector<std::uint32_t>(in.slots.size(), kEmpty)};
  for (std::size_t d = 0; d < in.slots.size(); ++d) {
    const std::uint64_t room = std::min(most, in.slots[d] / grain_.front());
    if (room == 0) continue;
    if (class_with[room] == kEmpty) {
      class_with[room] = static_cast<std::uint32_t>(classes_.size());
      classes_.push_back({0, {}, room});
    }
    made.classes[d] = class_with[room];
  }
  return made;
}

// Adds the classes of the next wider level after `level`, of which `narrower` has the classes.
NestSum::ClassesOfLevel NestSum::AddWider(const Instance& instance, std::span<const Level> nest,
                                          std::size_t level, Run run, ClassesOfLevel narrower) {
  const bool last = level + 1 == nest.size();
  const auto wider_of = [&](NodeIndex n) {
    return last ? fabric::DomainIndex{0} : nest[level + 1].Of(n);
  };
  const bool in_order = nest[level].in_tree && (last || nest[level + 1].in_tree);
  ClassesOfLevel made{in_order ? wider_of(run.begin) : fabric::DomainIndex{0}, {}};
  ClassMaker maker(*this, level + 1);
  if (in_order) {  // the children of a domain follow each other
    const auto& begin = instance.fabric().domains(nest[level].tier).begin;
    std::vector<std::uint32_t> children;
    fabric::DomainIndex domain = made.first;
    for (std::size_t c = 0; c < narrower.classes.size(); ++c) {
      const fabric::DomainIndex of =
          wider_of(std::max(begin[narrower.first + static_cast<std::uint32_t>(c)], run.begin));
      if (of != domain) made.classes.push_back(maker.ClassOf(children));
      domain = of;
      if (narrower.classes[c] != kEmpty) children.push_back(narrower.classes[c]);
    }
    made.classes.push_back(maker.ClassOf(children));
    return made;
  }
  std::vector<std::vector<std::uint32_t>> inside(last ? 1 : nest[level + 1].domains);
  for (NodeIndex n = run.begin; n < run.end; ++n) {
    WEFT_DCHECK(nest[level].Of(n) - narrower.first < narrower.classes.size());
    std::uint32_t& child = narrower.classes[nest[level].Of(n) - narrower.first];
    if (child == kEmpty) continue;
    inside[wider_of(n).Raw()].push_back(child);
    child = kEmpty;  // counts each domain once
  }
  for (auto& children : inside) made.classes.push_back(maker.ClassOf(children));
  return made;
}

// Adds a class of `level` whose domains have these children, ascending.
std::uint32_t NestSum::AddClass(std::size_t level, const std::vector<std::uint32_t>& children) {
  Class domain{level, {}, 0};
  std::uint64_t room = 0;  // in units of the narrower level
  for (const std::uint32_t child : children) {
    if (domain.children.empty() || domain.children.back().first != child) {
      domain.children.emplace_back(child, 0);
    }
    ++domain.children.back().second;
    room += classes_[child].room;
  }
  domain.room = std::min(workers_, room * grain_[level - 1]) / grain_[level];
  classes_.push_back(std::move(domain));
  return static_cast<std::uint32_t>(classes_.size()) - 1;
}

void NestSum::FindHull(const std::vector<double>& cost, std::vector<Segment>& hull) {
  hull.clear();
  for (std::uint64_t k = 1; k < cost.size(); ++k) {
    Segment next{cost[k] - cost[k - 1], k - 1, k};
    while (!hull.empty() && hull.back().slope >= next.slope) {
      next.begin = hull.back().begin;
      next.slope = (cost[k] - cost[next.begin]) / static_cast<double>(k - next.begin);
      hull.pop_back();
    }
    hull.push_back(next);
  }
}

// Additions for exact sums over the children of all domains of the level.
std::uint64_t NestSum::StepsOf(std::size_t level) const {
  std::uint64_t steps = 0;
  for (const Class& domain : classes_) {
    if (domain.level != level) continue;
    std::uint64_t before = 0;
    for (const auto& [child, copies] : domain.children) {
      if (tables_[child].convex) continue;
      const std::uint64_t room = classes_[child].room;
      for (std::uint32_t i = 0; i < copies; ++i) {
        steps += (before + 1) * (room + 1);
        before = std::min(workers_, before + room);
      }
    }
  }
  return steps;
}

// Costs of a domain by units, without the bytes that leave the domain itself.
void NestSum::Fold(const Class& domain, bool hulls, bool remember, Table& table) const {
  table.hulls.clear();
  table.before.clear();
  WEFT_CHECK(grain_[domain.level] % grain_[domain.level - 1] == 0);  // wider levels, larger units
  const std::uint64_t finer = grain_[domain.level] / grain_[domain.level - 1];
  const std::uint64_t room = domain.room * finer;
  for (const auto& [child, copies] : domain.children) {
    if (!hulls && !tables_[child].convex) continue;
    for (const Segment& segment : tables_[child].hull) {
      table.hulls.push_back({segment, child, copies});
    }
  }
  std::stable_sort(table.hulls.begin(), table.hulls.end(),
                   [](const auto& a, const auto& b) { return a.segment.slope < b.segment.slope; });
  std::vector<double>& cost = table.cost;
  cost.assign(1, 0);
  for (const auto& [segment, child, copies] : table.hulls) {
    const std::uint64_t units = (segment.end - segment.begin) * copies;
    for (std::uint64_t i = 0; i < units && cost.size() <= room; ++i) {
      cost.push_back(cost.back() + segment.slope);
    }
  }
  std::uint32_t left = 0;  // children to add exactly
  for (const auto& [child, copies] : domain.children) {
    if (!hulls && !tables_[child].convex) left += copies;
  }
  const bool whole = domain.level == steps_.size();  // of the whole run only one sum is read
  for (const auto& [child, copies] : domain.children) {
    if (hulls || tables_[child].convex) continue;
    for (std::uint32_t i = 0; i < copies; ++i) {
      const auto add = whole && --left == 0 ? LeastSumOfAll : LeastSum;
      std::vector<double> sum = add(cost, tables_[child].cost, room);
      if (remember) table.before.emplace_back(child, std::move(cost));
      cost = std::move(sum);
    }
  }
  WEFT_CHECK(cost.size() > room);  // the children have room for all units of the domain
  for (std::uint64_t k = 0; k <= domain.room; ++k) cost[k] = cost[k * finer];
  cost.resize(domain.room + 1);
}

double NestSum::Least(const Leaving& leaving, std::uint64_t most_steps, bool remember) {
  WEFT_CHECK(leaving.size() == steps_.size());  // one list a level, all of them read below
  remembered_ = remember;
  tables_.resize(classes_.size());
  std::uint64_t steps = 0;
  std::size_t level = 0;
  for (std::size_t c = 0; c < classes_.size(); ++c) {
    const Class& domain = classes_[c];
    Table& table = tables_[c];
    if (domain.level == 0) {
      table.cost.assign(domain.room + 1, 0);
    } else {
      if (domain.level != level) steps += StepsOf(domain.level);
      level = domain.level;
      Fold(domain, steps > most_steps, remember, table);
    }
    if (level == steps_.size()) continue;
    WEFT_CHECK(leaving[level]->size() >= table.cost.size());  // bytes of every size of a set
    for (std::size_t k = 1; k < table.cost.size(); ++k) {
      table.cost[k] += (*leaving[level])[k] * steps_[level];
    }
    FindHull(table.cost, table.hull);
    all_steps_ += kStepsOfHull * table.cost.size();
    table.convex = IsConvex(table.cost);
  }
  all_steps_ += std::min(steps, most_steps);
  return tables_.back().cost.back();
}

// The units that a cheapest choice of `units` units in a domain takes from its children.
void NestSum::Split(std::size_t domain, std::uint64_t units, double weight, Wanted& wanted) const {
  const Table& table = tables_[domain];
  const std::size_t level = classes_[domain].level;
  units *= grain_[level] / grain_[level - 1];
  for (std::size_t i = table.before.size(); i-- > 0;) {
    const auto& [child, before] = table.before[i];
    const std::vector<double>& cost = tables_[child].cost;
    std::uint64_t best = units < before.size() ? 0 : units + 1 - before.size();
    for (std::uint64_t k = best; k < cost.size() && k <= units; ++k) {
      if (before[units - k] + cost[k] < before[units - best] + cost[best]) best = k;
    }
    wanted[child][best] += weight;
    units -= best;
  }
  for (const auto& [segment, child, copies] : table.hulls) {
    const std::uint64_t length = segment.end - segment.begin;
    const std::uint64_t taken = std::min(units, length * copies);
    const double moved = weight * static_cast<double>(taken) / static_cast<double>(length);
    wanted[child][segment.begin] -= moved;
    wanted[child][segment.end] += moved;
    units -= taken;
  }
  WEFT_DCHECK(units == 0);  // the children take all units
}

std::vector<double> NestSum::Used(std::size_t level) const {
  WEFT_CHECK(remembered_);  // else Split reads tables that were never filled
  Wanted wanted;
  for (const Class& domain : classes_) wanted.emplace_back(domain.room + 1, 0);
  wanted.back().back() = 1;
  std::vector<double> used(Most(level) + 1, 0);
  for (std::size_t c = classes_.size(); c-- > 0 && classes_[c].level >= level;) {
    for (std::uint64_t k = 1; k < wanted[c].size(); ++k) {
      if (wanted[c][k] == 0) continue;
      if (classes_[c].level == level) used[k] += wanted[c][k];
      if (classes_[c].level > level) Split(c, k, wanted[c][k], wanted);
    }
  }
  return used;
}

std::uint64_t NestSum::Most(std::size_t level) const {
  std::uint64_t most = 0;
  for (const Class& domain : classes_) {
    if (domain.level == level) most = std::max(most, domain.room);
  }
  return most;
}

}  // namespace weft::bound
