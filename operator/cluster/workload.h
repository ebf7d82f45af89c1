#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/accelerator.h"
#include "operator/api/placement.h"
#include "operator/api/topology_spec.h"
#include "operator/api/training_job.h"
#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/placement/place.h"
#include "operator/traffic/traffic.h"

namespace weft::cluster {

// Whether the Placement can be read and has no nodes yet.
bool LacksNodes(const api::Placement& placement);

// A TrainingJob or Placement to be placed, as decisions see it. Points into the Cluster's
// inputs.
struct WorkloadView {
  bool is_job = true;
  std::size_t index = 0;     // into inputs.jobs or inputs.placements
  std::size_t position = 0;  // into inputs.order
  const api::ObjectMeta* meta = nullptr;
  const api::Place* place = nullptr;  // error messages start with it
  std::uint32_t workers = 0;
  const std::string* fabric_name = nullptr;  // "" if absent
  const api::Accelerator* accelerator = nullptr;
  const std::optional<traffic::Model>* model = nullptr;
  const traffic::Parallelism* parallelism = nullptr;
  const api::TopologySpec* topology = nullptr;
  rules::PodRequirements pod;
  fabric::Neighbour neighbour;    // its pods as other pods see them
  std::int64_t priority = 0;      // in the queue
  std::int64_t pod_priority = 0;  // of its pods, as kube-scheduler sees them
  std::optional<std::int64_t> expected_seconds;
  api::WaitFacts wait;
  // For a Placement with a podSelector: the pods whose only gate is Weft's, the pods that have
  // gates of other controllers too, these gates, why the former cannot be its workers ("" if they
  // can), the pods that another scheduler has given nodes, and the workers that have Succeeded.
  std::uint32_t gated_pods = 0;
  std::uint32_t held_pods = 0;
  std::uint32_t bound_pods = 0;
  std::uint32_t done_workers = 0;
  std::set<std::string> other_gates;
  std::string no_gang;
  std::string bundle;   // api::Proposal::bundle; "" if the Placement exists
  std::string invalid;  // message of an error in this workload; "" if valid

  std::int64_t attempt = 0;  // of a TrainingJob: attempts placed so far

  // The Placement's name: "<job>-<attempt + 1>" for a job, or its own.
  std::string PlacementName() const;
  const api::ObjectKey& key() const { return meta->key; }
  std::string_view kind() const { return is_job ? "TrainingJob" : "Placement"; }
};

// What the job's spec says, outside any cluster: no index, priority or history. Points into the
// job.
WorkloadView WorkloadOf(const api::TrainingJob& job);

// The order in which workloads are placed.
enum class Order : std::uint8_t {
  kFile,      // the order in which they were read
  kOperator,  // priority class, highest first; then creation time, then namespace and name
};

// Whether the operator decides about `a` first (Order::kOperator).
bool DecidedBefore(const WorkloadView& a, const WorkloadView& b);

// Pending workloads in the given order: Placements without nodes, and TrainingJobs that are neither
// finished nor suspended and have no current Placement.
// Errors  kInvalid if a job and a Placement would get the same Placement name; with `mark` such a
//         job is marked as invalid instead.
enum class Mark : bool { kNo, kInvalid };
Result<std::vector<WorkloadView>> PendingWorkloads(const Cluster& cluster, Order order,
                                                   Mark mark = Mark::kNo);

// For lint, in file order: every unfinished TrainingJob, suspended and placed ones too, and every
// Placement that no job owns. Errors as for PendingWorkloads.
Result<std::vector<WorkloadView>> AllWorkloads(const Cluster& cluster, Mark mark = Mark::kNo);

// A pod, or the pods of a template, as other pods see them; points into the arguments.
fabric::Neighbour NeighbourOf(const api::Pod& pod);
fabric::Neighbour NeighbourOf(const api::ObjectMeta& owner, const rules::PodRequirements& pod);

// Makes `claims` hold the room of exactly those nominated pods whose priority is not below that of
// a worker's pods: kube-scheduler keeps it for them. `booked`: how many are added now.
void BookNominated(const ClusterFabric& on, std::int64_t pod_priority, std::size_t& booked,
                   fabric::Claims& claims);

// Adds the claims of all workers of a placement, or removes them.
void AddClaims(const WorkloadView& workload, std::span<const fabric::NodeIndex> nodes,
               fabric::Claims& claims);
void RemoveClaims(const WorkloadView& workload, std::span<const fabric::NodeIndex> nodes,
                  fabric::Claims& claims);

}  // namespace weft::cluster
