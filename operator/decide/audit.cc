#include "operator/decide/audit.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "operator/decide/levels.h"
#include "operator/decide/placement_pods.h"
#include "operator/decide/text.h"
#include "operator/placement/pair_cost.h"
#include "operator/traffic/worker_graph.h"
#include "operator/traffic/worker_grid.h"

namespace weft::decide {
namespace {

using fabric::NodeIndex;

constexpr const char* kHostName = "kubernetes.io/hostname";
constexpr const char* kNameField = "metadata.name";

// What keeps a pod on the very node that somebody chose for it: left out when asking where else it
// could run.
placement::PodRequirements WithoutPins(placement::PodRequirements pod) {
  pod.node_name.clear();
  pod.node_selector.erase(kHostName);
  if (!pod.required_affinity) return pod;
  std::vector<placement::NodeSelectorTerm> terms;
  for (placement::NodeSelectorTerm& term : *pod.required_affinity) {
    std::erase_if(term.match_fields, [](const auto& field) { return field.key == kNameField; });
    std::erase_if(term.match_expressions,
                  [](const auto& expression) { return expression.key == kHostName; });
    if (!term.match_fields.empty() || !term.match_expressions.empty()) {
      terms.push_back(std::move(term));
    }
  }
  // A term that said nothing else let every other node in.
  const bool open = terms.size() < pod.required_affinity->size();
  pod.required_affinity.reset();
  if (!open) pod.required_affinity = std::move(terms);
  return pod;
}

std::int64_t AcceleratorsOf(const api::Pod& pod, std::string* resource) {
  std::int64_t sum = 0;
  for (const auto& [name, amount] : pod.pod.requests) {
    if (!fabric::IsAcceleratorResource(name) || amount <= 0) continue;
    if (resource != nullptr && resource->empty()) *resource = name;
    sum = SaturatingAdd(sum, amount);
  }
  return sum;
}

struct Seat {
  std::size_t fabric = 0;
  NodeIndex node = 0;
};

class Auditor {
 public:
  Auditor(const Cluster& cluster, const AuditOptions& options)
      : cluster_(cluster), options_(options), inputs_(*cluster.inputs), pods_(inputs_) {
    for (const ClusterFabric& on : cluster.fabrics) claims_.push_back(on.claims);
  }

  Result<AuditReport> Run() {
    for (const api::Placement& placement : inputs_.placements) {
      for (const std::size_t p : pods_.PodsOf(placement)) placement_of_.emplace(p, &placement);
    }
    std::vector<std::size_t> chosen;
    for (std::size_t p = 0; p < inputs_.pods.size(); ++p) {
      const api::Pod& pod = inputs_.pods[p];
      if (pod.Holds() && AcceleratorsOf(pod, nullptr) > 0) chosen.push_back(p);
    }
    for (const Gang& gang : FindGangs(inputs_.pods, chosen)) {
      if (gang.kind == "DaemonSet" || gang.pods.size() < 2) continue;
      if (!options_.space.empty() && gang.key.space != options_.space) continue;
      if (Status judged = JudgeGang(gang); !judged) return judged.error();
    }
    Finish();
    return std::move(report_);
  }

 private:
  std::optional<Seat> Find(const std::string& node) const {
    for (std::size_t f = 0; f < cluster_.fabrics.size(); ++f) {
      if (const auto n = cluster_.fabrics[f].fabric->FindNode(node)) return Seat{f, *n};
    }
    return std::nullopt;
  }

  void Skip(const Gang& gang, const std::string& why) {
    report_.notes.push_back({Severity::kWarning, "NotJudged",
                             gang.kind + " " + api::Show(gang.key) + " is left out: " + why});
  }

  // What a Placement beside the gang says of its traffic: of the pods' own TrainingJob, or of the
  // podSelector that matches every one of them.
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
    out.workers = static_cast<std::uint32_t>(gang.pods.size());
    std::vector<std::size_t> members = gang.pods;
    const api::Placement* beside = PlacementOf(gang);
    if (beside != nullptr) SortByPlacement(*beside, members);
    for (const std::size_t p : members) {
      const auto seat = Find(inputs_.pods[p].node_name);
      if (!seat) {
        Skip(gang, "pod " + inputs_.pods[p].meta.key.name + " runs on node " +
                       inputs_.pods[p].node_name + ", which is in no fabric or incomplete");
        return {};
      }
      if (out.now.nodes.empty()) out.fabric = seat->fabric;
      if (seat->fabric != out.fabric) {
        Skip(gang, "its pods are in two fabrics");
        return {};
      }
      out.now.nodes.push_back(seat->node);
    }
    if (!gang.indexed && beside == nullptr) {
      out.notes.push_back({Severity::kInfo, "NoIndex",
                           "the pods carry no index; workers are taken in the order of names"});
    }
    return Compare(members, beside, std::move(out));
  }

  void SortByPlacement(const api::Placement& beside, std::vector<std::size_t>& members) const {
    std::map<std::uint32_t, std::size_t> by_worker;
    for (const std::size_t p : members) {
      const auto worker = pods_.WorkerOf(beside, inputs_.pods[p]);
      if (!worker || !by_worker.emplace(*worker, p).second) return;
    }
    members.clear();
    for (const auto& [worker, p] : by_worker) members.push_back(p);
  }

  // The traffic that a Placement states; else one ring over all ranks.
  Result<traffic::Traffic> TrafficOf(const std::vector<std::size_t>& members,
                                     const api::Placement* beside, AuditGang& out) const {
    std::int64_t each = AcceleratorsOf(inputs_.pods[members.front()], nullptr);
    for (const std::size_t p : members) {
      if (AcceleratorsOf(inputs_.pods[p], nullptr) == each) continue;
      out.notes.push_back({Severity::kInfo, "UnevenWorkers",
                           "the pods hold different numbers of accelerators; each counts as one "
                           "rank"});
      each = 1;
      break;
    }
    traffic::Parallelism data;
    if (beside != nullptr && beside->model) {
      out.modelled = true;
      out.placement = beside->meta.key.name;
      auto traffic = traffic::ComputeTraffic(beside->model, beside->parallelism, out.workers,
                                             beside->accelerator.per_worker);
      if (!traffic) return Invalid(beside->place + ": spec." + traffic.error().message);
      return traffic;
    }
    const auto per_worker = static_cast<std::uint32_t>(std::min<std::int64_t>(each, 256));
    return traffic::ComputeTraffic(std::nullopt, data, out.workers, per_worker);
  }

  Status Compare(const std::vector<std::size_t>& members, const api::Placement* beside,
                 AuditGang out) {
    Result<traffic::Traffic> traffic = TrafficOf(members, beside, out);
    if (!traffic) return traffic.error();
    out.ranks = traffic->ranks;
    const ClusterFabric& on = cluster_.fabrics[out.fabric];
    placement::Request request = RequestOf(members, out);
    request.grid = traffic::WorkerGrid(out.modelled ? beside->parallelism : traffic::Parallelism(),
                                       out.workers, traffic->per_worker);
    const placement::PairCost pair_cost(*on.fabric, request.pod.claims_compute_domain);
    const traffic::WorkerGraph graph(*traffic);
    const auto judge = [&](std::vector<NodeIndex> nodes) {
      Judged judged;
      judged.nodes = std::move(nodes);
      judged.scores = ScoreAnyway(pair_cost, *traffic, judged.nodes);
      judged.levels = LevelBytesOf(*on.fabric, judged.scores);
      judged.cost = placement::Cost(pair_cost, graph, judged.nodes);
      return judged;
    };
    out.now = judge(std::move(out.now.nodes));
    const placement::Placement best = FindBest(members, out, request, graph);
    if (const auto* plan = std::get_if<placement::Plan>(&best)) {
      // Its own nodes are one of the answers: the solver's is the best only where it is better.
      out.best = plan->cost < out.now.cost ? judge(plan->nodes) : out.now;
      out.excess_percent = Excess(out.now.cost, out.best->cost);
    } else {
      out.best = out.now;
      out.excess_percent = Excess(out.now.cost, out.now.cost);
      out.notes.push_back({Severity::kInfo, "NothingBetter",
                           "no other placement was found for pods of this shape"});
    }
    report_.gangs.push_back(std::move(out));
    return {};
  }

  static std::optional<std::int64_t> Excess(Int128 cost, Int128 best) {
    if (cost == best) return 0;
    if (best == 0) return std::nullopt;
    return PercentOf(cost - best, best);
  }

  placement::Request RequestOf(const std::vector<std::size_t>& members,
                               const AuditGang& out) const {
    placement::Request request;
    request.job = api::Show(out.key);
    request.workers = out.workers;
    request.pod = WithoutPins(inputs_.pods[members.front()].pod);
    for (const std::size_t p : members) {
      for (const auto& [name, amount] : inputs_.pods[p].pod.requests) {
        std::int64_t& most = request.pod.requests[name];
        most = std::max(most, amount);
      }
    }
    return request;
  }

  // The best placement with this gang's own claims taken away; they are put back after.
  placement::Placement FindBest(const std::vector<std::size_t>& members, const AuditGang& out,
                                const placement::Request& request,
                                const traffic::WorkerGraph& graph) {
    fabric::Claims& claims = claims_[out.fabric];
    std::vector<std::string> domains;
    for (std::size_t w = 0; w < members.size(); ++w) {
      const api::Pod& pod = inputs_.pods[members[w]];
      // The holder may be a Placement beside the gang, which books under its own name.
      domains.push_back(pod.pod.claims_compute_domain ? claims.compute_domain(out.now.nodes[w])
                                                      : "");
      claims.Remove(out.now.nodes[w], pod.pod.requests, domains.back());
    }
    placement::Placement best = placement::Place(claims, request, graph, options_.place);
    for (std::size_t w = 0; w < members.size(); ++w) {
      claims.Add(out.now.nodes[w], inputs_.pods[members[w]].pod.requests, domains[w]);
    }
    return best;
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

  void Finish() {
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
    NoteOutside();
  }

  // Pods with accelerators on nodes that no fabric holds.
  void NoteOutside() {
    std::size_t pods = 0;
    std::set<std::string> nodes;
    for (const api::Pod& pod : inputs_.pods) {
      if (!pod.Holds() || AcceleratorsOf(pod, nullptr) == 0 || Find(pod.node_name)) continue;
      ++pods;
      nodes.insert(pod.node_name);
    }
    if (pods == 0) return;
    report_.notes.push_back({Severity::kWarning, "OutsideFabric",
                             CountText(static_cast<std::int64_t>(pods), "pod") +
                                 " with accelerators on " +
                                 CountText(static_cast<std::int64_t>(nodes.size()), "node") +
                                 " that no fabric holds, " + *nodes.begin() + " first"});
  }

  const Cluster& cluster_;
  const AuditOptions& options_;
  const api::Inputs& inputs_;
  PlacementPods pods_;
  std::map<std::size_t, const api::Placement*> placement_of_;
  std::vector<fabric::Claims> claims_;  // by fabric
  AuditReport report_;
};

}  // namespace

Result<AuditReport> Audit(const Cluster& cluster, const AuditOptions& options) {
  return Auditor(cluster, options).Run();
}

}  // namespace weft::decide
