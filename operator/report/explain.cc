#include "operator/report/explain.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "operator/cluster/problem.h"
#include "operator/cluster/text.h"
#include "operator/objective/box.h"
#include "operator/objective/instance.h"
#include "operator/plan/status.h"
#include "operator/rules/node_filter.h"
#include "operator/rules/node_judge.h"
#include "operator/rules/power.h"

namespace weft::report {
namespace {

using cluster::Problem;
using plan::PlanEntry;
using plan::PlanReport;

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

class Explainer {
 public:
  Explainer(const cluster::Cluster& cluster, const PlanReport& report, std::size_t entry)
      : entry_(report.entries[entry]),
        on_(cluster.fabrics[*entry_.fabric]),
        fabric_(*on_.fabric),
        claims_(plan::ClaimsBefore(cluster, report, entry)) {
    out_.entry = entry;
  }

  Result<Explanation> Run() {
    Result<Problem> problem = cluster::MakeProblem(on_, entry_.workload);
    // If the workload is invalid, that is the whole answer.
    if (!problem && entry_.refused() != nullptr) return std::move(out_);
    if (!problem) return problem.error();
    if (entry_.placed() != nullptr) {
      WhyHere(*problem);
    } else {
      WhyNot(*problem);
    }
    return std::move(out_);
  }

 private:
  void WhyHere(const Problem& problem) {
    const plan::Placed& placed = *entry_.placed();
    out_.total_cost = placed.plan.cost;
    out_.lower_bound = placed.plan.lower_bound;
    out_.exact = placed.plan.exact;
    out_.over_lower_bound_percent =
        plan::CostOverLowerBoundPercent(placed.plan.cost, placed.plan.lower_bound);
    const traffic::WorkerGraph graph(problem.traffic);
    const objective::Instance instance(claims_, problem.request, graph, {}, placed.plan.pools);
    out_.cost = ShareCost(instance.pair_cost(), problem.traffic, placed.plan.nodes);
    DescribeRunnerUp(instance, problem.traffic);
    out_.why_here = WhyHereText(instance, placed.plan.candidate());
    SayProduct(placed.plan);
    out_.why_here.push_back(placed.plan.exact
                                ? "The search was exhaustive: no placement costs less."
                                : "The search was bounded: a cheaper placement may exist, but none "
                                  "below the lower bound.");
  }

  // Says which product the job runs on and why, if there are several.
  void SayProduct(const placement::Plan& plan) {
    if (plan.choices.empty()) return;
    const std::string& name = plan.choices[plan.choice].name;
    const std::uint64_t workers = entry_.workload.workers;
    const bool listed = !entry_.workload.accelerator->models.empty() ||
                        !entry_.workload.accelerator->capacity_types.empty();
    std::string small, dearer;
    for (std::size_t c = 0; c < plan.choices.size(); ++c) {
      const placement::PoolRoom& other = plan.choices[c];
      if (c == plan.choice) continue;
      if (other.solved) {
        dearer += (dearer.empty() ? "" : ", ") + other.name;
      } else if (other.workers < workers) {
        small += "; " + other.name + " has room for " + std::to_string(other.workers) + " of " +
                 CountText(static_cast<std::int64_t>(workers), "worker");
      }
    }
    std::string text = "Its nodes are " + name;
    if (!dearer.empty()) {
      text += ", where the placement is at least as good as on " + dearer;
    } else if (listed) {
      text += ", the first choice of accelerator.models and capacityTypes with room for it";
    } else {
      text += ", the only product with room for it";
    }
    out_.why_here.insert(out_.why_here.begin(), text + small + ".");
  }

  void DescribeRunnerUp(const objective::Instance& instance, const traffic::Traffic& traffic) {
    const placement::Plan& plan = entry_.placed()->plan;
    if (!plan.runner_up) return;
    RunnerUpText text;
    for (const NodeIndex node : plan.runner_up->nodes)
      text.nodes.push_back(fabric_.node(node).name);
    text.cost = plan.runner_up->cost;
    if (plan.cost > 0) text.cost_percent = PercentUp(text.cost, plan.cost);
    text.spans =
        cluster::SpansText(objective::Score(instance.pair_cost(), traffic, plan.runner_up->nodes));
    text.why_not = objective::WhyWorse(instance, *plan.runner_up, plan.candidate());
    out_.runner_up = std::move(text);
  }

  void WhyNot(const Problem& problem) {
    const plan::Refused& refused = *entry_.refused();
    if (!refused.why) return;
    out_.relaxations = refused.relaxations;
    if (out_.relaxations.empty()) {
      out_.relaxations = placement::FindRelaxations(claims_, problem.request,
                                                    traffic::WorkerGraph(problem.traffic));
    }
    // If the rule names no level, the widest level that divides the fabric is used.
    Tier tier = refused.why->tier;
    if (tier == fabric::kOutside && fabric_.node_tier() > Tier{1}) tier = Tier{1};
    out_.level = fabric_.tiers()[tier].name;
    if (fabric_.node_count() == 0) return;
    ListDomains(problem.request, tier, refused.why->tier == tier);
  }

  void ListDomains(const objective::Request& request, Tier tier, bool whole) {
    rules::SlotQuery query;
    query.pod = &request.pod;
    query.job = request.job;
    query.excluded = request.excluded;
    query.cap = request.workers;
    query.pools = PoolsOf(request);
    fabric::ByNode<std::uint32_t> slots;
    rules::CountSlots(claims_, query, slots);
    const std::uint64_t wanted = whole ? Wanted(request) : 0;
    const rules::NodeJudge judge(claims_, query);
    for (DomainIndex d{0}; d < fabric_.domains(tier).EndIndex(); ++d) {
      out_.domains.push_back(Answer(judge, slots, {tier, d, wanted}));
    }
    std::stable_sort(out_.domains.begin(), out_.domains.end(),
                     [](const auto& a, const auto& b) { return a.slots > b.slots; });
  }

  // Workers that one domain of the refusal's level must take: all of the job, or the largest set of
  // the named group.
  std::uint64_t Wanted(const objective::Request& request) const {
    const placement::Unplaceable& why = *entry_.refused()->why;
    return why.group ? static_cast<std::uint64_t>(why.group_workers) : request.workers;
  }

  // The pools that the refusal is about.
  std::vector<fabric::PoolIndex> PoolsOf(const objective::Request& request) const {
    if (!request.pool_choices) return {};
    const placement::Unplaceable& why = *entry_.refused()->why;
    std::vector<fabric::PoolIndex> pools;
    for (std::size_t c = 0; c < request.pool_choices->size(); ++c) {
      if (why.choice && *why.choice != c) continue;
      const auto& of = (*request.pool_choices)[c].pools;
      pools.insert(pools.end(), of.begin(), of.end());
    }
    std::sort(pools.begin(), pools.end());
    pools.erase(std::unique(pools.begin(), pools.end()), pools.end());
    return pools;
  }

  struct At {
    Tier tier;
    DomainIndex domain;
    std::uint64_t wanted;
  };

  DomainAnswer Answer(const rules::NodeJudge& judge, const fabric::ByNode<std::uint32_t>& slots,
                      At at) const {
    const auto& domains = fabric_.domains(at.tier);
    DomainAnswer answer;
    const NodeIndex begin = domains.begin[at.domain], end = domains.begin[at.domain + 1];
    answer.domain =
        at.tier == fabric_.node_tier() ? fabric_.node(begin).name : domains.names[at.domain];
    answer.nodes = end - begin;
    answer.wanted = at.wanted;
    for (NodeIndex n = begin; n < end; ++n) answer.slots += slots[n];
    answer.sentence =
        answer.domain + ": room for " +
        (answer.slots < at.wanted ? std::to_string(answer.slots) + " of " +
                                        CountText(static_cast<std::int64_t>(at.wanted), "worker")
                                  : CountText(static_cast<std::int64_t>(answer.slots), "worker")) +
        " on " + CountText(static_cast<std::int64_t>(answer.nodes), "node");
    const std::string why = cluster::RejectionsText(judge.Count(begin, end), end - begin);
    answer.sentence += why.empty() ? "." : "; " + why + ".";
    return answer;
  }

  const PlanEntry& entry_;
  const cluster::ClusterFabric& on_;
  const fabric::Fabric& fabric_;
  const fabric::Claims claims_;
  Explanation out_;
};

bool Names(const std::string& name, const PlanEntry& entry) {
  return name == api::Show(entry.workload.key()) || name == entry.workload.key().name ||
         name == entry.workload.PlacementName();
}

// "In the torus its nodes fill a box of 4 x 8 x 8 places." Empty without a torus, or for one node.
std::string TorusText(const fabric::Fabric& fabric, std::span<const NodeIndex> nodes) {
  const std::set<NodeIndex> used(nodes.begin(), nodes.end());
  if (fabric.torus() == nullptr || used.size() < 2) return "";
  const fabric::Torus& torus = *fabric.torus();
  const std::string& name = fabric.spec().torus->name;
  const std::string called = name == "torus" ? "" : " " + name;
  std::set<std::uint32_t> toruses;
  for (const NodeIndex n : used) toruses.insert(torus.torus_of(n));
  if (toruses.size() > 1) {
    return "Its nodes are in " + std::to_string(toruses.size()) + " toruses" + called + ".";
  }
  const objective::Box box = objective::BoxAround(torus, nodes);
  const std::uint64_t places = std::uint64_t{box.size[0]} * box.size[1] * box.size[2];
  std::string text = "In the torus" + called + " its nodes ";
  text += places == used.size() ? "fill a box of " : "are in a box of ";
  for (std::size_t d = 0; d < fabric.spec().torus->dimensions.size(); ++d) {
    text += (d == 0 ? "" : " x ") + std::to_string(box.size[d]);
  }
  if (places == used.size()) return text + " places.";
  return text + " places and take " + std::to_string(used.size()) + " of the " +
         std::to_string(places) + ".";
}

// "Of the rack domains with a power limit r0 is the fullest: 23.52kW of 30kW at full power." For
// each level with a limit.
std::vector<std::string> PowerTexts(const objective::Instance& instance,
                                    std::span<const NodeIndex> nodes) {
  const fabric::Fabric& fabric = instance.fabric();
  std::vector<std::string> sentences;
  for (Tier tier{1}; tier < fabric.node_tier(); ++tier) {
    const auto& limit = fabric.tiers()[tier].power_watts;
    if (!limit || nodes.empty()) continue;
    std::map<DomainIndex, double> watts;
    for (const NodeIndex n : nodes) {
      const DomainIndex domain = fabric.domains(tier).of_node[n];
      const auto [at, first] = watts.try_emplace(domain, 0.0);
      if (first) at->second = rules::PeakWattsIn(instance.claims(), tier, domain);
      at->second += rules::WorkerPeakWatts(fabric, instance.request().pod, n);
    }
    const auto fullest =
        std::max_element(watts.begin(), watts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    sentences.push_back("Of the " + fabric.tiers()[tier].name + " domains that it uses, " +
                        fabric.domains(tier).names[fullest->first] + " draws most: " +
                        rules::WattsText(fullest->second) + " at full power, of " +
                        rules::WattsText(static_cast<double>(*limit)) + " (powerWatts).");
  }
  return sentences;
}

}  // namespace

std::vector<std::string> WhyHereText(const objective::Instance& instance,
                                     const objective::Candidate& chosen) {
  std::vector<std::string> sentences = objective::Describe(instance, chosen);
  if (const auto& required = instance.request().required) {
    const std::string& level = instance.fabric().tiers()[*required].name;
    const bool holds = instance.HullOfAll(chosen.nodes) >= *required;
    sentences.insert(
        sentences.begin(),
        holds ? "topology.required holds: all workers are in one " + level + "."
              : "topology.required does not hold: the workers are in more than one " + level + ".");
  }
  if (std::string where = TorusText(instance.fabric(), chosen.nodes); !where.empty()) {
    sentences.push_back(std::move(where));
  }
  for (std::string& power : PowerTexts(instance, chosen.nodes)) {
    sentences.push_back(std::move(power));
  }
  return sentences;
}

bool IsInPlan(const PlanReport& report, const std::string& name) {
  return std::any_of(report.entries.begin(), report.entries.end(),
                     [&](const PlanEntry& entry) { return Names(name, entry); });
}

Result<std::vector<Explanation>> Explain(const cluster::Cluster& cluster, const PlanReport& report,
                                         const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!IsInPlan(report, name)) {
      return Invalid("\"" + name + "\": no TrainingJob or Placement of this name waits for nodes");
    }
  }
  std::vector<Explanation> all;
  for (std::size_t e = 0; e < report.entries.size(); ++e) {
    const PlanEntry& entry = report.entries[e];
    const bool wanted =
        names.empty() ||
        std::any_of(names.begin(), names.end(), [&](const auto& n) { return Names(n, entry); });
    if (!wanted) continue;
    if (!entry.fabric) {
      all.emplace_back().entry = e;
      continue;
    }
    Result<Explanation> one = Explainer(cluster, report, e).Run();
    if (!one) return one.error();
    all.push_back(*std::move(one));
  }
  return all;
}

}  // namespace weft::report
