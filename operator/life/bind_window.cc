#include "operator/life/bind_window.h"

#include <set>
#include <string_view>

#include "operator/base/check.h"
#include "operator/cluster/text.h"

namespace weft::life {
namespace {

class Judgement {
 public:
  explicit Judgement(const std::vector<GangMember>& gang) {
    for (const GangMember& member : gang) Count(member);
  }

  BindVerdict Verdict(const BindWindow& window, UnixSeconds now) const {
    if (unbound_ == 0) return {};
    if (!gates_.empty()) return MakeVerdict(Binding::kGated, GatedText());
    if (in_vain_) return Undo();
    const bool heard = bound_ > 0 || !refused_.empty();
    if (!window.opened) {
      return window.silent && !heard ? MakeVerdict(Binding::kSilent, SilentText())
                                     : MakeVerdict(Binding::kOpen, "");
    }
    const std::int64_t left = WindowLeft(window, now);
    // A leader whose clock was ahead opened the window.
    if (left > window.seconds + kClockSkewSeconds) return MakeVerdict(Binding::kOpen, "");
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
    gates_.insert(pod.scheduling_gates.begin(), pod.scheduling_gates.end());
    if (!pod.scheduling_gates.empty()) ++gated_;
    if (member.node == nullptr) return;
    // Since Kubernetes 1.35 (KEP-5278) kube-scheduler also nominates the node of a pod that it is
    // about to bind, while it allocates its ResourceClaims or volumes. With a preemption it says
    // that the pod is unschedulable.
    const bool preempts = !pod.nominated_node.empty() && !pod.unscheduled.empty();
    in_vain_ = in_vain_ || preempts || !member.node_exists;
    if (member.node_exists && pod.unscheduled.empty()) return;
    refused_.push_back(*member.node);
    if (!words_.empty()) return;
    words_ = *member.node + ": ";
    words_ += pod.unscheduled.empty() ? "the node is gone" : pod.unscheduled;
  }

  static BindVerdict MakeVerdict(Binding binding, std::string message) {
    BindVerdict verdict;
    verdict.binding = binding;
    verdict.message = std::move(message);
    return verdict;
  }

  BindVerdict Undo() const {
    BindVerdict verdict =
        MakeVerdict(Binding::kUndo,
                    CountText(unbound_, "worker") + " not bound; " +
                        (words_.empty() ? "kube-scheduler reported nothing about them" : words_));
    verdict.cause = refused_.empty() ? Cause::kSchedulerSilent : Cause::kSchedulerRefused;
    verdict.refused = refused_;
    return verdict;
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
  bool in_vain_ = false;  // waiting cannot help
  std::set<std::string> gates_;
  std::vector<std::string> refused_;
  std::string words_;  // kube-scheduler's message about the first of them
};

}  // namespace

BindVerdict JudgeBinding(const std::vector<GangMember>& gang, const BindWindow& window,
                         UnixSeconds now) {
  return Judgement(gang).Verdict(window, now);
}

std::int64_t WindowLeft(const BindWindow& window, UnixSeconds now) {
  return window.opened.value_or(now) + window.seconds - now;
}

}  // namespace weft::life
