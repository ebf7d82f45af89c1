#include "operator/report/audit.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "operator/api/gang_annotations.h"
#include "operator/base/check.h"
#include "operator/cluster/accelerator_resources.h"
#include "operator/cluster/pins.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/text.h"
#include "operator/cluster/volumes.h"
#include "operator/cluster/workload.h"
#include "operator/fabric/node_facts.h"
#include "operator/objective/instance.h"
#include "operator/objective/levels.h"
#include "operator/report/levels.h"
#include "operator/traffic/worker_graph.h"
#include "operator/traffic/worker_grid.h"

namespace weft::report {
namespace {

using cluster::Cluster;
using cluster::ClusterFabric;
using cluster::Gang;
using cluster::Severity;

using fabric::NodeIndex;

struct FabricNode {
  std::size_t fabric = 0;
  NodeIndex node{0};
};

class Auditor {
 public:
  Auditor(const Cluster& cluster, const AuditOptions& options)
      : cluster_(cluster),
        options_(options),
        inputs_(*cluster.inputs),
        pods_(inputs_),
        volumes_(cluster) {
    for (const ClusterFabric& on : cluster.fabrics) claims_.push_back(on.claims);
  }

  Result<AuditReport> Run() {
    for (const api::Placement& placement : inputs_.placements) {
      for (const std::size_t p : pods_.PodsOf(placement)) placement_of_.emplace(p, &placement);
    }
    std::vector<std::size_t> chosen;
    for (std::size_t p = 0; p < inputs_.pods.size(); ++p) {
      const api::Pod& pod = inputs_.pods[p];
      if (pod.Holds() && AcceleratorsOf(pod) > 0) chosen.push_back(p);
    }
    for (const Gang& gang : cluster::FindGangs(inputs_.pods, chosen)) {
      if (gang.kind == "DaemonSet" || gang.pods.size() < 2) continue;
      if (!options_.space.empty() && gang.key.space != options_.space) continue;
      if (Status judged = JudgeGang(gang); !judged) return judged.error();
    }
    Finish();
    return std::move(report_);
  }

 private:
  std::int64_t AcceleratorsOf(const api::Pod& pod) const {
    return cluster::AcceleratorsOf(cluster_, pod);
  }

  std::optional<FabricNode> Find(const std::string& node) const {
    for (std::size_t f = 0; f < cluster_.fabrics.size(); ++f) {
      if (const auto n = cluster_.fabrics[f].fabric->FindNode(node)) return FabricNode{f, *n};
    }
    return std::nullopt;
  }

  void Skip(const Gang& gang, const std::string& why) {
    report_.notes.push_back({Severity::kWarning, "NotJudged",
                             gang.kind + " " + api::Show(gang.key) + " is left out: " + why});
  }

  // The Placement that describes the gang's traffic: that of the pods' TrainingJob, or one whose
  // podSelector matches all pods.
  const api::Placement* PlacementOf(const Gang& gang) const {
    const auto first = placement_of_.find(gang.pods.front());
    if (first == placement_of_.end()) return nullptr;
    const bool all = std::all_of(gang.pods.begin(), gang.pods.end(), [&](std::size_t p) {
      const auto found = placement_of_.find(p);
      return found != placement_of_.end() && found->second == first->second;
    });
    return all && first->second->workers == gang.pods.size() ? first->second : nullptr;
  }

  Status JudgeGang(const Gang& gang) {
    AuditGang out;
    out.key = gang.key;
    out.kind = gang.kind;
    out.group = gang.group;
    out.workers = static_cast<std::uint32_t>(gang.pods.size());
    std::vector<std::size_t> members = gang.pods;
    const api::Placement* beside = PlacementOf(gang);
    if (beside != nullptr) SortByPlacement(*beside, members);
    for (const std::size_t p : members) {
      const auto found = Find(inputs_.pods[p].node_name);
      if (!found) {
        Skip(gang, "pod " + inputs_.pods[p].meta.key.name + " runs on node " +
                       inputs_.pods[p].node_name + ", which is incomplete or in no fabric");
        return {};
      }
      if (out.now.nodes.empty()) out.fabric = found->fabric;
      if (found->fabric != out.fabric) {
        Skip(gang, "its pods are in two fabrics");
        return {};
      }
      out.now.nodes.push_back(found->node);
    }
    if (!gang.indexed && beside == nullptr) {
      out.notes.push_back({Severity::kInfo, "NoIndex",
                           "the pods have no index; workers are numbered in the order of names"});
    }
    return JudgeMembers(members, beside, std::move(out));
  }

  void SortByPlacement(const api::Placement& beside, std::vector<std::size_t>& members) const {
    std::map<WorkerIndex, std::size_t> by_worker;
    for (const std::size_t p : members) {
      const auto worker = pods_.WorkerOf(beside, inputs_.pods[p]);
      if (!worker || !by_worker.emplace(*worker, p).second) return;
    }
    members.clear();
    for (const auto& [worker, p] : by_worker) members.push_back(p);
  }

  // How the gang's ranks talk.
  struct Talk {
    traffic::Traffic traffic;
    traffic::Parallelism parallelism;
  };

  // The accelerators of each pod; 1 if the pods differ.
  std::uint32_t PerWorker(const std::vector<std::size_t>& members, AuditGang& out) const {
    const std::int64_t each = AcceleratorsOf(inputs_.pods[members.front()]);
    for (const std::size_t p : members) {
      if (AcceleratorsOf(inputs_.pods[p]) == each) continue;
      out.notes.push_back(
          {Severity::kInfo, "UnevenWorkers",
           "the pods hold different numbers of accelerators; each pod counts as one rank"});
      return 1;
    }
    return static_cast<std::uint32_t>(std::min<std::int64_t>(each, 256));
  }

  // The traffic by the gang's Placement, else by the annotations of its pods; without a model a
  // ring over all ranks.
  Result<Talk> TalkOf(const std::vector<std::size_t>& members, const api::Placement* beside,
                      AuditGang& out) const {
    const std::uint32_t each = PerWorker(members, out);
    if (beside != nullptr && beside->model) {
      out.modelled = true;
      out.placement = beside->meta.key.name;
      auto traffic = traffic::ComputeTraffic(beside->model, beside->parallelism, out.workers,
                                             beside->accelerator.per_worker);
      if (traffic) return Talk{*std::move(traffic), beside->parallelism};
      // Another team's figures do not depend on it.
      out.modelled = false;
      out.notes.push_back(
          {Severity::kWarning, "PlacementIgnored",
           beside->place + ": spec." + traffic.error().message + "; the ranks count as one ring"});
    }
    if (auto annotated = AnnotatedTalk(inputs_.pods[members.front()], each, out)) {
      out.modelled = true;
      return *std::move(annotated);
    }
    auto ring = traffic::ComputeTraffic(std::nullopt, {}, out.workers, each);
    if (!ring) return ring.error();
    return Talk{*std::move(ring), {}};
  }

  // Nothing if the pod has no annotation weft.dev/model, or one that does not fit the gang.
  static std::optional<Talk> AnnotatedTalk(const api::Pod& pod, std::uint32_t per_worker,
                                           AuditGang& out) {
    const auto ignore = [&](const std::string& why) {
      out.notes.push_back(
          {Severity::kWarning, "AnnotationIgnored", why + "; the ranks count as one ring"});
      return std::nullopt;
    };
    const auto asked = api::DecodeGangAnnotations(pod.meta.annotations);
    if (!asked) return ignore(asked.error().message);
    if (!asked->model) return std::nullopt;
    const traffic::Parallelism parallelism = asked->parallelism.value_or(traffic::Parallelism());
    auto traffic = traffic::ComputeTraffic(asked->model, parallelism, out.workers, per_worker);
    if (!traffic)
      return ignore("annotations of pod " + pod.meta.key.name + ": " + traffic.error().message);
    return Talk{*std::move(traffic), parallelism};
  }

  Status JudgeMembers(const std::vector<std::size_t>& members, const api::Placement* beside,
                      AuditGang out) {
    Result<Talk> talk = TalkOf(members, beside, out);
    if (!talk) return talk.error();
    const traffic::Traffic& traffic = talk->traffic;
    out.ranks = traffic.ranks;
    const ClusterFabric& on = cluster_.fabrics[out.fabric];
    objective::Request request = RequestOf(members, out);
    request.grid = traffic::WorkerGrid(talk->parallelism, out.workers, traffic.per_worker);
    const auto* ring = traffic::LargestRing(traffic);
    if (ring != nullptr && on.fabric->nested_scale_up()) request.ring = *ring;
    const objective::PairCost pair_cost(*on.fabric, request.pod.claims_compute_domain);
    const traffic::WorkerGraph graph(traffic);
    const auto judge = [&](ByWorker<NodeIndex> nodes) {
      Judged judged;
      judged.nodes = std::move(nodes);
      judged.scores = ScoreAnyway(pair_cost, traffic, judged.nodes);
      judged.levels = LevelBytesOf(*on.fabric, judged.scores);
      judged.cost = objective::Cost(pair_cost, graph, judged.nodes);
      return judged;
    };
    out.now = judge(std::move(out.now.nodes));
    out.best = out.now;
    out.excess_percent = 0;
    if (const auto better = FindBetter(members, out, request, graph)) {
      out.best = judge(better->nodes);
      out.worse = better->why;
      out.excess_percent = Excess(out.now.cost, out.best->cost);
    }
    report_.gangs.push_back(std::move(out));
    return {};
  }

  static std::optional<std::int64_t> Excess(Int128 cost, Int128 best) {
    if (cost == best) return 0;
    if (best == 0) return std::nullopt;
    return PercentOf(cost - best, best);
  }

  // The pools of the gang's nodes: it could run on other nodes of these pools.
  std::vector<fabric::PoolIndex> PoolsOf(const AuditGang& out) const {
    std::vector<fabric::PoolIndex> pools;
    for (const NodeIndex node : out.now.nodes) {
      pools.push_back(cluster_.fabrics[out.fabric].fabric->pool(node));
    }
    std::sort(pools.begin(), pools.end());
    pools.erase(std::unique(pools.begin(), pools.end()), pools.end());
    return pools;
  }

  objective::Request RequestOf(const std::vector<std::size_t>& members, const AuditGang& out) {
    objective::Request request;
    request.job = api::Show(out.key);
    request.workers = out.workers;
    request.pod = cluster::WithoutPins(inputs_.pods[members.front()].pod);
    request.pod.labels = inputs_.pods[members.front()].meta.labels;
    request.pool_choices = std::vector<objective::PoolChoice>{{"", PoolsOf(out), 0}};
    for (const std::size_t p : members) {
      for (const auto& [name, amount] : inputs_.pods[p].pod.requests) {
        std::int64_t& most = request.pod.requests[name];
        most = std::max(most, amount);
      }
    }
    std::vector<const fabric::PodTerms*> terms;
    for (const std::size_t p : members) terms.push_back(inputs_.pods[p].pod.terms.get());
    volumes_.Resolve(out.key.space, terms, request.pod);
    return request;
  }

  struct Better {
    ByWorker<NodeIndex> nodes;
    std::string why;  // why the gang's own nodes are worse
  };

  // The placement that `plan` finds without this gang's own claims, if it is better by the whole
  // objective. The claims are restored afterwards.
  std::optional<Better> FindBetter(const std::vector<std::size_t>& members, const AuditGang& out,
                                   const objective::Request& request,
                                   const traffic::WorkerGraph& graph) {
    fabric::Claims& claims = claims_[out.fabric];
    WEFT_CHECK(out.now.nodes.size() == members.size());  // a pod a worker
    ByWorker<std::string> domains;
    for (const WorkerIndex w : out.now.nodes.Indices()) {
      const api::Pod& pod = inputs_.pods[members[w.Raw()]];
      // The claims may be under the name of a Placement instead of the gang's.
      domains.push_back(pod.pod.claims_compute_domain ? claims.compute_domain(out.now.nodes[w])
                                                      : "");
      claims.Remove(out.now.nodes[w], pod.pod.requests, domains.back(), cluster::NeighbourOf(pod));
    }
    std::optional<Better> better = Compare(claims, request, graph, out.now.nodes);
    for (const WorkerIndex w : out.now.nodes.Indices()) {
      const api::Pod& pod = inputs_.pods[members[w.Raw()]];
      claims.Add(out.now.nodes[w], pod.pod.requests, domains[w], cluster::NeighbourOf(pod));
    }
    return better;
  }

  std::optional<Better> Compare(const fabric::Claims& claims, const objective::Request& request,
                                const traffic::WorkerGraph& graph,
                                const ByWorker<NodeIndex>& nodes) const {
    const objective::Options options;  // those of a plan
    const auto plan = placement::Solve(claims, request, graph, options);
    if (!plan) return std::nullopt;
    const objective::Instance instance(claims, request, graph, options, plan->pools);
    const objective::Candidate now = objective::Evaluate(instance, nodes);
    const objective::Candidate planned = plan->candidate();
    if (now.objective() < planned.objective()) return std::nullopt;
    const bool as_good =
        now.objective() == planned.objective() &&
        objective::BreakTies(instance, nodes) <= objective::BreakTies(instance, plan->nodes);
    if (as_good) return std::nullopt;  // names of nodes do not count
    return Better{plan->nodes, objective::WhyWorse(instance, now, planned)};
  }

  static void AddGang(const AuditGang& gang, AuditReport::Total& total) {
    ++total.gangs;
    total.workers += gang.workers;
    total.cost += gang.now.cost;
    total.best_cost += gang.best->cost;
    total.cross_node_bytes += gang.now.scores.cross_node_bytes;
    total.best_cross_node_bytes += gang.best->scores.cross_node_bytes;
    AddLevels(gang.now.levels, total.levels);
    AddLevels(gang.best->levels, total.best_levels);
  }

  void MarkAlike() {
    std::map<std::pair<std::string, api::ObjectKey>, std::set<std::string>> groups;
    for (const AuditGang& gang : report_.gangs) groups[{gang.kind, gang.key}].insert(gang.group);
    for (AuditGang& gang : report_.gangs) gang.alike = groups[{gang.kind, gang.key}].size() > 1;
  }

  void Finish() {
    MarkAlike();
    for (const AuditGang& gang : report_.gangs) {
      AddGang(gang, report_.total);
      AddGang(gang, gang.modelled ? report_.modelled : report_.rings);
    }
    for (AuditReport::Total* total : {&report_.total, &report_.modelled, &report_.rings}) {
      if (total->gangs > 0) total->excess_percent = Excess(total->cost, total->best_cost);
    }
    std::stable_sort(report_.gangs.begin(), report_.gangs.end(),
                     [](const AuditGang& a, const AuditGang& b) {
                       const Int128 more_a = a.now.cost - a.best->cost;
                       const Int128 more_b = b.now.cost - b.best->cost;
                       return more_a != more_b ? more_a > more_b : a.key < b.key;
                     });
    if (!report_.gangs.empty()) NameAssumptions();
    NoteOutside();
    report_.partly_started = HalfGangs(inputs_, options_.space);
    const auto half = NotesOf(report_.partly_started);
    report_.notes.insert(report_.notes.end(), half.begin(), half.end());
  }

  void NameAssumptions() {
    auto& say = report_.assumptions;
    say.push_back(
        "Best is where `weft plan` would place one gang, if its own nodes were free and all other "
        "pods stayed. Rules that tie its pods to single nodes (nodeName, host names) are ignored; "
        "its product and capacity type are kept.");
    if (report_.rings.gangs > 0) {
      say.push_back(
          CountText(static_cast<std::int64_t>(report_.rings.gangs), "gang") +
          (report_.rings.gangs == 1
               ? " has no Placement and no annotations that state the traffic: the ranks"
               : " have no Placement and no annotations that state the traffic: the ranks of "
                 "each") +
          " count as one ring, in the order of the pods' index or name, with one byte per rank. "
          "Only the ratios of a ring mean something, not its bytes and times.");
    }
    for (const ClusterFabric& on : cluster_.fabrics) {
      if (on.LinksDeclared() || on.fabric->node_count() == 0) continue;
      say.push_back(
          "Fabric \"" + on.name() +
          "\" declares no bandwidth for some of its links, so costs depend on assumed bandwidths.");
    }
  }

  // Notes pods with accelerators on nodes that are in no fabric.
  void NoteOutside() {
    std::size_t pods = 0;
    std::set<std::string> nodes;
    for (const api::Pod& pod : inputs_.pods) {
      if (!pod.Holds() || AcceleratorsOf(pod) == 0 || Find(pod.node_name)) continue;
      ++pods;
      nodes.insert(pod.node_name);
    }
    if (pods == 0) return;
    report_.notes.push_back({Severity::kWarning, "OutsideFabric",
                             CountText(static_cast<std::int64_t>(pods), "pod") +
                                 " with accelerators on " +
                                 CountText(static_cast<std::int64_t>(nodes.size()), "node") +
                                 " outside every fabric, such as " + *nodes.begin()});
  }

  const Cluster& cluster_;
  const AuditOptions& options_;
  const api::Inputs& inputs_;
  cluster::PlacementPods pods_;
  cluster::Volumes volumes_;
  std::map<std::size_t, const api::Placement*> placement_of_;
  std::vector<fabric::Claims> claims_;  // by fabric
  AuditReport report_;
};

}  // namespace

Result<AuditReport> Audit(const Cluster& cluster, const AuditOptions& options) {
  return Auditor(cluster, options).Run();
}

}  // namespace weft::report
