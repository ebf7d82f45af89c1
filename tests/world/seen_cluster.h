#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/world/actor.h"
#include "tests/world/fibers.h"

namespace weft::world {

// The cluster as the laws see it: a fold over all changes.
struct SeenCluster {
  using Object = std::shared_ptr<const Json>;
  using Pods = std::map<std::string, Object>;  // by uid

  std::map<std::string, Pods> pods_of_job;                   // by the TrainingJob's uid
  std::map<std::string, std::map<std::int64_t, Pods>> live;  // of those, not ended: by attempt
  std::map<std::string, std::map<std::int64_t, Object>> placements_of_job;  // by uid and attempt
  std::map<std::string, Object> jobs;                                       // by uid
  std::map<std::string, Pods> on_node;                                      // bound and not ended
  std::map<std::string, Instant> bound_at;   // of pods on a node, by uid
  std::map<std::string, Object> placements;  // by uid
  std::set<std::string> unhealthy;  // nodes that were lost, gone or without devices at some time
  std::map<std::string, Object> nodes;  // by name
  std::map<api::ObjectKey, Object> services;
  // Those that were deleted, and when.
  std::map<api::ObjectKey, std::pair<Object, Instant>> gone_services;
  Instant led_anew = Instant::min();  // when the Lease changed hands last

  void Apply(const Change& change, Instant now);
  std::int64_t AllocatableOf(const std::string& node) const;
  std::vector<Object> LivePods(const std::string& job) const;

 private:
  void ApplyPod(const Change& change, Instant now);
  void ApplyNode(const Change& change);
  std::map<std::string, std::int64_t> allocatable_;
};

// uid of the TrainingJob that controls it, or "".
std::string JobOf(const Json& object);
std::int64_t AttemptOf(const Json& object);
std::optional<std::int64_t> WorkerOf(const Json& pod);
// The node that the pod's affinity names, or "".
std::string PinnedNode(const Json& pod);
std::vector<std::string> NodesOf(const Json& placement);

}  // namespace weft::world
