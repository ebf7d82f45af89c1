#pragma once

#include <map>
#include <set>
#include <string>

#include "operator/base/random.h"
#include "tests/world/actor.h"
#include "tests/world/fibers.h"

namespace weft::world {

// kube-scheduler, as far as Weft relies on it: binds pods without gates to a node that their
// affinity, selector and tolerations allow and that has GPUs free, else says why not; a pod of
// higher priority takes the place of others.
class Scheduler {
 public:
  Scheduler(Fibers& fibers, ApiServer& server, std::uint64_t seed);
  void OnChange(const Change& change);
  void SetSilent(bool silent);  // it does nothing meanwhile
  // A plug-in allows no pod on that node until then.
  void SetRefused(const std::string& node, Instant until);

 private:
  void Enqueue(const api::ObjectKey& pod, Instant::duration delay);
  void Try(const api::ObjectKey& key);
  void TryAllSoon();
  std::string WhyNot(const Json& pod, const Json& node) const;
  bool Preempt(const Json& pod, const std::string& node);
  void Refuse(const Json& pod, const std::string& why);

  Fibers& fibers_;
  Actor api_;
  SplitMix64 chance_;
  bool silent_ = false;
  bool sweep_ = false;                      // all pending pods are tried soon
  std::map<api::ObjectKey, int> pending_;   // tries so far
  std::map<std::string, Instant> refused_;  // nodes, until then
  std::map<std::string, std::map<api::ObjectKey, std::int64_t>> held_;  // GPUs by node and pod
};

}  // namespace weft::world
