#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "operator/api/kinds.h"
#include "operator/base/result.h"
#include "operator/decide/cluster.h"
#include "operator/placement/place.h"
#include "operator/traffic/traffic.h"
#include "operator/traffic/worker_graph.h"

namespace weft::decide {

// Annotations that carry the operator's knowledge into a snapshot. Previous nodes: the nodes of the
// last attempt, which still have its images and checkpoints.
inline constexpr const char* kExcludedNodesAnnotation = "weft.dev/excluded-nodes";  // a,b,c
inline constexpr const char* kAvoidedNodesAnnotation = "weft.dev/avoided-nodes";    // likewise
inline constexpr const char* kPreviousNodesAnnotation = "weft.dev/previous-nodes";  // by worker
inline constexpr const char* kWaitedAnnotation = "weft.dev/waited-seconds";

// A TrainingJob or a Placement without nodes, as decisions see it. Points into the Cluster's
// inputs.
struct Workload {
  bool is_job = true;
  std::size_t index = 0;     // into inputs.jobs or inputs.placements
  std::size_t position = 0;  // into inputs.order
  const api::ObjectMeta* meta = nullptr;
  const api::Place* place = nullptr;  // starts every error message
  std::uint32_t workers = 0;
  const std::string* fabric_name = nullptr;  // "" absent
  const api::Accelerator* accelerator = nullptr;
  const std::optional<traffic::Model>* model = nullptr;
  const traffic::Parallelism* parallelism = nullptr;
  const api::TopologySpec* topology = nullptr;
  placement::PodRequirements pod;
  std::int64_t priority = 0;
  std::optional<std::int64_t> expected_seconds;
  std::vector<std::string> excluded_nodes;
  std::vector<std::string> avoided_nodes;   // used only where others would not do as well
  std::vector<std::string> previous_nodes;  // of the last attempt, by worker
  std::optional<std::int64_t> waited_seconds;
  // A Placement with a podSelector: pods that wait for it, and why they cannot be its workers.
  std::uint32_t gated_pods = 0;
  std::string no_gang;
  std::string invalid;  // the message of an error in this workload only; "" none

  std::int64_t attempt = 0;  // of a TrainingJob: attempts that were placed before

  // The name of the Placement: "<job>-<attempt + 1>", or its own.
  std::string PlacementName() const;
  const api::ObjectKey& key() const { return meta->key; }
  std::string_view kind() const { return is_job ? "TrainingJob" : "Placement"; }
};

// The order in which workloads take what is free.
enum class Order : std::uint8_t {
  kFile,      // as they were read
  kOperator,  // priority class, widest first; then creation time, then namespace and name
};

// Unfinished, unsuspended TrainingJobs without a current Placement and Placements without nodes, in
// the given order.
// Errors  kInvalid for a malformed annotation, and for two that would be Placements of one name;
//         with `mark` the job of the two is marked as invalid instead.
enum class Mark : bool { kNo, kInvalid };
Result<std::vector<Workload>> PendingWorkloads(const Cluster& cluster, Order order,
                                               Mark mark = Mark::kNo);

// Every TrainingJob that is not finished, suspended and placed ones too, and every Placement of its
// own, in file order; for lint.
Result<std::vector<Workload>> AllWorkloads(const Cluster& cluster);

// No Fabric can be chosen for a workload: a refusal, not an error.
struct NoFabric {
  std::string reason;  // "FabricAmbiguous", "NoFabric"
  std::string message;
};
// fabricName, else the namespace's label, else the only fabric that fits.
// Errors  kInvalid for an unknown name, with the known ones.
Result<std::variant<std::size_t, NoFabric>> ChooseFabric(const Cluster& cluster,
                                                         const Workload& workload);

// One workload resolved against one fabric: all that placement reads.
struct Problem {
  traffic::Traffic traffic;
  placement::Request request;
  std::vector<fabric::NodeIndex> avoided;  // ascending
};
// Errors  kInvalid with the field's path: unknown level, preferred wider than required, degrees
//         that do not divide.
Result<Problem> MakeProblem(const ClusterFabric& on, const Workload& workload);

// Books every worker of a placement, or gives it back.
void AddClaims(const Workload& workload, std::span<const fabric::NodeIndex> nodes,
               fabric::Claims& claims);
void RemoveClaims(const Workload& workload, std::span<const fabric::NodeIndex> nodes,
                  fabric::Claims& claims);

}  // namespace weft::decide
