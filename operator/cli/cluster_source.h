#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "operator/api/inputs.h"
#include "operator/base/result.h"
#include "operator/kube/load_config.h"
#include "operator/kube/timer.h"
#include "operator/kube/transport.h"

namespace weft::cli {

// Prefix of the place of objects that were read from a cluster: "cluster: TrainingJob team-a/x".
inline constexpr const char* kClusterPlace = "cluster";

// What is read of a cluster.
enum class Kinds : std::uint8_t {
  kDecisions,  // what decisions read
  kQueues,     // and the AdmissionChecks, Workloads and ResourceFlavors of Kueue
};

// The objects that were read from a cluster.
struct LiveObjects {
  api::Inputs inputs;
  // One sentence for each object that cannot be read and was left out, its place first.
  std::vector<std::string> skipped;
};

// Receives the progress of a list: "read 1500 pods".
using ReadProgress = std::function<void(const std::string& line)>;

// Reads Nodes, Pods, PriorityClasses, Namespaces, Fabrics, TrainingJobs, Placements and the
// ConfigMap weft-learned-steps, which counts as absent if the account may not list it, and the
// kinds of resource.k8s.io, which older clusters do not serve. Each list
// has pages, all at one resourceVersion. Jobs and Workloads are read before Placements, and
// Placements before pods, so that a job that is placed meanwhile does not appear to wait while its
// pods run. Weft's kinds are empty if the cluster lacks the CRDs. Those of Kueue are also empty if
// the account may not list them, as `skipped` then says; Workloads are listed only if an
// AdmissionCheck is Weft's.
//
// Errors  kTransient: no connection, or the server refuses to list (with its message); kInvalid: no
//         credentials.
Result<LiveObjects> ReadObjects(kube::Transport& transport, kube::Timer& timer,
                                const ReadProgress& progress, Kinds kinds = Kinds::kDecisions);

// Reads the cluster that the kubeconfig names. Call once per process.
// Errors  also kInvalid, with file and field: the kubeconfig cannot be used.
Result<LiveObjects> ReadLiveCluster(const kube::ConfigChoice& choice, const ReadProgress& progress,
                                    Kinds kinds = Kinds::kDecisions);

}  // namespace weft::cli
