#include "operator/decide/ungate.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "operator/api/encode.h"
#include "operator/decide/conditions.h"
#include "operator/decide/placement_pods.h"
#include "operator/decide/text.h"

namespace weft::decide {
namespace {

constexpr const char* kPlaced = "Placed";
constexpr const char* kVerified = "Verified";
// Reasons.
constexpr const char* kBinding = "Binding";
constexpr const char* kAsPlaced = "AsPlaced";
constexpr const char* kElsewhere = "Elsewhere";  // bound, but not to the worker's node
constexpr const char* kBindRefused = "BindRefused";
constexpr const char* kUngateRefused = "UngateRefused";
constexpr const char* kWorkerIndexInvalid = "WorkerIndexInvalid";
constexpr const char* kWaitingForPods = "WaitingForPods";
constexpr const char* kPodsGone = "PodsGone";

std::string Names(const std::vector<const api::Pod*>& pods) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, pods.size()); ++i) {
    text += (i == 0 ? "" : ", ") + pods[i]->meta.key.name;
  }
  return pods.size() <= kShown ? text : text + ", ...";
}

bool HasController(const api::Pod& pod) {
  return std::any_of(pod.meta.owners.begin(), pod.meta.owners.end(),
                     [](const api::OwnerReference& owner) { return owner.controller; });
}

std::string Count(std::size_t count, std::string_view noun) {
  return CountText(static_cast<std::int64_t>(count), noun);
}

class Gang {
 public:
  Gang(const GangView& view, const LifeOptions& options)
      : placement_(*view.placement), now_(view.now), options_(options) {
    status_.conditions = placement_.conditions;
    status_.excluded = placement_.excluded;
    taken_.resize(placement_.workers, nullptr);
    for (const api::Pod* pod : view.pods) Sort(*pod);
  }

  UngateStep Next() {
    if (placement_.nodes.empty() || !placement_.pod_selector || placement_.meta.deleting) {
      return Wait{};
    }
    if (Undoing()) return Undo();
    if (ours_.empty() && Verified() == nullptr) return Begin();
    if (ours_.empty() && !InWindow()) return Over();
    if (ours_.empty() && gated_.size() < placement_.workers) return AwaitPods(kVerified);
    if (const auto seconds = UntilGone()) {
      if (InWindow() && Left(kVerified) <= 0) return StartUndo();
      return Wait{InWindow() ? std::min(*seconds, Left(kVerified)) : *seconds};
    }
    if (!gated_.empty()) return HandOver();
    if (!unbound_.empty()) return AwaitBinding();
    return Judge();
  }

 private:
  void Sort(const api::Pod& pod) {
    const auto mark = pod.meta.annotations.find(kPlacementUidAnnotation);
    const bool marked = mark != pod.meta.annotations.end() && mark->second == placement_.meta.uid;
    if (marked && pod.scheduling_gates.empty()) {
      const auto worker = MarkedWorker(pod);
      if (!worker) return;
      if (HasEnded(pod)) {
        ended_.insert(*worker);
        return;
      }
      if (IsGone(pod)) return;
      ours_.push_back(&pod);
      if (!pod.meta.deleting) taken_[*worker] = &pod;
      if (pod.node_name.empty()) unbound_.push_back({&pod, *worker});
      if (!pod.node_name.empty() && pod.node_name != placement_.nodes[*worker]) {
        elsewhere_.push_back(&pod);
      }
    } else if (IsGated(pod) && !pod.meta.deleting) {
      gated_.push_back(&pod);
    }
  }

  // As written when the pod was ungated.
  std::optional<std::uint32_t> MarkedWorker(const api::Pod& pod) const {
    const std::string_view text = pod.meta.annotations.At(kWorkerIndexLabel).value_or("");
    std::uint32_t worker = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), worker);
    const bool whole = error == std::errc() && stop == text.data() + text.size();
    if (!whole || worker >= placement_.nodes.size()) return std::nullopt;
    return worker;
  }

  // A kubelet that lives has removed it within its grace period.
  UnixSeconds GoneAt(const api::Pod& pod) const {
    return ParseTime(pod.meta.deletion_timestamp).value_or(now_) + options_.node_loss_seconds;
  }
  bool IsGone(const api::Pod& pod) const { return pod.meta.deleting && GoneAt(pod) <= now_; }

  // Seconds until the first of the pods that are being deleted counts as gone, if any is.
  std::optional<std::int64_t> UntilGone() const {
    std::optional<std::int64_t> soonest;
    for (const api::Pod* pod : ours_) {
      if (!pod->meta.deleting) continue;
      const std::int64_t left = GoneAt(*pod) - now_;
      soonest = std::min(soonest.value_or(left), left);
    }
    return soonest;
  }

  const api::Condition* Find(std::string_view type) const {
    return FindCondition(placement_.conditions, type);
  }
  const api::Condition* Verified() const { return Find(kVerified); }
  bool InWindow() const { return Verified() != nullptr && Verified()->status == "Unknown"; }
  bool Undoing() const {
    const api::Condition* verified = Verified();
    return verified != nullptr && verified->status == "False" &&
           (verified->reason == kBindRefused || verified->reason == kUngateRefused);
  }

  // Of the time that a gang has, since the condition's transition.
  std::int64_t Left(std::string_view type) const {
    const api::Condition* condition = Find(type);
    const auto since = condition ? ParseTime(condition->last_transition_time) : std::nullopt;
    return since.value_or(now_) + options_.bind_deadline_seconds +
           placement_.workers / options_.creates_per_second - now_;
  }

  void Set(const char* type, const char* value, const char* reason, std::string message) {
    PutCondition(status_.conditions, {type, value, reason, std::move(message), ""}, now_);
  }

  UngateStep Mark(const char* value, const char* reason, std::string message) {
    Set(kVerified, value, reason, std::move(message));
    if (status_.conditions == placement_.conditions) return Wait{};
    return WritePlacement{std::move(status_)};
  }

  UngateStep Open() {
    return Mark("Unknown", kBinding,
                Count(gated_.size() + unbound_.size(), "pod") + " handed to kube-scheduler");
  }

  // Nodes without a living pod are given back. A condition that says why they refused stays.
  UngateStep Release(const char* reason, std::string message) {
    if (!Undoing()) {
      std::erase_if(status_.conditions, [](const auto& c) { return c.type == kVerified; });
    }
    Set(kPlaced, "False", reason, std::move(message));
    status_.keeps_nodes = false;
    return WritePlacement{std::move(status_)};
  }

  // Before the first is ungated all have to be there; the nodes are not kept for ever.
  UngateStep AwaitPods(std::string_view since) {
    if (const std::int64_t left = Left(since); left > 0) return Wait{left};
    return Release(kWaitingForPods, "only " + Count(gated_.size(), "pod") + " of " +
                                        std::to_string(placement_.workers) +
                                        " waited when the nodes were found");
  }

  UngateStep Begin() {
    if (gated_.size() < placement_.workers) return AwaitPods(kPlaced);
    const auto assigned = AssignWorkers(placement_, gated_, taken_);
    if (!assigned) return Release(kWorkerIndexInvalid, assigned.error().message);
    return Open();
  }

  // Every pod that was ungated has ended or is gone. Those that ended tell how; otherwise nothing
  // would ever give the nodes of the others back.
  UngateStep Over() {
    if (gated_.empty() && ended_.size() == placement_.workers) return Wait{};
    return Release(kPodsGone, "the pods that it placed have ended or are gone");
  }

  UngateStep HandOver() {
    auto assigned = AssignWorkers(placement_, gated_, taken_);
    if (!assigned && ours_.empty()) {
      return Release(kWorkerIndexInvalid, assigned.error().message);
    }
    if (!assigned) {
      if (InWindow() && !unbound_.empty()) return AwaitBinding();
      return Mark("False", kWorkerIndexInvalid, assigned.error().message);
    }
    if (!InWindow()) return Open();
    if (Left(kVerified) <= 0) return StartUndo();
    return UngatePods{*std::move(assigned)};
  }

  UngateStep AwaitBinding() {
    if (!InWindow()) return Open();
    const bool preempting = std::any_of(unbound_.begin(), unbound_.end(), [](const WorkerPod& one) {
      return !one.pod->nominated_node.empty();
    });
    if (preempting || Left(kVerified) <= 0) return StartUndo();
    return Wait{Left(kVerified)};
  }

  UngateStep Judge() {
    if (elsewhere_.empty()) {
      return Mark("True", kAsPlaced, "every pod is bound to its worker's node");
    }
    return Mark("False", kElsewhere, "not on their worker's node: " + Names(elsewhere_));
  }

  // The nodes that refused are left out of the next decisions, longer each time.
  UngateStep StartUndo() {
    std::vector<std::string> nodes;
    std::string words;  // the scheduler's, about the first of them
    for (const WorkerPod& one : unbound_) {
      nodes.push_back(placement_.nodes[one.worker]);
      if (words.empty() && !one.pod->unscheduled.empty()) {
        words = nodes.back() + ": " + one.pod->unscheduled;
      }
    }
    const std::size_t dropped = Exclude(nodes, options_.exclusion, now_, status_.excluded);
    if (words.empty()) words = "kube-scheduler gave no reason";
    std::string message =
        nodes.empty()
            ? "not all pods lost their gate in time; still gated: " + Names(gated_)
            : Count(nodes.size(), "worker") + " not bound; " + words + DroppedText(dropped);
    std::vector<const api::Pod*> plain;
    for (const api::Pod* pod : ours_) {
      if (!HasController(*pod)) plain.push_back(pod);
    }
    if (!plain.empty()) {
      message += "; " + Count(plain.size(), "pod") +
                 " without a controller must be deleted by hand: " + Names(plain);
    }
    return Mark("False", nodes.empty() ? kUngateRefused : kBindRefused, std::move(message));
  }

  UngateStep Undo() {
    std::vector<const api::Pod*> evicted;
    for (const api::Pod* pod : ours_) {
      if (HasController(*pod) && !pod->meta.deleting) evicted.push_back(pod);
    }
    if (!evicted.empty()) return EvictPods{std::move(evicted)};
    if (ours_.empty()) {
      const std::string message = Verified()->message;
      return Release(Verified()->reason == kBindRefused ? kBindRefused : kUngateRefused, message);
    }
    if (const auto seconds = UntilGone()) return Wait{seconds};
    // Pods that nobody could take away, and that were bound after all.
    if (unbound_.empty() && ours_.size() == placement_.workers) return Judge();
    return Wait{};
  }

  const api::Placement& placement_;
  const UnixSeconds now_;
  const LifeOptions& options_;
  PlacementStatus status_;
  std::vector<const api::Pod*> gated_;      // wait for this
  std::vector<const api::Pod*> ours_;       // ungated for this Placement, and alive
  std::vector<WorkerPod> unbound_;          // of ours
  std::vector<const api::Pod*> elsewhere_;  // of ours
  std::vector<const api::Pod*> taken_;      // by worker: of ours, to stay
  std::set<std::uint32_t> ended_;           // workers whose pod was ungated and has ended
};

}  // namespace

UngateStep NextUngateStep(const GangView& view, const LifeOptions& options) {
  return Gang(view, options).Next();
}

nlohmann::ordered_json PatchOf(const PlacementStatus& status) {
  nlohmann::ordered_json patch = {{"conditions", api::EncodeConditions(status.conditions)},
                                  {"excludedNodes", nullptr}};
  if (!status.excluded.empty()) {
    patch["excludedNodes"] = api::EncodeExcludedNodes(status.excluded);
  }
  if (!status.keeps_nodes) {
    for (const char* key : {"nodes", "spans", "traffic"}) patch[key] = nullptr;
  }
  return patch;
}

}  // namespace weft::decide
