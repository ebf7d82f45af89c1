#include "operator/report/explain_held.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "operator/api/gang_annotations.h"
#include "operator/cluster/gangs.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/pool_choices.h"
#include "operator/cluster/problem.h"
#include "operator/cluster/text.h"
#include "operator/cluster/worker_order.h"
#include "operator/objective/instance.h"
#include "operator/objective/levels.h"
#include "operator/placement/refuse.h"
#include "operator/plan/refusal.h"
#include "operator/plan/status.h"
#include "operator/traffic/worker_graph.h"

namespace weft::report {
namespace {

using cluster::Cluster;
using cluster::ClusterFabric;
using cluster::WorkloadView;

using fabric::NodeIndex;
using fabric::Tier;

class HeldExplainer {
 public:
  HeldExplainer(const Cluster& cluster, WorkloadView workload, const api::Placement& held)
      : cluster_(cluster), held_(held) {
    // The job has its nodes, so its wait has ended.
    workload.wait.waited_seconds.reset();
    out_.entry.workload = std::move(workload);
  }

  Result<HeldExplanation> Run() {
    plan::PlanEntry& entry = out_.entry;
    entry.modelled = entry.workload.model->has_value();
    entry.ranks = entry.workload.workers * entry.workload.accelerator->per_worker;
    if (!FindNodes()) return std::move(out_);
    const ClusterFabric& on = cluster_.fabrics[*entry.fabric];
    Result<cluster::Problem> problem = cluster::MakeProblem(on, entry.workload);
    if (!problem) return problem.error();
    Judge(on, *problem);
    return std::move(out_);
  }

 private:
  // Finds the nodes in the fabric that has all of them; else makes a refusal.
  bool FindNodes() {
    std::vector<std::string> gone;
    for (std::size_t f = 0; f < cluster_.fabrics.size(); ++f) {
      ByWorker<NodeIndex> found;
      std::vector<std::string> missing;
      for (const std::string& name : held_.nodes) {
        const auto node = cluster_.fabrics[f].fabric->FindNode(name);
        if (node) found.push_back(*node);
        if (!node) missing.push_back(name);
      }
      if (missing.empty() && found.size() == out_.entry.workload.workers) {
        out_.entry.fabric = f;
        nodes_ = std::move(found);
        return true;
      }
      if (f == 0 || missing.size() < gone.size()) gone = std::move(missing);
    }
    RefuseGone(gone);
    return false;
  }

  void RefuseGone(const std::vector<std::string>& gone) {
    plan::Refused refused;
    refused.reason = "NodesGone";
    refused.message = "Placement " + api::Show(held_.meta.key) + " gives it " +
                      CountText(static_cast<std::int64_t>(held_.nodes.size()), "node") + " for " +
                      CountText(out_.entry.workload.workers, "worker");
    if (!gone.empty()) {
      refused.message += "; " + std::to_string(gone.size()) + " of them, such as " + gone.front() +
                         ", are now incomplete or in no fabric";
    }
    refused.message += ".";
    out_.entry.outcome = std::move(refused);
  }

  void Judge(const ClusterFabric& on, const cluster::Problem& problem) {
    const traffic::WorkerGraph graph(problem.traffic);
    const fabric::Claims claims = ClaimsWithoutIt(on);
    const objective::Instance instance(claims, problem.request, graph);
    const objective::Candidate now = objective::Evaluate(instance, nodes_);
    plan::Placed placed;
    placed.plan.nodes = now.nodes;
    placed.plan.preferences = now.preferences;
    placed.plan.cost = now.cost;
    placed.scores = objective::Score(instance.pair_cost(), problem.traffic, nodes_);
    Explanation& out = out_.explanation;
    out.total_cost = now.cost;
    out.cost = ShareCost(instance.pair_cost(), problem.traffic, nodes_);
    Say("Placement " + api::Show(held_.meta.key) + " gives it these nodes.");
    SayProducts(*on.fabric, *out_.entry.workload.accelerator);
    for (std::string& sentence : WhyHereText(instance, now)) Say(std::move(sentence));
    if (const auto plan = placement::Solve(claims, problem.request, graph)) {
      TakeBound(*plan, placed.plan);
      SayCompared(
          *plan, placed.plan,
          cluster::SpansText(objective::Score(instance.pair_cost(), problem.traffic, plan->nodes)));
    } else {
      Say("If it were placed again now, it would get no nodes. " +
          plan::RefusalText(on, out_.entry.workload,
                            placement::Refuse(claims, problem.request, graph), {}));
    }
    out.blast = BlastRadii(claims, problem, nodes_);
    out_.entry.outcome = std::move(placed);
  }

  // Names products, if the fabric has several products or capacity types.
  void SayProducts(const fabric::Fabric& fabric, const api::Accelerator& accelerator) {
    if (!cluster::PoolChoicesOf(fabric, accelerator)) return;
    std::vector<fabric::PoolIndex> pools;
    for (const NodeIndex node : nodes_) pools.push_back(fabric.pool(node));
    std::sort(pools.begin(), pools.end());
    pools.erase(std::unique(pools.begin(), pools.end()), pools.end());
    Say((pools.size() > 1 ? "Its nodes are mixed: " : "Its nodes are ") +
        cluster::PoolsText(fabric, pools, accelerator.resource_name) + ".");
  }

  void Say(std::string sentence) { out_.explanation.why_here.push_back(std::move(sentence)); }

  fabric::Claims ClaimsWithoutIt(const ClusterFabric& on) const {
    fabric::Claims claims = on.claims;
    RemoveHeld(on, out_.entry.workload, claims);
    return claims;
  }

  // A bound under other preferences, or without nodes that the job has, does not hold for this
  // placement.
  void TakeBound(const placement::Plan& anew, placement::Plan& now) {
    if (anew.preferences != now.preferences || anew.lower_bound > now.cost) return;
    now.lower_bound = anew.lower_bound;
    out_.explanation.lower_bound = anew.lower_bound;
    out_.explanation.exact = anew.exact;
    out_.explanation.over_lower_bound_percent =
        plan::CostOverLowerBoundPercent(now.cost, anew.lower_bound);
  }

  void SayCompared(const placement::Plan& anew, const placement::Plan& now,
                   const std::string& spans) {
    const std::string where = "If it were placed again now, on free nodes and its own, ";
    if (anew.preferences < now.preferences) {
      Say(where + "it would meet topology better: " + spans + ".");
    } else if (anew.preferences > now.preferences) {
      Say(where + "it would meet topology worse: some of its nodes no longer accept its workers.");
    } else if (anew.cost < now.cost) {
      const Int128 less = now.cost - anew.cost;
      Say(where + "it would cost " + std::to_string(PercentOf(less, now.cost)) + " % less (" +
          LinkTimeText(less) + " of link time): " + spans + ".");
    } else {
      Say(where + "it would cost no less.");
    }
  }

  const Cluster& cluster_;
  const api::Placement& held_;
  ByWorker<NodeIndex> nodes_;
  HeldExplanation out_;
};

const api::Placement* PlacementOf(const api::Inputs& inputs, const cluster::PlacementPods& pods,
                                  const WorkloadView& workload) {
  if (workload.is_job) return pods.CurrentPlacement(inputs.jobs[workload.index]);
  const api::Placement& own = inputs.placements[workload.index];
  return own.nodes.empty() ? nullptr : &own;
}

// What to do about a name under which pods of another controller run or wait; "" if there are none.
std::string AdviceOn(const api::Inputs& inputs, const std::string& name) {
  for (const api::Pod& pod : inputs.pods) {
    const cluster::PodOwner owner = cluster::OwnerOf(pod);
    if (owner.key.name != name && api::Show(owner.key) != name) continue;
    if (!cluster::HasGate(pod)) {
      return "; `weft audit` shows what the nodes of this " + owner.kind + " cost";
    }
    return "; the pods of this " + owner.kind + " wait with the scheduling gate " + api::kGate +
           ", but no Placement selects them: the operator makes one for pods with the label " +
           api::kPlaceLabel + ": \"true\"";
  }
  return "";
}

}  // namespace

void RemoveHeld(const ClusterFabric& on, const WorkloadView& workload, fabric::Claims& claims) {
  for (const cluster::Holder& holder : on.holders) {
    if (holder.kind != workload.kind() || holder.key != workload.key()) continue;
    for (const cluster::Holding& holding : holder.holdings) {
      claims.Remove(holding.node, *holding.amounts, holding.compute_domain, holding.neighbour);
    }
  }
}

Result<std::vector<HeldExplanation>> ExplainHeld(const Cluster& cluster,
                                                 const std::vector<std::string>& names) {
  Result<std::vector<WorkloadView>> workloads = cluster::AllWorkloads(cluster);
  if (!workloads) return workloads.error();
  const cluster::PlacementPods pods(*cluster.inputs);
  std::set<std::string> found;
  std::vector<HeldExplanation> all;
  for (WorkloadView& workload : *workloads) {
    const api::Placement* held = PlacementOf(*cluster.inputs, pods, workload);
    if (held == nullptr) continue;
    bool wanted = false;
    for (const std::string& own : {api::Show(workload.key()), workload.key().name,
                                   api::Show(held->meta.key), held->meta.key.name}) {
      if (std::find(names.begin(), names.end(), own) == names.end()) continue;
      found.insert(own);
      wanted = true;
    }
    if (!wanted) continue;
    Result<HeldExplanation> one = HeldExplainer(cluster, std::move(workload), *held).Run();
    if (!one) return one.error();
    all.push_back(*std::move(one));
  }
  for (const std::string& name : names) {
    if (found.contains(name)) continue;
    return Invalid("\"" + name +
                   "\": no TrainingJob or Placement of this name waits for nodes or holds nodes" +
                   AdviceOn(*cluster.inputs, name));
  }
  return all;
}

Result<std::vector<Explanation>> ExplainNamed(const Cluster& cluster,
                                              const std::vector<std::string>& names,
                                              plan::PlanReport& report) {
  if (names.empty()) return Explain(cluster, report, names);
  std::vector<std::string> waiting, others;
  for (const std::string& name : names) {
    (IsInPlan(report, name) ? waiting : others).push_back(name);
  }
  std::vector<Explanation> all;
  if (!waiting.empty()) {
    auto explanations = Explain(cluster, report, waiting);
    if (!explanations) return explanations;
    all = *std::move(explanations);
  }
  auto held = ExplainHeld(cluster, others);
  if (!held) return held.error();
  for (HeldExplanation& one : *held) {
    one.explanation.entry = report.entries.size();
    report.entries.push_back(std::move(one.entry));
    all.push_back(std::move(one.explanation));
  }
  return all;
}

}  // namespace weft::report
