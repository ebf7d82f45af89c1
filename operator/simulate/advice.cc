#include "operator/simulate/advice.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace weft::simulate {
namespace {

constexpr std::size_t kShown = 3;
// A gain below this share of the mean completion is noise of the order of jobs.
constexpr double kLeastGain = 0.001;

// The highest oversubscription of the tiers above the narrowest level.
int TaperOf(const fabric::Fabric& fabric) {
  std::int64_t most = 100;
  for (fabric::Tier tier{0}; tier + 1 < fabric.node_tier(); ++tier) {
    most = std::max(most, fabric.tiers()[tier].link.oversubscription_percent);
  }
  return static_cast<int>(most);
}

nlohmann::ordered_json BriefJson(const Spread& spread) {
  return {{"mean", spread.mean}, {"p50", spread.p50}, {"p99", spread.p99}};
}

}  // namespace

std::vector<Change> ChangesToTry(const Change& base, const fabric::Fabric& fabric) {
  std::vector<Change> changes = {base};
  const auto add = [&](std::string what) -> Change& {
    changes.push_back(base);
    changes.back().what = std::move(what);
    return changes.back();
  };
  for (const Policy policy : AllPolicies()) {
    if (policy == base.rules.policy) continue;
    add("policy " + std::string(PolicyName(policy)) + " instead of " +
        std::string(PolicyName(base.rules.policy)))
        .rules.policy = policy;
  }
  for (const QueueOrder order : {QueueOrder::kPriority, QueueOrder::kAge, QueueOrder::kShortest}) {
    if (order == base.rules.order) continue;
    add("queue order " + std::string(QueueOrderName(order)) + " instead of " +
        std::string(QueueOrderName(base.rules.order)))
        .rules.order = order;
  }
  for (const Backfill backfill : {Backfill::kReserve, Backfill::kAny, Backfill::kNone}) {
    if (backfill == base.rules.backfill) continue;
    add("backfill " + std::string(BackfillName(backfill)) + " instead of " +
        std::string(BackfillName(base.rules.backfill)))
        .rules.backfill = backfill;
  }
  if (const int taper = TaperOf(fabric); taper > 100) {
    const int half = std::max(100, taper / 2);
    add("oversubscription of " + std::to_string(half) + " % instead of " + std::to_string(taper) +
        " %")
        .variation.taper_percent = half;
  }
  if (fabric.node_tier() > fabric::Tier{1}) add("one more rack").variation.more_racks = 1;
  add("the largest job arrives last").moves_largest = true;
  return changes;
}

void MoveLargest(Scenario& scenario) {
  if (scenario.jobs.empty()) return;
  const auto work = [&](const Job& job) {
    return static_cast<double>(job.run) * scenario.shapes[job.shape].gpus;
  };
  const auto largest =
      std::max_element(scenario.jobs.begin(), scenario.jobs.end(),
                       [&](const Job& a, const Job& b) { return work(a) < work(b); });
  largest->arrival = scenario.jobs.back().arrival;
  std::rotate(largest, largest + 1, scenario.jobs.end());
}

std::vector<Advice> BestChanges(const std::vector<Change>& changes,
                                const std::vector<Summary>& summaries) {
  std::vector<Advice> best;
  for (std::size_t i = 1; i < changes.size(); ++i) {
    const Summary& one = summaries[i];
    const bool all_ran = one.unfinished == 0 && one.finished >= summaries.front().finished;
    const double limit = summaries.front().completion.mean * (1 - kLeastGain);
    if (!all_ran || one.completion.mean > limit) continue;
    best.push_back({changes[i].what, one.wait, one.completion});
  }
  std::stable_sort(best.begin(), best.end(), [](const Advice& a, const Advice& b) {
    return a.completion.mean < b.completion.mean;
  });
  if (best.size() > kShown) best.resize(kShown);
  return best;
}

nlohmann::ordered_json AdviceJson(const Summary& as_it_is, const std::vector<Advice>& best) {
  nlohmann::ordered_json out;
  out["asItIs"] = {{"waitSeconds", BriefJson(as_it_is.wait)},
                   {"completionSeconds", BriefJson(as_it_is.completion)}};
  out["changes"] = nlohmann::ordered_json::array();
  for (const Advice& advice : best) {
    out["changes"].push_back({{"change", advice.what},
                              {"waitSeconds", BriefJson(advice.wait)},
                              {"completionSeconds", BriefJson(advice.completion)}});
  }
  return out;
}

}  // namespace weft::simulate
