#include "operator/plan/plan.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "operator/api/conditions.h"
#include "operator/api/kueue.h"
#include "operator/base/check.h"
#include "operator/cluster/choose_fabric.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/problem.h"
#include "operator/cluster/text.h"
#include "operator/objective/levels.h"
#include "operator/objective/pair_cost.h"
#include "operator/objective/room_table.h"
#include "operator/placement/fits.h"
#include "operator/placement/refuse.h"
#include "operator/plan/outlook.h"
#include "operator/plan/pinned.h"
#include "operator/plan/plan_crashes.h"
#include "operator/plan/plan_report.h"
#include "operator/plan/refusal.h"
#include "operator/plan/reservation.h"

namespace weft::plan {
namespace {

// Limit of a Placement's status: an object in etcd has at most 1.5 MiB.
constexpr std::size_t kStatusBytesAtMost = 12 * (std::size_t{1} << 20) / 10;
// Of these, all except the nodes' names: flows and spread of 7 axes at 18 levels, and messages.
constexpr std::size_t kStatusBytesBesideNodes = std::size_t{24} << 10;
constexpr std::size_t kQuotesAndComma = 3;

bool IsTooLarge(const fabric::Fabric& fabric, const placement::Plan& plan) {
  std::size_t bytes = kStatusBytesBesideNodes;
  for (const fabric::NodeIndex node : plan.nodes) {
    bytes += fabric.node(node).name.size() + kQuotesAndComma;
  }
  return bytes > kStatusBytesAtMost;
}

class PlanBuilder {
 public:
  PlanBuilder(const cluster::Cluster& cluster, const PlanOptions& options)
      : cluster_(cluster),
        options_(options),
        learned_(predict::LearnedScalars::From(*cluster.inputs)),
        explain_left_(options.explained_refusals),
        crashes_(cluster, options.crashes, options.crashed_kinds) {
    for (const cluster::ClusterFabric& on : cluster.fabrics) claims_.push_back(on.claims);
    for (const fabric::Claims& claims : claims_) rooms_.emplace_back(claims);
    reservations_.resize(cluster.fabrics.size());
    nominated_.resize(cluster.fabrics.size());
    WEFT_CHECK(rooms_.size() == claims_.size());
  }

  Result<PlanReport> Run() {
    Result<std::vector<cluster::WorkloadView>> workloads = cluster::PendingWorkloads(
        cluster_, options_.order,
        options_.refuse_invalid ? cluster::Mark::kInvalid : cluster::Mark::kNo);
    if (!workloads) return workloads.error();
    if (options_.best_costs != nullptr) options_.best_costs->DropOtherFabrics(cluster_);
    std::vector<std::string> bundles;
    for (const cluster::WorkloadView& workload : *workloads) bundles.push_back(workload.bundle);
    crashes_.Learn(*workloads, bundles);
    entries_.reserve(workloads->size());  // endings point to entries
    for (cluster::WorkloadView& workload : *workloads) {
      WEFT_CHECK(entries_.size() < entries_.capacity());  // no entry moves
      PlanEntry entry;
      entry.workload = std::move(workload);
      entries_.push_back(std::move(entry));
      Name(entries_.back(), Solving::kNodes);
      if (Status decided = DecideInBundle(entries_.back()); !decided) return decided.error();
      if (options_.progress) options_.progress(entries_.size(), workloads->size());
    }
    return Report();
  }

 private:
  std::int64_t Now() const { return options_.microseconds ? options_.microseconds() : 0; }

  void Name(const PlanEntry& entry, Solving solving) const {
    if (options_.deciding) options_.deciding(&entry.workload, solving);
  }

  // Whether the solver must not be asked, because it has crashed on this workload or its like.
  bool RefuseForCrashes(PlanEntry& entry) {
    auto failed = crashes_.FindRefusal(entries_.size() - 1, entry.workload);
    if (!failed) return false;
    Refuse(entry, *std::move(failed));
    return true;
  }

  static void Refuse(PlanEntry& entry, Refusal refusal) {
    entry.outcome = Refused{std::move(refusal), {}, {}, {}};
  }

  // Workloads of one bundle get nodes all together or not at all.
  Status DecideInBundle(PlanEntry& entry) {
    const std::string bundle = entry.workload.bundle;
    if (const auto refused = refused_bundles_.find(bundle); refused != refused_bundles_.end()) {
      entry.outcome = refused->second;
      return {};
    }
    if (Status decided = Decide(entry); !decided) {
      if (!options_.refuse_invalid) return decided.error();
      Refuse(entry, {"Invalid", decided.error().message});
    }
    if (bundle.empty() || entry.refused() == nullptr) return {};
    const Refused refused = *entry.refused();
    for (PlanEntry& earlier : entries_) {
      if (earlier.workload.bundle != bundle) continue;
      if (const Placed* placed = earlier.placed()) {
        WEFT_CHECK(earlier.fabric && *earlier.fabric < claims_.size());
        cluster::RemoveClaims(earlier.workload, placed->plan.nodes, claims_[*earlier.fabric]);
      }
      earlier.outcome = refused;
    }
    refused_bundles_.emplace(bundle, refused);
    return {};
  }

  Status Decide(PlanEntry& entry) {
    const cluster::WorkloadView& workload = entry.workload;
    entry.modelled = workload.model->has_value();
    entry.ranks = workload.workers * workload.accelerator->per_worker;
    if (!workload.invalid.empty()) return Invalid(workload.invalid);
    // Nothing that reads its shape may run before this.
    if (RefuseForCrashes(entry)) return {};
    auto choice = cluster::ChooseFabric(cluster_, workload);
    if (!choice) return choice.error();
    if (auto* none = std::get_if<Refusal>(&*choice)) {
      Refuse(entry, std::move(*none));
      return {};
    }
    entry.fabric = std::get<std::size_t>(*choice);
    WEFT_CHECK(*entry.fabric < cluster_.fabrics.size());
    if (const api::Condition* wait = QueueWaitOf(workload)) {
      Refuse(entry, {wait->reason, wait->message});
      return {};
    }
    if (Status decided = DecideOnFabric(entry); !decided) return decided;
    if (!WaitsInVain(entry)) return {};
    // Decided again as if the wait were over: then the level is only preferred.
    entry.workload.wait.waited_seconds = entry.workload.topology->wait_for_preferred_seconds;
    return DecideOnFabric(entry);
  }

  // Gives the workload nodes of entry.fabric, or refuses it. While it waits for
  // topology.preferred, only nodes in one domain of that level are good enough.
  Status DecideOnFabric(PlanEntry& entry) {
    const cluster::WorkloadView& workload = entry.workload;
    const std::int64_t start = Now();
    Result<cluster::Problem> problem =
        cluster::MakeProblem(cluster_.fabrics[*entry.fabric], workload);
    if (!problem) return problem.error();
    if (IsShortOfPods(workload)) {
      Refuse(entry, {"WaitingForPods", ShortOfPodsText(workload)});
      return {};
    }
    if (!workload.no_gang.empty()) {
      Refuse(entry, {"WorkerIndexInvalid", workload.no_gang});
      return {};
    }
    const auto pinned = PinnedHosts(*cluster_.inputs, workload);
    if (!pinned) {
      Refuse(entry, {kPodsPinned, pinned.error().message});
      return {};
    }
    if (!pinned->empty()) {
      TakePinned(*problem, *pinned, entry);
      return {};
    }
    Solve(*problem, start, entry);
    return {};
  }

  // Whether the job waits for a preferred level that could not hold it even on an empty fabric.
  static bool WaitsInVain(const PlanEntry& entry) {
    const Refused* refused = entry.refused();
    return refused != nullptr && refused->ends_in_seconds && !refused->why->ever;
  }

  const api::Condition* QueueWaitOf(const cluster::WorkloadView& workload) const {
    if (!options_.heed_queues || !workload.is_job) return nullptr;
    return api::WaitForKueue(cluster_.inputs->jobs[workload.index].conditions);
  }

  // The pods of a Workload of Kueue are made after it has nodes. Where no pod waits, nothing is to
  // be placed, even if all workers are done.
  bool IsShortOfPods(const cluster::WorkloadView& workload) const {
    if (workload.is_job) return false;
    const bool all = workload.gated_pods + workload.done_workers >= workload.workers;
    if (all && workload.gated_pods > 0) return false;
    const api::Placement& placement = cluster_.inputs->placements[workload.index];
    return placement.pod_selector && !api::ControllingWorkload(placement.meta);
  }

  static std::string ShortOfPodsText(const cluster::WorkloadView& workload) {
    const std::uint32_t held = workload.held_pods;
    std::string text = "spec.podSelector matches " + std::to_string(workload.gated_pods + held) +
                       " of " + CountText(workload.workers, "pod") + " with the scheduling gate " +
                       api::kGate;
    if (workload.bound_pods > 0) {
      text += "; " + CountText(workload.bound_pods, "matching pod") +
              (workload.bound_pods == 1 ? " has a node" : " have nodes") +
              " already (`weft audit` shows what these cost)";
    }
    if (held == 0) return text + "; nothing is placed before all of them exist.";
    text += ", and " + std::to_string(held) + " of them also " + (held == 1 ? "has" : "have") +
            (workload.other_gates.size() == 1 ? " the gate " : " the gates ");
    const char* comma = "";
    for (const std::string& gate : workload.other_gates) {
      text += comma + gate;
      comma = ", ";
    }
    return text + "; nothing is placed before all of them exist without other gates.";
  }

  void Solve(const cluster::Problem& problem, std::int64_t start, PlanEntry& entry) {
    const cluster::ClusterFabric& on = cluster_.fabrics[*entry.fabric];
    fabric::Claims& claims = claims_[*entry.fabric];
    cluster::BookNominated(on, entry.workload.pod_priority, nominated_[*entry.fabric], claims);
    const traffic::WorkerGraph graph(problem.traffic);
    placement::Placement placement = PlaceOn(entry, problem, graph);
    const objective::PairCost pair_cost(*on.fabric, problem.request.pod.claims_compute_domain);
    if (auto* plan = std::get_if<placement::Plan>(&placement)) {
      Placed placed;
      placed.scores = objective::Score(pair_cost, problem.traffic, plan->nodes);
      placed.plan = std::move(*plan);
      entry.solve_microseconds = Now() - start;
      if (IsTooLarge(*on.fabric, placed.plan)) {
        Refuse(entry, {"PlacementTooLarge",
                       "The node names of " + CountText(entry.workload.workers, "worker") +
                           " exceed the 1.2 MiB that a Placement's status may hold."});
        return;
      }
      WEFT_CHECK(placed.plan.nodes.size() == entry.workload.workers);  // all of them or none
      AddFigures(problem, graph, entry, placed);
      cluster::AddClaims(entry.workload, placed.plan.nodes, claims);
      crashes_.GotNodes(entries_.size() - 1);
      entry.outcome = std::move(placed);
    } else {
      entry.solve_microseconds = Now() - start;
      Refused refused;
      refused.why = std::get<placement::Unplaceable>(std::move(placement));
      Explain(problem, graph, entry, refused);
      if (!HeldBack(problem, graph, entry, refused)) ReserveNodes(problem, graph, entry, refused);
      entry.outcome = std::move(refused);
    }
    AddNotes(problem, on, entry);
  }

  // Takes the nodes that the pods are pinned to already: kube-scheduler allows no others. Only the
  // costs are computed, so that they can be compared with the best.
  void TakePinned(cluster::Problem problem, const ByWorker<std::string>& hosts, PlanEntry& entry) {
    problem.request.pod.node_selector.erase(fabric::kHostNameLabel);
    const cluster::ClusterFabric& on = cluster_.fabrics[*entry.fabric];
    Placed placed;
    for (const std::string& host : hosts) {
      const auto node = HostOn(*on.fabric, host);
      if (!node) {
        return Refuse(entry, {kPodsPinned, "A pod is pinned to " + host +
                                               " by its own nodeSelector "
                                               "kubernetes.io/hostname, and Fabric " +
                                               on.name() + " has no such node."});
      }
      placed.plan.nodes.push_back(*node);
    }
    const traffic::WorkerGraph graph(problem.traffic);
    const objective::PairCost pair_cost(*on.fabric, problem.request.pod.claims_compute_domain);
    placed.plan.cost = objective::Cost(pair_cost, graph, placed.plan.nodes);
    placed.scores = objective::Score(pair_cost, problem.traffic, placed.plan.nodes);
    AddFigures(problem, graph, entry, placed);
    cluster::AddClaims(entry.workload, placed.plan.nodes, claims_[*entry.fabric]);
    entry.outcome = std::move(placed);
    entry.notes.push_back(
        {cluster::Severity::kInfo, kPodsPinned,
         "each pod is pinned to a node by its own nodeSelector kubernetes.io/hostname, as Kueue's "
         "topology-aware scheduling does, so Weft chose no nodes"});
    AddNotes(problem, on, entry);
  }

  // The node of that host name; kubelets name most nodes like their hosts.
  std::optional<fabric::NodeIndex> HostOn(const fabric::Fabric& on, const std::string& host) const {
    for (std::size_t n = 0; n < cluster_.inputs->nodes.size(); ++n) {
      const fabric::NodeFacts& facts = cluster_.inputs->nodes[n].facts;
      if (facts.labels.At(fabric::kHostNameLabel).value_or(facts.name) == host) {
        return on.FindNode(facts.name);
      }
    }
    return std::nullopt;
  }

  // What no decision needs: a crash in here costs the workload these figures and not its nodes.
  void AddFigures(const cluster::Problem& problem, const traffic::WorkerGraph& graph,
                  const PlanEntry& entry, Placed& placed) {
    if (CrashedOnFigures(cluster_, entry.workload, options_.crashes.version)) return;
    Name(entry, Solving::kFigures);
    if (options_.best) placed.best = FindBest(problem, graph, entry, placed);
    AddPrediction(cluster_.fabrics[*entry.fabric], entry.workload, problem, placed);
    Name(entry, Solving::kNodes);
  }

  // A prediction never refuses a workload: without an accelerator that Weft knows there is none.
  void AddPrediction(const cluster::ClusterFabric& on, const cluster::WorkloadView& workload,
                     const cluster::Problem& problem, Placed& placed) const {
    auto one = predict::Predict(on, workload, problem.traffic, placed.plan.nodes, &learned_);
    if (!one) return;
    placed.predicted = *std::move(one);
    if (options_.prices == nullptr) return;
    placed.predicted->currency = options_.prices->currency;
    placed.predicted->cost_per_hour = predict::CostPerHour(*on.fabric, *workload.accelerator,
                                                           placed.plan.nodes, *options_.prices);
  }

  objective::Options OptionsOn(std::size_t fabric) {
    objective::Options options = options_.place;
    options.rooms = &rooms_[fabric];
    return options;
  }

  // Places on the free capacity, without the nodes that are reserved for another workload.
  placement::Placement PlaceOn(const PlanEntry& entry, const cluster::Problem& problem,
                               const traffic::WorkerGraph& graph) {
    const fabric::Claims& claims = claims_[*entry.fabric];
    const auto& kept = reservations_[*entry.fabric];
    const objective::Options options = OptionsOn(*entry.fabric);
    if (!kept || kept->LeavesRoomFor(entry.workload)) {
      return PlaceCarefully(claims, problem, graph, options);
    }
    WEFT_CHECK(kept->workload != nullptr && kept->workload != &entry.workload);
    fabric::Claims less = claims;
    cluster::AddClaims(*kept->workload, kept->nodes, less);
    return PlaceCarefully(less, problem, graph, options);
  }

  // Leaves out the avoided nodes, unless that would miss more preferred levels.
  static placement::Placement PlaceCarefully(const fabric::Claims& claims,
                                             const cluster::Problem& problem,
                                             const traffic::WorkerGraph& graph,
                                             const objective::Options& options) {
    placement::Placement any = placement::Place(claims, problem.request, graph, options);
    const auto* on_any = std::get_if<placement::Plan>(&any);
    if (problem.avoided.empty() || on_any == nullptr) return any;
    objective::Request careful = problem.request;
    careful.excluded.clear();
    std::set_union(problem.request.excluded.begin(), problem.request.excluded.end(),
                   problem.avoided.begin(), problem.avoided.end(),
                   std::back_inserter(careful.excluded));
    WEFT_DCHECK(std::is_sorted(careful.excluded.begin(), careful.excluded.end()));
    auto others = placement::Solve(claims, careful, graph, options);
    if (others && others->preferences <= on_any->preferences) return *std::move(others);
    return any;
  }

  // Whether the workload would fit without the reservation; if so, the refusal says that.
  bool HeldBack(const cluster::Problem& problem, const traffic::WorkerGraph& graph,
                const PlanEntry& entry, Refused& refused) const {
    const auto& kept = reservations_[*entry.fabric];
    if (!kept || kept->LeavesRoomFor(entry.workload)) return false;
    if (!placement::Solve(claims_[*entry.fabric], problem.request, graph, options_.place)) {
      return false;
    }
    refused.reason = "HeldBack";
    refused.message = "It fits now, but the nodes are reserved for " +
                      api::Show(kept->workload->key()) + ", which has waited for " +
                      DurationText(kept->workload->wait.waited_seconds.value_or(0)) + ". ";
    if (kept->within_seconds) {
      refused.message += "A job whose expectedDurationSeconds is at most " +
                         std::to_string(*kept->within_seconds) + " would start now.";
    } else {
      refused.held_seconds = TurnLeft(ReservedFor(*kept->workload));
      refused.message +=
          "Their release time is unknown, so no expectedDurationSeconds helps; the reservation "
          "lasts another " +
          DurationText(*refused.held_seconds) + " at most.";
    }
    return true;
  }

  // The seconds since nodes may be reserved for it; negative before.
  std::int64_t ReservedFor(const cluster::WorkloadView& workload) const {
    return workload.wait.waited_seconds.value_or(0) - *options_.reserve_after_seconds;
  }

  void ReserveNodes(const cluster::Problem& problem, const traffic::WorkerGraph& graph,
                    const PlanEntry& entry, Refused& refused) {
    auto& kept = reservations_[*entry.fabric];
    if (kept || !options_.reserve_after_seconds || !refused.why->ever) return;
    if (WaitsForVolumes(entry.workload)) return;  // no end of a job gives it nodes
    const std::int64_t since = ReservedFor(entry.workload);
    if (since < 0) return;
    const std::vector<Ending> endings = Endings(*entry.fabric);
    if (!refused.fit_time.within_seconds) {  // also unknown to a refusal that is not explained
      refused.fit_time = WhenItFits(claims_[*entry.fabric], problem.request, graph, endings);
    }
    if (!refused.fit_time.within_seconds && TurnLeft(since) == 0) return;
    kept =
        Reserve(claims_[*entry.fabric], entry.workload, problem, graph, refused.fit_time, endings);
    if (kept)
      refused.message += " Nodes are reserved for it: jobs behind it in the queue cannot use them.";
  }

  std::optional<BestCost> FindBest(const cluster::Problem& problem,
                                   const traffic::WorkerGraph& graph, const PlanEntry& entry,
                                   const Placed& placed) {
    const std::optional<BestCost> best = BestOnEmpty(problem, graph, entry);
    if (!best) return std::nullopt;
    // The placement of this plan is possible on the empty fabric too, so it may be the best known.
    if (best->cost < placed.plan.cost) return best;
    return BestCost{placed.plan.cost, placed.scores.cross_node_bytes};
  }

  std::optional<BestCost> BestOnEmpty(const cluster::Problem& problem,
                                      const traffic::WorkerGraph& graph, const PlanEntry& entry) {
    const cluster::ClusterFabric& on = cluster_.fabrics[*entry.fabric];
    BestCosts* const known = options_.best_costs;
    if (known != nullptr) {
      if (const auto* best = known->Find(on, entry.workload, problem)) return *best;
    }
    objective::Options alone = OptionsOn(*entry.fabric);
    alone.ignore_claims = true;
    std::optional<BestCost> best;
    if (const auto plan = placement::Solve(claims_[*entry.fabric], problem.request, graph, alone)) {
      const objective::PairCost pair_cost(*on.fabric, problem.request.pod.claims_compute_domain);
      const auto scores = objective::Score(pair_cost, problem.traffic, plan->nodes);
      best = {plan->cost, scores.cross_node_bytes};
    }
    if (known != nullptr) known->Add(on, entry.workload, problem, best);
    return best;
  }

  void Explain(const cluster::Problem& problem, const traffic::WorkerGraph& graph,
               const PlanEntry& entry, Refused& refused) {
    const cluster::WorkloadView& workload = entry.workload;
    const cluster::ClusterFabric& on = cluster_.fabrics[*entry.fabric];
    const fabric::Claims& claims = claims_[*entry.fabric];
    const bool full = explain_left_ > 0;
    if (full) {
      --explain_left_;
      refused.relaxations =
          placement::FindRelaxations(claims, problem.request, graph, options_.place);
      if (refused.why->ever) {
        refused.fit_time = WhenItFits(claims, problem.request, graph, Endings(*entry.fabric));
      }
    }
    refused.reason = placement::ReasonName(refused.why->reason);
    refused.message = RefusalText(on, workload, *refused.why, refused.relaxations);
    if (full || !refused.why->ever) {
      const bool lacks =
          !WaitsForVolumes(workload) && LacksDevices(problem, graph, *on.fabric, refused);
      refused.message += " " + (lacks ? WithheldText(*on.fabric, problem.request.pod.requests)
                                      : StartText(entry, refused));
    }
    const auto& wait = workload.topology->wait_for_preferred_seconds;
    if (!wait || !workload.wait.waited_seconds || *workload.wait.waited_seconds >= *wait) return;
    if (workload.topology->preferred.empty()) return;
    refused.reason = "WaitingForPreferred";
    refused.ends_in_seconds = *wait - *workload.wait.waited_seconds;
    refused.message = "Waits another " + DurationText(*refused.ends_in_seconds) +
                      " for room in one " + workload.topology->preferred +
                      " (topology.preferred). " + refused.message;
  }

  static bool WaitsForVolumes(const cluster::WorkloadView& workload) {
    return !workload.pod.volumes->blocked.empty();
  }

  // Whether the workload waits for devices that nodes do not offer now, not for other jobs.
  static bool LacksDevices(const cluster::Problem& problem, const traffic::WorkerGraph& graph,
                           const fabric::Fabric& on, const Refused& refused) {
    if (!refused.why->ever || refused.fit_time.within_seconds ||
        WithheldText(on, problem.request.pod.requests).empty()) {
      return false;
    }
    return !placement::Fits(fabric::Claims(on), problem.request, graph);
  }

  // Whether all accelerators of the fabric are still free, after what this plan has placed.
  bool AllAreFree(std::size_t fabric) const {
    const fabric::Claims& claims = claims_[fabric];
    for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(claims.fabric().node_count())) {
      if (!claims.wholly_free(n)) return false;
    }
    return true;
  }

  // When the refused workload would start.
  std::string StartText(const PlanEntry& entry, const Refused& refused) const {
    const cluster::WorkloadView& workload = entry.workload;
    if (refused.why->ever && WaitsForVolumes(workload)) return "It waits until that changes.";
    if (refused.why->ever && AllAreFree(*entry.fabric)) {
      return "All accelerators are free: whether its rules can be kept is not known.";
    }
    if (refused.why->ever) return FitTimeText(refused.fit_time, true);
    if (AdmissionMayTolerate(workload, *refused.why)) {
      return "Without the toleration it never fits this fabric.";
    }
    if (!NeverFits(refused)) return "It cannot fit before more nodes are usable.";
    if (!refused.relaxations.empty()) {
      return "Unchanged, it never fits this fabric, not even with nothing else running.";
    }
    return FitTimeText(refused.fit_time, false);
  }

  std::vector<Ending> Endings(std::size_t fabric) const {
    std::vector<Ending> endings;
    for (const cluster::Holder& holder : cluster_.fabrics[fabric].holders) {
      if (!holder.expected_seconds) continue;
      endings.push_back(
          {.seconds = *holder.expected_seconds, .name = api::Show(holder.key), .holder = &holder});
    }
    for (const PlanEntry& entry : entries_) {
      const Placed* placed = entry.placed();
      if (entry.fabric != fabric || placed == nullptr || placed->plan.nodes.empty()) continue;
      if (!entry.workload.expected_seconds) continue;
      endings.push_back({.seconds = *entry.workload.expected_seconds,
                         .name = api::Show(entry.workload.key()),
                         .workload = &entry.workload,
                         .nodes = &placed->plan.nodes});
    }
    return endings;
  }

  static void AddNotes(const cluster::Problem& problem, const cluster::ClusterFabric& on,
                       PlanEntry& entry) {
    const auto& pod = problem.request.pod;
    const auto& topology = *entry.workload.topology;
    if (on.fabric->ScaleUpNeedsClaim() && !pod.claims_compute_domain && !topology.compute_domain &&
        entry.workload.workers > 1) {
      const std::string& name = on.fabric->spec().scale_up->name;
      entry.notes.push_back(
          {cluster::Severity::kWarning, "NoComputeDomain",
           "the template claims no ComputeDomain, so traffic between nodes does not use " + name +
               " and is counted at the next wider level"});
    }
    const Placed* placed = entry.placed();
    if (placed == nullptr || placed->plan.preferences[objective::kLevelsWider] == 0) return;
    if (topology.wait_for_preferred_seconds && !entry.workload.wait.waited_seconds) {
      entry.notes.push_back({cluster::Severity::kInfo, "WaitsForPreferred",
                             "wider than topology.preferred: the operator would first wait " +
                                 DurationText(*topology.wait_for_preferred_seconds) +
                                 " for room in one " + topology.preferred});
    }
  }

  PlanReport Report() {
    PlanReport report;
    std::vector<std::size_t> by_input(entries_.size());
    for (std::size_t i = 0; i < by_input.size(); ++i) by_input[i] = i;
    std::sort(by_input.begin(), by_input.end(), [&](std::size_t a, std::size_t b) {
      return entries_[a].workload.position < entries_[b].workload.position;
    });
    report.decided.resize(entries_.size());
    for (std::size_t i = 0; i < by_input.size(); ++i) {
      report.decided[by_input[i]] = i;
      report.entries.push_back(std::move(entries_[by_input[i]]));
      Refused* refused = std::get_if<Refused>(&report.entries.back().outcome);
      if (refused != nullptr) refused->ever = !NeverFits(*refused);
    }
    WEFT_CHECK(report.entries.size() == report.decided.size());
    report.notes = cluster_.notes;
    for (cluster::Note& note : learned_.Notes()) report.notes.push_back(std::move(note));
    return report;
  }

  const cluster::Cluster& cluster_;
  const PlanOptions& options_;
  const predict::LearnedScalars learned_;
  std::uint32_t explain_left_;
  std::vector<fabric::Claims> claims_;                    // by fabric
  std::deque<objective::RoomTables> rooms_;               // by fabric, of its claims
  std::vector<std::optional<Reservation>> reservations_;  // by fabric
  std::vector<std::size_t> nominated_;                    // by fabric: how many of its are booked
  PlanCrashes crashes_;
  std::vector<PlanEntry> entries_;                  // in the order of decisions
  std::map<std::string, Refused> refused_bundles_;  // why none of a bundle gets nodes
};

}  // namespace

Result<PlanReport> Plan(const cluster::Cluster& cluster, const PlanOptions& options) {
  Result<PlanReport> report = PlanBuilder(cluster, options).Run();
  if (options.deciding) options.deciding(nullptr, Solving::kNodes);
  return report;
}

}  // namespace weft::plan
