#include "operator/cluster/workload.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "operator/api/kueue.h"
#include "operator/cluster/pins.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/volumes.h"
#include "operator/cluster/worker_order.h"

namespace weft::cluster {
namespace {

// Priorities of jobs, and by the name of the PriorityClass.
class Priorities {
 public:
  explicit Priorities(const api::Inputs& inputs)
      : values_{{"system-cluster-critical", 2'000'000'000},  // every API server has these two
                {"system-node-critical", 2'000'001'000}} {
    for (const api::PriorityClass& one : inputs.priority_classes) {
      values_[one.meta.key.name] = one.value;
      if (one.global_default) default_ = std::max(default_.value_or(one.value), one.value);
    }
    for (const api::Workload& workload : inputs.workloads) {
      const api::OwnerReference* job = api::ControllingJob(workload.meta);
      if (job != nullptr && !workload.meta.deleting) of_jobs_[job->uid] = workload.priority;
    }
  }

  // In a queue of Kueue a job has the priority of its Workload, by which Kueue preempts others.
  std::int64_t Of(const api::TrainingJob& job) const {
    const auto queued = of_jobs_.find(job.meta.uid);
    return queued != of_jobs_.end() ? queued->second : Of(job.priority_class_name);
  }

  std::int64_t Of(const std::string& name) const {
    const auto found = values_.find(name);
    if (found != values_.end()) return found->second;
    return name.empty() ? default_.value_or(0) : 0;
  }

 private:
  std::map<std::string, std::int64_t> values_;
  std::map<std::string, std::int64_t> of_jobs_;  // that have a Workload, by uid
  std::optional<std::int64_t> default_;
};

class Pending {
 public:
  enum class Which { kPending, kAll };

  Pending(const Cluster& cluster, Which which)
      : inputs_(*cluster.inputs),
        all_(which == Which::kAll),
        pods_(inputs_),
        priorities_(inputs_),
        volumes_(cluster) {}

  Result<std::vector<WorkloadView>> Collect(Mark mark) {
    std::vector<WorkloadView> all;
    for (std::size_t position = 0; position < inputs_.order.size(); ++position) {
      const auto& entry = inputs_.order[position];
      std::optional<WorkloadView> workload =
          entry.is_job ? OfJob(entry.index) : OfPlacement(entry.index);
      if (!workload) continue;
      workload->position = position;
      all.push_back(*std::move(workload));
    }
    if (all_) return all;
    if (Status names = CheckNames(mark, all); !names) return names.error();
    return all;
  }

 private:
  bool HasNodes(const api::TrainingJob& job) const {
    if (pods_.CurrentPlacement(job) != nullptr) return true;
    if (job.attempt == 0 || !HasCondition(job.conditions, "Placed")) return false;
    const std::vector<std::size_t> pods = pods_.PodsOfJob(job.meta.key, job.meta.uid);
    return std::any_of(pods.begin(), pods.end(),
                       [&](std::size_t p) { return inputs_.pods[p].Holds(); });
  }

  bool IsPending(const api::TrainingJob& job) const {
    return !job.suspend && !job.meta.deleting && !IsFinished(job) && !HasNodes(job);
  }

  std::optional<WorkloadView> OfJob(std::size_t index) {
    const api::TrainingJob& job = inputs_.jobs[index];
    if (!job.unreadable.empty()) return std::nullopt;
    if (all_ ? IsFinished(job) : !IsPending(job)) return std::nullopt;
    WorkloadView workload = WorkloadOf(job);
    TakeVolumes({job.pod.terms.get()}, workload);
    workload.index = index;
    workload.attempt = job.attempt;
    workload.priority = priorities_.Of(job);
    workload.pod_priority = priorities_.Of(job.priority_class_name);
    workload.expected_seconds = job.expected_duration_seconds;
    return workload;
  }

  // A Placement that is an attempt of a job in the inputs is not a workload: its job is.
  std::optional<WorkloadView> OfPlacement(std::size_t index) {
    const api::Placement& placement = inputs_.placements[index];
    if (all_ ? !placement.unreadable.empty() : !LacksNodes(placement)) return std::nullopt;
    if (pods_.AttemptOf(placement).job != nullptr) return std::nullopt;
    WorkloadView workload;
    workload.is_job = false;
    workload.index = index;
    workload.meta = &placement.meta;
    workload.place = &placement.place;
    workload.workers = placement.workers;
    workload.fabric_name = &placement.fabric_name;
    workload.accelerator = &placement.accelerator;
    workload.model = &placement.model;
    workload.parallelism = &placement.parallelism;
    workload.wait = placement.wait;
    workload.topology = &placement.topology;
    workload.priority = workload.pod_priority = priorities_.Of("");
    TakePods(placement, workload);
    if (placement.proposal) TakeProposal(*placement.proposal, workload);
    return workload;
  }

  // Its coming pods count as long as not all of them are there.
  void TakeProposal(const api::Proposal& proposal, WorkloadView& workload) {
    workload.priority = proposal.priority;
    workload.bundle = proposal.bundle;
    if (workload.gated_pods >= workload.workers) return;
    workload.pod = proposal.pod;
    workload.pod_priority = priorities_.Of(proposal.priority_class_name);
    workload.neighbour = NeighbourOf(*workload.meta, proposal.pod);
    TakeVolumes({proposal.pod.terms.get()}, workload);
  }

  void TakeVolumes(const std::vector<const fabric::PodTerms*>& pods, WorkloadView& workload) {
    volumes_.Resolve(workload.meta->key.space, pods, workload.pod);
  }

  // The requirements of the waiting pods, and of a gang that runs those of its pods.
  void TakePods(const api::Placement& placement, WorkloadView& workload) {
    workload.pod.requests = {
        {placement.accelerator.resource_name, placement.accelerator.per_worker}};
    workload.pod.claims_accelerators = !placement.accelerator.device_class.empty();
    if (!placement.pod_selector) return;
    std::vector<const api::Pod*> all, gated, bound;
    for (const std::size_t p : pods_.PodsOf(placement)) {
      const api::Pod& pod = inputs_.pods[p];
      all.push_back(&pod);
      if (pod.Holds()) bound.push_back(&pod);
      if (!pod.node_name.empty() || pod.meta.deleting || !HasGate(pod)) continue;
      if (IsGated(pod)) {
        gated.push_back(&pod);
        continue;
      }
      ++workload.held_pods;
      workload.other_gates.insert(pod.scheduling_gates.begin(), pod.scheduling_gates.end());
    }
    workload.other_gates.erase(api::kGate);
    workload.gated_pods = static_cast<std::uint32_t>(gated.size());
    workload.bound_pods = static_cast<std::uint32_t>(bound.size());
    // A Placement without nodes has no running worker.
    const auto done = DoneWorkers(placement, placement.workers, all, gated, 0);
    workload.done_workers = static_cast<std::uint32_t>(
        done.size() - static_cast<std::size_t>(std::count(done.begin(), done.end(), nullptr)));
    if (gated.empty() && !placement.nodes.empty() && !bound.empty()) {
      TakeRequirements(bound, workload);
      workload.pod = WithoutPins(std::move(workload.pod));
      return;
    }
    if (gated.empty()) {
      for (auto& [name, amount] : api::DecodePodRequests(placement.meta)) {
        workload.pod.requests[name] = amount;
      }
      return;
    }
    TakeRequirements(gated, workload);
    std::sort(gated.begin(), gated.end(), ByName);
    if (gated.size() + workload.done_workers < placement.workers) return;
    const auto assigned = AssignWorkers(placement, std::move(gated), done);
    if (!assigned) workload.no_gang = assigned.error().message;
  }

  static bool ByName(const api::Pod* a, const api::Pod* b) { return a->meta.key < b->meta.key; }

  // The requirements of the first pod by name, with the largest request of each resource.
  void TakeRequirements(const std::vector<const api::Pod*>& pods, WorkloadView& workload) {
    const api::Pod& first = **std::min_element(pods.begin(), pods.end(), ByName);
    workload.pod = first.pod;
    workload.pod.labels = first.meta.labels;
    workload.neighbour = NeighbourOf(first);
    workload.neighbour.ending = false;  // its pods are yet to run
    workload.priority = priorities_.Of(first.priority_class_name);
    workload.pod_priority = first.priority != 0 ? first.priority : workload.priority;
    std::vector<const fabric::PodTerms*> terms;
    for (const api::Pod* pod : pods) terms.push_back(pod->pod.terms.get());
    TakeVolumes(terms, workload);
    for (const api::Pod* pod : pods) {
      for (const auto& [name, amount] : pod->pod.requests) {
        std::int64_t& most = workload.pod.requests[name];
        most = std::max(most, amount);
      }
    }
  }

  // Two Placements of one name cannot both be written.
  static Status CheckNames(Mark mark, std::vector<WorkloadView>& all) {
    std::map<api::ObjectKey, WorkloadView*> names;
    for (WorkloadView& workload : all) {
      api::ObjectKey key = workload.key();
      key.name = workload.PlacementName();
      const auto [other, fresh] = names.emplace(key, &workload);
      if (fresh) continue;
      const std::string clash = *workload.place + ": metadata.name: Placement " + api::Show(key) +
                                " would also belong to " + *other->second->place;
      if (mark == Mark::kNo) return Invalid(clash);
      (workload.is_job ? workload : *other->second).invalid = clash;
    }
    return {};
  }

  const api::Inputs& inputs_;
  bool all_;
  PlacementPods pods_;
  Priorities priorities_;
  Volumes volumes_;
};

}  // namespace

bool DecidedBefore(const WorkloadView& a, const WorkloadView& b) {
  // An object without a creation time does not exist yet, so it is the youngest.
  const auto age = [](const WorkloadView& w) {
    const std::string& created = w.meta->creation_timestamp;
    return std::pair<bool, const std::string&>(created.empty(), created);
  };
  return std::forward_as_tuple(-a.priority, age(a), a.meta->uid, a.key(), a.kind()) <
         std::forward_as_tuple(-b.priority, age(b), b.meta->uid, b.key(), b.kind());
}

bool LacksNodes(const api::Placement& placement) {
  return placement.nodes.empty() && !placement.meta.deleting && placement.unreadable.empty();
}

fabric::Neighbour NeighbourOf(const api::Pod& pod) {
  return {&pod.meta.key.space, &pod.meta.labels, pod.pod.terms.get(), pod.meta.deleting, false};
}

fabric::Neighbour NeighbourOf(const api::ObjectMeta& owner, const rules::PodRequirements& pod) {
  return {&owner.key.space, &pod.labels, pod.terms.get(), false, false};
}

WorkloadView WorkloadOf(const api::TrainingJob& job) {
  WorkloadView workload;
  workload.meta = &job.meta;
  workload.place = &job.place;
  workload.workers = job.replicas;
  workload.fabric_name = &job.fabric_name;
  workload.accelerator = &job.accelerator;
  workload.model = &job.model;
  workload.parallelism = &job.parallelism;
  workload.wait = job.wait;
  workload.topology = &job.topology;
  workload.pod = job.pod;
  workload.neighbour = NeighbourOf(job.meta, job.pod);
  return workload;
}

std::string WorkloadView::PlacementName() const {
  if (!is_job) return meta->key.name;
  return meta->key.name + "-" + std::to_string(SaturatingAdd(attempt, 1));
}

Result<std::vector<WorkloadView>> PendingWorkloads(const Cluster& cluster, Order order, Mark mark) {
  auto all = Pending(cluster, Pending::Which::kPending).Collect(mark);
  if (all && order == Order::kOperator) std::stable_sort(all->begin(), all->end(), DecidedBefore);
  return all;
}

Result<std::vector<WorkloadView>> AllWorkloads(const Cluster& cluster, Mark mark) {
  return Pending(cluster, Pending::Which::kAll).Collect(mark);
}

void BookNominated(const ClusterFabric& on, std::int64_t pod_priority, std::size_t& booked,
                   fabric::Claims& claims) {
  const std::vector<Nominated>& all = on.nominated;  // the highest priority first
  for (; booked > 0 && all[booked - 1].priority < pod_priority; --booked) {
    const Holding& kept = all[booked - 1].holding;
    claims.Remove(kept.node, *kept.amounts, kept.compute_domain, kept.neighbour);
  }
  for (; booked < all.size() && all[booked].priority >= pod_priority; ++booked) {
    const Holding& kept = all[booked].holding;
    claims.Add(kept.node, *kept.amounts, kept.compute_domain, kept.neighbour);
  }
}

void AddClaims(const WorkloadView& workload, std::span<const fabric::NodeIndex> nodes,
               fabric::Claims& claims) {
  const std::string domain = workload.pod.claims_compute_domain ? api::Show(workload.key()) : "";
  for (const fabric::NodeIndex node : nodes) {
    claims.Add(node, workload.pod.requests, domain, workload.neighbour);
  }
}

void RemoveClaims(const WorkloadView& workload, std::span<const fabric::NodeIndex> nodes,
                  fabric::Claims& claims) {
  const std::string domain = workload.pod.claims_compute_domain ? api::Show(workload.key()) : "";
  for (const fabric::NodeIndex node : nodes) {
    claims.Remove(node, workload.pod.requests, domain, workload.neighbour);
  }
}

}  // namespace weft::cluster
