#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/random.h"
#include "tests/world/actor.h"
#include "tests/world/fibers.h"

namespace weft::world {

// kube-scheduler, as far as Weft relies on it: binds pods without gates to a node that their
// affinity, selector and tolerations allow and that has GPUs free, else says why not; a pod of
// higher priority takes the place of others, and keeps the node that is nominated for it from pods
// of no higher priority until it is bound. With the feature gate GenericWorkload the pods of a
// PodGroup are tried in one cycle, as kube-scheduler 1.37 does (group_cycle.cc).
class Scheduler {
 public:
  // What the scheduler needs for PodGroups.
  struct Groups {
    bool gate = false;                  // GenericWorkload
    std::function<std::string()> time;  // now, as in conditions; empty: they have no time
    std::function<bool()> bind_fails;   // whether this request of a bind fails; empty: none
    std::function<void(const Json&)> on_failed;  // with the pod; empty: nobody hears of it
  };
  Scheduler(Fibers& fibers, ApiServer& server, std::uint64_t seed);
  void OnChange(const Change& change);
  void SetSilent(bool silent);  // it does nothing meanwhile
  // A plug-in allows no pod on that node until then.
  void SetRefused(const std::string& node, Instant until);
  void SetGroups(Groups groups) { groups_ = std::move(groups); }
  // As after a restart with the gate on or off: all pods are tried again.
  void SetGate(bool on);

 private:
  using Used = std::map<std::string, std::int64_t>;  // GPUs by node
  using Pods = std::vector<std::shared_ptr<const Json>>;
  void Enqueue(const api::ObjectKey& pod, Instant::duration delay);
  void Try(const api::ObjectKey& key);
  void TryLater(const api::ObjectKey& key);
  void TryAllSoon();
  std::string WhyNot(const Json& pod, const Json& node, const Used& used) const;
  // The nodes that are possible, those that only lack GPUs, and why not the others.
  struct Fit {
    std::vector<std::string> nodes, crowded;
    std::string why_not;
  };
  Fit FitOf(const Json& pod, const Used& used) const;
  Fit FitNow(const Json& pod) const;
  Used UsedNow() const;
  void AddUsed(const std::string& node, Used& used) const;
  bool Preempt(const Json& pod, const std::string& node);
  void OnNomination(const api::ObjectKey& key, const Json* pod);  // null: it does not wait
  std::int64_t KeptFor(const std::string& node, const Json& pod) const;
  bool IsPreempting(const Json& pod) const;
  // With the other pods of PodGroups that are disrupted as one; in group_cycle.cc.
  std::vector<api::ObjectKey> WithTheirGroups(const std::vector<api::ObjectKey>& victims) const;
  // What the pod's condition says, and the node that is nominated for it; unset: as before.
  struct Verdict {
    std::string why;
    const char* reason = "Unschedulable";
    std::optional<std::string> nominated = std::nullopt;
  };
  void Refuse(const Json& pod, const Verdict& verdict);

  // Of groups, in group_cycle.cc.
  struct Gang {
    std::shared_ptr<const Json> group;
    Pods waiting;
    std::int64_t bound = 0;
    std::string error;  // why it cannot be tried; "": it can
  };
  struct Member {
    std::shared_ptr<const Json> pod;
    std::string node, why;  // that it would get, or why none; both "": it was not tried
  };
  struct Trial {
    std::vector<Member> members;  // all pods that wait
    std::string why;              // why the group is refused; "": it fits
  };
  struct Preemption {
    std::string told;                                 // what the group's message ends with
    bool works = false;                               // some go, and the group waits for that
    std::map<api::ObjectKey, std::string> nominated;  // nodes of its pods
    std::vector<api::ObjectKey> victims;
  };
  bool IsInGroup(const Json& pod) const;
  void EnqueueGroup(const api::ObjectKey& group);
  std::optional<Gang> GangOf(const api::ObjectKey& group) const;
  void TryGroup(const api::ObjectKey& group);
  Trial TryMembers(const Gang& gang, Used used);
  void BindMembers(const Trial& trial);
  void BindMember(const std::shared_ptr<const Json>& pod, const std::string& node);
  void RefuseMembers(const Gang& gang, const Trial& trial);
  Preemption PreemptFor(const Gang& gang);
  std::vector<api::ObjectKey> VictimsOf(const Pods& lower, const Trial& trial) const;
  std::map<std::string, Pods> UnitsOf(const Pods& pods) const;
  void SetCondition(const Json& group, bool scheduled, const char* reason,
                    const std::string& message);

  Fibers& fibers_;
  Actor api_;
  SplitMix64 chance_;
  bool silent_ = false;
  bool sweep_ = false;                      // all pending pods are tried soon
  std::map<api::ObjectKey, int> pending_;   // tries so far
  std::map<std::string, Instant> refused_;  // nodes, until then
  std::map<std::string, std::map<api::ObjectKey, std::int64_t>> held_;  // GPUs by node and pod
  // Pods that wait for the node that is nominated for them.
  struct Nomination {
    std::string node, group;
    std::int64_t gpus = 0, priority = 0;
  };
  std::map<api::ObjectKey, Nomination> nominated_;
  // Pods whose bind request is under way, and their nodes.
  std::map<api::ObjectKey, std::string> assumed_;
  Groups groups_;
  std::set<api::ObjectKey> due_;                                // groups that are tried soon
  std::map<api::ObjectKey, std::set<api::ObjectKey>> members_;  // pods by group
};

// Not bound, and no gate keeps it from that.
bool WaitsForNode(const Json& pod);

}  // namespace weft::world
