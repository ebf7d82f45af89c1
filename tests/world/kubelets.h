#pragma once

#include <map>
#include <set>
#include <string>

#include "operator/base/random.h"
#include "tests/world/actor.h"
#include "tests/world/fibers.h"

namespace weft::world {

// The nodes' kubelets, and the node controller of kube-controller-manager. A pod runs for as long
// as its annotation weft.test/run-seconds says (without it: for ever) and then exits with
// weft.test/exit-code; each worker runs weft.test/worker-seconds longer than the one before it;
// told to end, it takes weft.test/stop-seconds, at most its grace period.
class Kubelets {
 public:
  Kubelets(Fibers& fibers, ApiServer& server, std::function<std::int64_t()> now_seconds,
           std::uint64_t seed);
  void OnChange(const Change& change);

  // After a restore of etcd; in restore.cc.
  void OnRestore(const Change& change);
  void ReportAll();

  // The node's machine stops: its pods end unseen, and it says nothing. After 40 s it is Unknown
  // and tainted, and pods that do not tolerate that are deleted.
  void Lose(const std::string& node);
  // It is back. `rebooted`: its containers are gone, so their pods fail.
  void Return(const std::string& node, bool rebooted);
  bool IsLost(const std::string& node) const { return lost_.contains(node); }
  // The device plug-in restarts: allocatable 0 for a while; a pod that begins meanwhile is refused.
  void RestartPlugin(const std::string& node, Instant::duration time);
  // Its kubelet refuses pods with accelerators until then, which nothing of the Node shows.
  void SetRefused(const std::string& node, Instant until) { refused_[node] = until; }
  // No pod starts until then: its image cannot be pulled, its Secret is missing, or its volume
  // cannot be mounted, which is told only in an event.
  enum class Lacks : std::uint8_t { kImage, kSecret, kVolume };
  void SetStartsFail(Lacks lacks, Instant until) {
    lacks_ = lacks;
    no_starts_until_ = until;
  }
  // A running pod's container ends with that code now.
  void Crash(const api::ObjectKey& pod, int code);
  // The node is Ready or not, as its kubelet says.
  void SetReady(const std::string& node, bool ready);

 private:
  struct Run {
    std::string uid;
    bool started = false;
    bool stopping = false;
    std::uint64_t tries = 0;  // that failed
  };
  void Begin(const api::ObjectKey& key, const std::string& uid);
  void TellWait(const Json& pod);
  void TellMount(const Json& pod, std::uint64_t tries);
  void Started(const api::ObjectKey& key, const std::string& uid);
  void Ended(const api::ObjectKey& key, const std::string& uid, int code,
             const std::string& reason = "");
  void Stop(const api::ObjectKey& key, const Json& pod);
  void Remove(const api::ObjectKey& key, const std::string& uid);
  void Refuse(const Json& pod, const std::string& reason, const std::string& message);
  bool Here(const api::ObjectKey& key, const std::string& uid, std::shared_ptr<const Json>& pod);
  void SetCondition(const std::string& node, const std::string& status);
  void Taint(const std::string& node, bool tainted);
  void EvictSoon(const std::string& node);
  std::string Time() const;

  Fibers& fibers_;
  Actor kubelet_, controller_;
  const std::function<std::int64_t()> now_seconds_;
  SplitMix64 chance_;
  std::set<std::string> lost_;
  std::map<std::string, std::uint64_t> absences_;  // counts how often a node was lost
  std::map<std::string, Instant> no_devices_;      // until then
  std::map<std::string, Instant> refused_;         // likewise
  Lacks lacks_ = Lacks::kImage;
  Instant no_starts_until_{};
  std::map<api::ObjectKey, Run> runs_;
};

}  // namespace weft::world
