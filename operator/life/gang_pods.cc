#include "operator/life/gang_pods.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/natural_order.h"
#include "operator/cluster/gang_members.h"
#include "operator/cluster/gang_spec.h"
#include "operator/cluster/pod_labels.h"
#include "operator/cluster/present_object.h"
#include "operator/cluster/worker_order.h"

namespace weft::life {
namespace {

// The pods of one attempt.
struct Attempt {
  cluster::ForeignGang gang;
  std::vector<const api::Pod*> waiting;  // gated
  std::vector<const api::Pod*> alive;    // not ended: these too

  api::OwnerReference Owner() const { return cluster::GangOwner(gang, alive); }
};

bool IsWaiting(const api::Pod& pod) {
  return cluster::HasGate(pod) && pod.node_name.empty() && !pod.meta.deleting &&
         pod.unreadable.empty() && !pod.HasEnded();
}

bool IsMade(const api::Placement& placement, const std::string& base) {
  return placement.meta.labels.At(cluster::kGangLabel) == base;
}

class Foreign {
 public:
  explicit Foreign(const ForeignPods& view) : view_(view) {
    for (const api::Pod* pod : view.pods) Sort(*pod);
    for (auto& [name, attempt] : attempts_) {
      KeepPresent(attempt);
      std::sort(attempt.waiting.begin(), attempt.waiting.end(), [](const auto* a, const auto* b) {
        return NaturalLess(a->meta.key.name, b->meta.key.name);
      });
    }
  }

  ForeignStep Next() {
    if (!idle_.empty()) return FreeForeign{std::move(idle_)};
    for (auto& [name, attempt] : attempts_) {
      if (attempt.waiting.empty()) continue;
      if (auto step = Serve(name, attempt)) return *std::move(step);
    }
    if (const api::Placement* over = FindOver()) return DeleteForeign{over};
    return Wait{};
  }

 private:
  // Leaves out pods of an earlier object of the gang's name.
  static void KeepPresent(Attempt& attempt) {
    cluster::PresentObject present;
    for (const api::Pod* pod : attempt.alive) present.Add(*pod);
    const auto earlier = [&](const api::Pod* pod) { return !present.Has(*pod); };
    std::erase_if(attempt.waiting, earlier);
    std::erase_if(attempt.alive, earlier);
  }

  void Sort(const api::Pod& pod) {
    auto gang = cluster::ForeignGangOf(pod);
    if (!gang || gang->base != view_.base) return;
    if (IsWaiting(pod) && !cluster::AcceleratorOf(pod.pod.requests, view_.accelerator_resources)) {
      idle_.push_back(&pod);
      return;
    }
    Attempt& attempt = attempts_[gang->placement_name];
    attempt.gang = *std::move(gang);
    if (IsWaiting(pod)) attempt.waiting.push_back(&pod);
    if (!pod.HasEnded()) attempt.alive.push_back(&pod);
  }

  // A Placement of an attempt without pods, while another attempt has some. Without any pods the
  // last Placement stays until its owner is gone: a suspended job comes back to it.
  const api::Placement* FindOver() const {
    const bool any = std::any_of(attempts_.begin(), attempts_.end(),
                                 [](const auto& one) { return !one.second.alive.empty(); });
    if (!any) return nullptr;
    for (const api::Placement* placement : view_.placements) {
      if (!IsMade(*placement, view_.base) || placement->meta.deleting) continue;
      const auto attempt = attempts_.find(placement->meta.key.name);
      if (attempt == attempts_.end() || attempt->second.alive.empty()) return placement;
    }
    return nullptr;
  }

  // Nothing if the attempt has its Placement.
  std::optional<ForeignStep> Serve(const std::string& name, Attempt& attempt) const {
    WEFT_CHECK(!attempt.waiting.empty());
    const api::Pod& first = *attempt.waiting.front();
    for (const api::Placement* placement : view_.placements) {
      const bool made = IsMade(*placement, view_.base);
      if (placement->meta.key.name == name && made) {
        if (IsStale(*placement, attempt)) return DeleteForeign{placement};
        return std::nullopt;
      }
      if (!cluster::Selects(*placement, first)) continue;
      return made ? std::optional<ForeignStep>(DeleteForeign{placement}) : std::nullopt;
    }
    api::OwnerReference keeper = attempt.Owner();
    return CreateForeign{std::move(attempt.gang), std::move(attempt.waiting), std::move(keeper),
                         Before(name)};
  }

  // The Placement of an earlier attempt that knows nodes to leave out, or null.
  const api::Placement* Before(const std::string& name) const {
    for (const api::Placement* placement : view_.placements) {
      const bool earlier = IsMade(*placement, view_.base) && placement->meta.key.name != name;
      if (earlier && !placement->excluded.empty()) return placement;
    }
    return nullptr;
  }

  // Whether the owner of the Placement is one of those of the pods.
  static bool IsKept(const api::Placement& placement, const Attempt& attempt) {
    const auto owns = [&](const std::string& uid) {
      return std::any_of(placement.meta.owners.begin(), placement.meta.owners.end(),
                         [&](const auto& owner) { return owner.uid == uid; });
    };
    if (owns(attempt.Owner().uid)) return true;
    return std::any_of(attempt.waiting.begin(), attempt.waiting.end(), [&](const api::Pod* pod) {
      const api::OwnerReference* controller = cluster::ControllerOf(*pod);
      return controller != nullptr && owns(controller->uid);
    });
  }

  // Whether the Placement was made for an earlier object of that name, or, as long as no pod has a
  // node by it, for pods that asked for something else.
  static bool IsStale(const api::Placement& placement, const Attempt& attempt) {
    if (placement.meta.deleting) return false;
    if (attempt.gang.kind != "Pod" && !IsKept(placement, attempt)) return true;
    return placement.nodes.empty() &&
           placement.meta.annotations.At(cluster::kRequestHashAnnotation) !=
               cluster::RequestHash(*attempt.waiting.front());
  }

  const ForeignPods& view_;
  std::map<std::string, Attempt> attempts_;  // by name of the Placement
  std::vector<const api::Pod*> idle_;        // gated, without an accelerator
};

}  // namespace

ForeignStep NextForeignStep(const ForeignPods& view) { return Foreign(view).Next(); }

}  // namespace weft::life
