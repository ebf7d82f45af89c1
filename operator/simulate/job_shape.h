#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "operator/api/training_job.h"
#include "operator/cluster/problem.h"
#include "operator/cluster/workload.h"
#include "operator/fabric/fabric.h"
#include "operator/traffic/worker_graph.h"

namespace weft::simulate {

// Annotations of a TrainingJob for simulations: seconds after the start at which it arrives; how
// long it runs; how many tokens it trains on, if how long that takes is to be predicted.
inline constexpr const char* kArrivalAnnotation = "weft.dev/arrival-seconds";
inline constexpr const char* kRunAnnotation = "weft.dev/run-seconds";
inline constexpr const char* kTokensAnnotation = "weft.dev/train-tokens";

// What jobs have in common that differ only in their names, times and priorities.
struct Shape {
  api::TrainingJob job;            // a job of this shape
  cluster::WorkloadView workload;  // points into `job`
  cluster::Problem problem;
  std::optional<traffic::WorkerGraph> graph;
  std::uint32_t gpus = 0;  // of all workers
  // Weft's placement on the fabric with nothing else on it; empty if the job can never fit.
  ByWorker<fabric::NodeIndex> best;
};

}  // namespace weft::simulate
