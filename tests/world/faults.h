#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "operator/base/random.h"
#include "tests/world/actor.h"

namespace weft::world {

class Incarnation;
class World;

// The catalogue of faults. Each seed uses a random part of it.
class Faults {
 public:
  Faults(World& world, std::uint64_t seed);
  // One random fault of this seed's part happens now.
  void Strike(std::size_t number);
  // Ends all that last.
  void EndAll();

 private:
  using Act = std::string (Faults::*)();  // returns what it did; "": nothing
  struct Kind {
    const char* name;
    Act act;
    bool of_groups = false;  // only where PodGroups are served
  };
  static const std::vector<Kind>& All();

  // Of operators.
  std::string KillLeader();
  std::string KillAny();
  std::string StopLeader();
  std::string FreezeLeader();
  std::string JumpClock();
  std::string FreezeWriter();
  std::string CutLeader();
  // Of requests and watches.
  std::string ServerDown();
  std::string SlowRequests();
  std::string LostRequests();
  std::string UnansweredRequests();
  std::string BusyServer();
  std::string LateWatch();
  std::string CutWatches();
  std::string Compaction();
  std::string WatchGap();
  std::string RestoreEtcd();  // in restore.cc
  // Of nodes and kubelets, in node_faults.cc.
  std::string LoseNode();
  void EndPeers(const std::string& node);
  std::string MakeNodeAnew();
  std::string ScaleDown();
  std::string RestartPlugin();
  std::string FailStarts();
  std::string CrashPod();
  std::string Cordon();
  std::string TaintNode();
  std::string RefuseNode();
  bool IsUsed(const std::string& node) const;
  void Taint(const std::string& node, const std::string& key);
  void Untaint(const std::string& node, const std::string& key);
  // Of other controllers and people.
  std::string SilenceScheduler();
  std::string CollectPods();
  std::string DeletePod();
  std::string EvictPod();
  std::string DeletePlacement();
  std::string DeleteNewPlacement();
  // The webhook of that resource fails in the namespace for so long.
  void Fail(const char* resource, const std::string& space, std::chrono::seconds time);
  void AwaitCreation(std::size_t percent, std::function<void(const Json& placement)> act);
  std::string DeleteService();
  std::string TightQuota();
  std::string QuotaConflict();
  void MakeQuota(const std::string& space, const Json& hard, std::chrono::seconds time);
  std::string RefusePods();
  std::string RefusePlacements();
  std::string FailWebhook();
  std::string HangWebhook();
  std::string MutatePods();
  std::string StripByPolicy();
  std::string UrgentPod();
  // In tenant_faults.cc.
  std::string ForeignService();
  std::string OwnerlessPlacement();
  std::string OddAnnotation();
  std::string OddLabel();
  std::string StripFinalizer();
  std::string DeleteNamespace();
  std::string EditJob();
  std::string RestoreJob();
  std::string RestorePlacement();
  std::string FalsePod();
  // In group_faults.cc.
  std::string ChangeGate();
  std::string DeleteGroup();
  std::string EditMinCount();
  std::string ForeignGroup();
  std::string TakeNode();

  void SetDown(bool down);
  void Freeze(Incarnation& replica, std::chrono::seconds time);
  void Hard(std::chrono::seconds time);
  std::chrono::seconds Some(std::uint64_t least, std::uint64_t most);
  std::uint64_t Below(std::uint64_t count) { return chance_.Below(count); }
  std::string AnyNode();
  std::string AnySpace();
  std::shared_ptr<const Json> AnyOfWholeGang();
  // A random object of the resource that satisfies `is`; null: none.
  std::shared_ptr<const Json> Any(const kube::Resource& resource,
                                  bool (*is)(const Json&) = nullptr);

  World& world_;
  Actor admin_, editor_;  // the latter with `edit` in the teams' namespaces
  const std::uint64_t seed_;
  SplitMix64 chance_;
  std::vector<Kind> chosen_;
  std::uint64_t kueue_eighths_ = 0;  // of the faults, on days with queues
  std::size_t number_ = 0;           // of the fault that strikes
  std::size_t hangs_ = 0;
  bool restores_ = false;
};

}  // namespace weft::world
