#include "operator/cluster/holders.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "operator/api/kueue.h"
#include "operator/base/seeded_bug.h"
#include "operator/cluster/gangs.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/workload.h"

namespace weft::cluster {
namespace {

using api::ObjectKey;
using fabric::Elsewhere;

// Jobs of one name may be of different API groups, as Volcano's and Kubernetes' are.
struct OwnerKey {
  std::string kind;
  ObjectKey key;
  std::string group;

  friend auto operator<=>(const OwnerKey&, const OwnerKey&) = default;
};

// The only node that the pod may use by name, or "".
std::string PinnedNode(const api::Pod& pod) {
  const auto& terms = pod.pod.required_affinity;
  if (!terms || terms->size() != 1) return "";
  for (const fabric::SelectorExpression& field : terms->front().match_fields) {
    const bool name = field.key == "metadata.name" && field.op == "In";
    if (name && field.values.size() == 1) return field.values.front();
  }
  return "";
}

struct Site {
  std::size_t fabric = 0;
  fabric::NodeIndex node{0};
};

// The nodes of all Fabrics and the others, by name.
class Sites {
 public:
  struct Known {
    Elsewhere::NodeAt at;
    fabric::NodeIndex node{0};  // in its Fabric, if it has one
  };

  explicit Sites(const Cluster& cluster) {
    for (std::size_t f = 0; f < cluster.fabrics.size(); ++f) {
      const fabric::Fabric& on = *cluster.fabrics[f].fabric;
      for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(on.node_count())) {
        const auto home = static_cast<Elsewhere::Home>(f);
        by_name_.try_emplace(on.node(n).name, Known{{&on.node(n), home}, n});
      }
    }
    for (const api::Node& node : cluster.inputs->nodes) {
      by_name_.try_emplace(node.facts.name, Known{{&node.facts, Elsewhere::kNoFabric}});
    }
  }

  // Null if there is no such node.
  const Known* Find(const std::string& node) const {
    const auto found = by_name_.find(node);
    return found == by_name_.end() ? nullptr : &found->second;
  }
  template <typename Visit>
  void Each(Visit visit) const {
    for (const auto& [name, known] : by_name_) visit(known.at);
  }

 private:
  std::unordered_map<std::string_view, Known> by_name_;
};

class Booking {
 public:
  explicit Booking(Cluster& cluster)
      : cluster_(cluster),
        inputs_(*cluster.inputs),
        pods_(inputs_),
        sites_(cluster),
        holders_(cluster.fabrics.size()) {
    sites_.Each([&](const Elsewhere::NodeAt& node) {
      if (IsSeenFromElsewhere(node)) elsewhere_->AddNode(node);
    });
  }

  void Run() {
    for (const api::Placement& placement : inputs_.placements) {
      if (placement.nodes.empty()) continue;
      NamePods(placement);
      const Attempt attempt = pods_.AttemptOf(placement);
      const api::OwnerReference* job = api::ControllingJob(placement.meta);
      if (job == nullptr || !attempt.number) continue;
      placed_.emplace(placement.meta.key.space, job->uid, std::to_string(*attempt.number));
    }
    for (std::size_t p = 0; p < inputs_.pods.size(); ++p) BookPod(p);
    for (const api::Placement& placement : inputs_.placements) {
      if (!placement.nodes.empty()) BookAssumed(placement);
    }
    Finish();
  }

 private:
  static OwnerKey OwnerOfPlacement(const api::Placement& placement, const Attempt& attempt) {
    if (attempt.job_name.empty()) return {"Placement", placement.meta.key, api::kGroup};
    return {"TrainingJob", {placement.meta.key.space, attempt.job_name}, api::kGroup};
  }

  // Pods that match a Placement's podSelector belong to it, whoever owns them.
  void NamePods(const api::Placement& placement) {
    if (!placement.pod_selector) return;
    for (const std::size_t p : pods_.PodsOf(placement)) {
      owner_of_pod_.emplace(p, OwnerOfPlacement(placement, {}));
    }
  }

  // Whether there is a Fabric that lacks the node.
  bool IsSeenFromElsewhere(const Elsewhere::NodeAt& node) const {
    return node.home == Elsewhere::kNoFabric || cluster_.fabrics.size() > 1;
  }

  // The node's place in its Fabric, if it has one. The pod there is seen from the other Fabrics.
  std::optional<Site> Enter(const std::string& node, const fabric::Neighbour& pod) {
    const Sites::Known* known = sites_.Find(node);
    if (known == nullptr) return std::nullopt;
    if (pod.space != nullptr && IsSeenFromElsewhere(known->at)) elsewhere_->AddPod(known->at, pod);
    if (known->at.home == Elsewhere::kNoFabric) return std::nullopt;
    return Site{known->at.home, known->node};
  }

  OwnerKey OwnerOfPod(std::size_t p) const {
    const auto named = owner_of_pod_.find(p);
    if (named != owner_of_pod_.end()) return named->second;
    PodOwner owner = OwnerOf(inputs_.pods[p]);
    return {owner.kind.empty() ? "Pod" : std::move(owner.kind), std::move(owner.key),
            std::move(owner.group)};
  }

  void NameQueue(const OwnerKey& owner, const api::ObjectMeta& named) {
    if (const auto queue = api::QueueOf(named); !queue.empty()) queues_.try_emplace(owner, queue);
  }

  void Book(const OwnerKey& owner, Site site, Holding holding, bool domain) {
    holding.node = site.node;
    if (domain) holding.compute_domain = api::Show(owner.key);
    cluster_.fabrics[site.fabric].claims.Add(site.node, *holding.amounts, holding.compute_domain,
                                             holding.neighbour);
    holders_[site.fabric][owner].push_back(std::move(holding));
  }

  void BookPod(std::size_t p) {
    const api::Pod& pod = inputs_.pods[p];
    if (!pod.Holds() && !IsLeftBehind(pod)) return Nominate(p);
    const fabric::Neighbour neighbour = NeighbourOf(pod);
    const std::optional<Site> site =
        Enter(pod.Holds() ? pod.node_name : PinnedNode(pod), neighbour);
    if (!site) return;
    Holding holding;
    holding.amounts = pod.unreadable.empty() ? &pod.pod.requests : &AllOf(*site);
    holding.pod = &pod;
    holding.neighbour = neighbour;
    const OwnerKey owner = OwnerOfPod(p);
    NameQueue(owner, pod.meta);
    Book(owner, *site, std::move(holding), pod.pod.claims_compute_domain);
  }

  // A worker of a Placement has its node there.
  void Nominate(std::size_t p) {
    const api::Pod& pod = inputs_.pods[p];
    if (pod.nominated_node.empty() || pod.HasEnded() || pod.meta.deleting) return;
    if (!pod.node_name.empty() || api::ControllingJob(pod.meta) != nullptr) return;
    const Sites::Known* known = sites_.Find(pod.nominated_node);
    if (known == nullptr || known->at.home == Elsewhere::kNoFabric) return;
    if (owner_of_pod_.contains(p)) return;
    Holding holding;
    holding.node = known->node;
    holding.amounts = &pod.pod.requests;
    holding.pod = &pod;
    holding.neighbour = NeighbourOf(pod);
    holding.neighbour.nominated = true;
    if (pod.pod.claims_compute_domain) holding.compute_domain = api::Show(OwnerOfPod(p).key);
    cluster_.fabrics[known->at.home].nominated.push_back({pod.priority, std::move(holding)});
  }

  // Whether the pod of a job has no node yet and no Placement any more, as somebody has deleted it.
  // kube-scheduler may bind it at any moment. Only who may make Weft's pods can give a pod this
  // label, so nobody else holds nodes with pods that never run.
  bool IsLeftBehind(const api::Pod& pod) const {
    if (!pod.node_name.empty() || pod.HasEnded() || pod.meta.deleting) return false;
    const api::OwnerReference* job = api::ControllingJob(pod.meta);
    if (job == nullptr || pod.meta.labels.At(kJobUidLabel) != job->uid) return false;
    const auto attempt = pod.meta.labels.At(kAttemptLabel);
    if (!attempt) return false;
    return !placed_.contains({pod.meta.key.space, job->uid, std::string(*attempt)});
  }

  // The resources of an unreadable pod: all of its node, so that it never makes room for others.
  const fabric::Resources& AllOf(Site site) {
    const fabric::Fabric& on = *cluster_.fabrics[site.fabric].fabric;
    fabric::Resources& all = cluster_.amounts.emplace_back();
    for (fabric::ResourceIndex r{0}; r < on.resources().EndIndex(); ++r) {
      all[on.resources()[r]] = on.allocatable(site.node, r);
    }
    return all;
  }

  // Whether workers without a pod count: not for an older attempt, a finished job, or a Placement
  // that is being deleted. For a job that is to be suspended they count until its status says that
  // it has no nodes, because its pods may still be created.
  bool IsAssumed(const api::Placement& placement) const {
    if (placement.meta.deleting || Seeded(Bug::kUnmadePodsFree)) return false;
    const Attempt attempt = pods_.AttemptOf(placement);
    if (attempt.job == nullptr) return true;
    const api::TrainingJob& job = *attempt.job;
    if (IsFinished(job) || (job.suspend && !HasCondition(job.conditions, "Placed"))) return false;
    return attempt.number.value_or(job.attempt) >= job.attempt;
  }

  void BookAssumed(const api::Placement& placement) {
    const Attempt attempt = pods_.AttemptOf(placement);
    enum Worker : std::uint8_t { kWithoutPod, kUnbound, kBound };
    ByWorker<Worker> worker_is(placement.nodes.size(), kWithoutPod);
    const bool assumed = IsAssumed(placement);
    std::map<std::string, std::uint32_t> unnamed;  // pods without an index, by node
    const std::vector<std::size_t> members = pods_.PodsOf(placement);
    for (const std::size_t p : members) {
      const api::Pod& pod = inputs_.pods[p];
      if (const auto worker = pods_.WorkerOf(placement, pod)) {
        const bool ended = pod.HasEnded();
        if (*worker >= worker_is.EndIndex()) continue;
        if (!pod.node_name.empty()) {
          worker_is[*worker] = kBound;
        } else if (!ended && worker_is[*worker] == kWithoutPod) {
          worker_is[*worker] = kUnbound;  // kube-scheduler may bind it at any moment
        }
      } else if (!pod.node_name.empty()) {
        ++unnamed[pod.node_name];
      }
    }
    const fabric::Resources& amounts = AmountsOf(placement, attempt, members);
    const bool domain = attempt.job != nullptr && attempt.job->pod.claims_compute_domain;
    const fabric::Neighbour neighbour = WorkerOf(attempt, members);
    const OwnerKey owner = OwnerOfPlacement(placement, attempt);
    NameQueue(owner, placement.meta);
    for (const WorkerIndex w : worker_is.Indices()) {
      const std::string& node = placement.nodes[w.Raw()];
      if (worker_is[w] == kBound || (worker_is[w] == kWithoutPod && !assumed)) continue;
      if (const auto found = unnamed.find(node); found != unnamed.end() && found->second > 0) {
        --found->second;
        continue;
      }
      const std::optional<Site> site = Enter(node, neighbour);
      if (!site) continue;
      Holding holding;
      holding.amounts = &amounts;
      holding.assumed = Holding::Assumed{placement.meta.key.name, attempt.number, w};
      holding.neighbour = neighbour;
      Book(owner, *site, std::move(holding), domain);
    }
  }

  fabric::Neighbour WorkerOf(const Attempt& attempt,
                             const std::vector<std::size_t>& members) const {
    if (attempt.job != nullptr) return NeighbourOf(attempt.job->meta, attempt.job->pod);
    if (members.empty()) return {};
    fabric::Neighbour worker = NeighbourOf(inputs_.pods[members.front()]);
    worker.ending = false;  // as the worker's own pod
    return worker;
  }

  const fabric::Resources& AmountsOf(const api::Placement& placement, const Attempt& attempt,
                                     const std::vector<std::size_t>& members) {
    if (attempt.job != nullptr && attempt.job->unreadable.empty()) {
      return attempt.job->pod.requests;
    }
    if (!members.empty()) return inputs_.pods[members.front()].pod.requests;
    fabric::Resources requests = api::DecodePodRequests(placement.meta);
    if (!requests.empty()) return cluster_.amounts.emplace_back(std::move(requests));
    cluster_.amounts.push_back(
        {{placement.accelerator.resource_name, placement.accelerator.per_worker}});
    return cluster_.amounts.back();
  }

  void Finish() {
    for (std::size_t f = 0; f < cluster_.fabrics.size(); ++f) {
      const auto home = static_cast<Elsewhere::Home>(f);
      cluster_.fabrics[f].claims.See(Elsewhere::View(elsewhere_, home));
      std::stable_sort(cluster_.fabrics[f].nominated.begin(), cluster_.fabrics[f].nominated.end(),
                       [](const auto& a, const auto& b) { return a.priority > b.priority; });
    }
    std::map<ObjectKey, const api::TrainingJob*> jobs;
    for (const api::TrainingJob& job : inputs_.jobs) jobs[job.meta.key] = &job;
    for (std::size_t f = 0; f < holders_.size(); ++f) {
      for (auto& [owner, holdings] : holders_[f]) {
        Holder holder{owner.key, owner.kind, owner.group, std::move(holdings), std::nullopt, ""};
        if (const auto job = jobs.find(owner.key);
            owner.kind == "TrainingJob" && job != jobs.end()) {
          holder.expected_seconds = job->second->expected_duration_seconds;
          holder.queue = api::QueueOf(job->second->meta);
        }
        if (holder.queue.empty()) holder.queue = queues_[owner];
        std::stable_sort(holder.holdings.begin(), holder.holdings.end(),
                         [](const Holding& a, const Holding& b) { return a.node < b.node; });
        cluster_.fabrics[f].holders.push_back(std::move(holder));
      }
    }
  }

  Cluster& cluster_;
  const api::Inputs& inputs_;
  PlacementPods pods_;
  const Sites sites_;
  std::shared_ptr<Elsewhere> elsewhere_ = std::make_shared<Elsewhere>();
  std::map<std::size_t, OwnerKey> owner_of_pod_;
  // Attempts that have a Placement with nodes: namespace, job and number.
  std::set<std::tuple<std::string, std::string, std::string>> placed_;
  std::vector<std::map<OwnerKey, std::vector<Holding>>> holders_;  // by fabric
  std::map<OwnerKey, std::string> queues_;                         // that pods or Placements name
};

}  // namespace

void BookHolders(Cluster& cluster) { Booking(cluster).Run(); }

}  // namespace weft::cluster
