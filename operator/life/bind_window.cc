#include "operator/life/bind_window.h"

#include <set>
#include <string_view>

#include "operator/base/check.h"
#include "operator/base/seeded_bug.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/text.h"

namespace weft::life {
namespace {

// What kube-scheduler says to the pods of a group that it does not bind, but for the refused one:
// "pod group is unschedulable, minCount (8) cannot be satisfied: 4 scheduled, 3 remaining, ...";
// with a topology constraint "0/3 placements are available: ...".
constexpr std::string_view kOfGroup[] = {"minCount (", "placements are available"};

class Judgement {
 public:
  Judgement(const std::vector<GangMember>& gang, const GangGroup& group) : group_(group) {
    for (const GangMember& member : gang) Count(member);
    if (grouped_.empty()) return;
    if (group_.group == nullptr) {
      if (group_.known) Hear("PodGroup " + grouped_ + " is gone");
      return;
    }
    Hear(group_.group->message);
    // kube-scheduler waits for more pods in silence. One that Weft did not make may have pods of
    // other gangs too.
    const auto pods = static_cast<std::int64_t>(gang.size());
    const bool ours = group_.group->meta.labels.contains(cluster::kJobUidLabel);
    if (!ours || group_.group->min_count <= pods) return;
    Hear("PodGroup " + grouped_ + " waits for " + std::to_string(group_.group->min_count) +
         " pods, and the gang has " + std::to_string(pods));
  }

  BindVerdict Verdict(const BindWindow& window, UnixSeconds now) const {
    if (unbound_ == 0) return {};
    if (!gates_.empty()) return MakeVerdict(Binding::kGated, GatedText());
    if (in_vain_) return Undo();
    const bool heard = bound_ > 0 || !refused_.empty() || !of_group_.empty();
    if (!window.opened) {
      return window.silent && !heard ? MakeVerdict(Binding::kSilent, SilentText())
                                     : MakeVerdict(Binding::kOpen, "");
    }
    std::int64_t left = WindowLeft(window, now);
    // A leader whose clock was ahead opened the window.
    if (left > window.seconds + kClockSkewSeconds) return MakeVerdict(Binding::kOpen, "");
    // Once the pods have gone, those of the gang are bound one after the other.
    const bool heeded = group_.group != nullptr && group_.group->decided;
    if (preempts_ && heeded) left += kPreemptionSeconds;
    if (left > 0) {
      BindVerdict wait = MakeVerdict(Binding::kWait, "");
      wait.seconds = left;
      return wait;
    }
    return heard ? Undo() : MakeVerdict(Binding::kSilent, SilentText());
  }

 private:
  void Count(const GangMember& member) {
    WEFT_CHECK(member.pod != nullptr);
    const api::Pod& pod = *member.pod;
    if (!pod.node_name.empty()) {
      ++bound_;
      return;
    }
    ++unbound_;
    if (grouped_.empty()) grouped_ = pod.pod_group;
    gates_.insert(pod.scheduling_gates.begin(), pod.scheduling_gates.end());
    if (!pod.scheduling_gates.empty()) ++gated_;
    if (member.node == nullptr) return;
    // Since Kubernetes 1.35 (KEP-5278) kube-scheduler also nominates the node of a pod that it is
    // about to bind, while it allocates its ResourceClaims or volumes. With a preemption it says
    // that the pod is unschedulable.
    const bool preempts = !pod.nominated_node.empty() && !pod.unscheduled.empty();
    const bool for_gang = preempts && !pod.pod_group.empty() && !Seeded(Bug::kPreemptionCut);
    preempts_ = preempts_ || for_gang;
    in_vain_ = in_vain_ || (preempts && !for_gang) || !member.node_exists;
    if (member.node_exists && pod.unscheduled.empty()) return;
    if (member.node_exists && IsOfGroup(pod)) return Hear(pod.unscheduled);
    refused_.push_back(*member.node);
    if (!words_.empty()) return;
    words_ = *member.node + ": ";
    words_ += pod.unscheduled.empty() ? "the node is gone" : pod.unscheduled;
  }

  // Whether the pod was not bound because another one of its group was not.
  bool IsOfGroup(const api::Pod& pod) const {
    if (pod.pod_group.empty() || Seeded(Bug::kGroupBlamesAll)) return false;
    for (const std::string_view words : kOfGroup) {
      if (pod.unscheduled.find(words) != pod.unscheduled.npos) return true;
    }
    return group_.group != nullptr && group_.group->message.starts_with(pod.unscheduled);
  }

  void Hear(const std::string& of_group) {
    if (of_group_.empty()) of_group_ = of_group;
  }

  static BindVerdict MakeVerdict(Binding binding, std::string message) {
    BindVerdict verdict;
    verdict.binding = binding;
    verdict.message = std::move(message);
    return verdict;
  }

  BindVerdict Undo() const {
    BindVerdict verdict =
        MakeVerdict(Binding::kUndo, CountText(unbound_, "worker") + " not bound; " + Words());
    const bool told = !refused_.empty() || !of_group_.empty();
    verdict.cause = told ? Cause::kSchedulerRefused : Cause::kSchedulerSilent;
    verdict.refused = refused_;
    return verdict;
  }

  std::string Words() const {
    if (!words_.empty()) return words_;
    return of_group_.empty() ? "kube-scheduler reported nothing about them" : of_group_;
  }

  std::string GatedText() const {
    std::string names;
    for (const std::string& gate : gates_) names += (names.empty() ? "" : ", ") + gate;
    return "waiting for another controller to remove scheduling gates of " +
           std::to_string(gated_) + " of " + CountText(bound_ + unbound_, "pod") + ": " + names;
  }

  std::string SilentText() const {
    return "none of " + CountText(unbound_, "pod") +
           " is bound, and kube-scheduler has reported nothing about them; is it running?";
  }

  std::int64_t bound_ = 0, unbound_ = 0, gated_ = 0;
  const GangGroup& group_;
  std::string grouped_;    // the PodGroup of a pod that is not bound
  bool in_vain_ = false;   // waiting cannot help
  bool preempts_ = false;  // kube-scheduler takes nodes from other pods for the gang
  std::set<std::string> gates_;
  std::vector<std::string> refused_;
  std::string words_;     // kube-scheduler's message about the first of them
  std::string of_group_;  // what is known of the whole group
};

}  // namespace

BindVerdict JudgeBinding(const std::vector<GangMember>& gang, const GangGroup& group,
                         const BindWindow& window, UnixSeconds now) {
  return Judgement(gang, group).Verdict(window, now);
}

std::int64_t WindowLeft(const BindWindow& window, UnixSeconds now) {
  return window.opened.value_or(now) + window.seconds - now;
}

}  // namespace weft::life
