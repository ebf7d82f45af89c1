#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "operator/cluster/running.h"
#include "operator/metrics/samples.h"
#include "operator/plan/solver_crash.h"
#include "operator/predict/contention.h"
#include "operator/predict/pace.h"
#include "operator/predict/predict.h"

namespace weft::controllers {

// The bytes that all running workloads send out of each domain, the power that they draw there,
// each workload's cost relative to its best, and how much the jobs slow each other down on the
// uplinks that they share. What depends on one workload alone is computed once for each placement
// and spec of it, and forgotten with it.
class RunningFigures {
 public:
  // `deciding`: of each workload (run_solver.h); may be null. One on whose figures this version
  // ("": any) has crashed has none, and one on which the solver has crashed twice is not searched
  // for.
  explicit RunningFigures(plan::Deciding deciding = nullptr, std::string version = "")
      : deciding_(std::move(deciding)), version_(std::move(version)) {}

  // Adds series for domains of levels with at most `most_domains` domains, except the node tier.
  // Returns false if it left some workloads for the next call: each needs a search, and one call
  // makes only a few.
  bool AddTo(const cluster::Cluster& cluster, std::uint32_t most_domains,
             metrics::Samples& samples);

 private:
  struct Known {
    std::shared_ptr<const fabric::Fabric> fabric;
    std::int64_t generation = 0;
    std::vector<cluster::DomainFlow> flows;
    std::vector<predict::DomainWatts> watts;
    std::optional<double> cost_over_best;
    predict::Pace pace;
  };
  static Known Compute(const cluster::Cluster& cluster, const predict::Uplinks& uplinks,
                       const cluster::Running& running);
  const Known& Find(const cluster::Cluster& cluster, const predict::Uplinks& uplinks,
                    const cluster::Running& running);

  const plan::Deciding deciding_;
  const std::string version_;
  std::size_t searches_left_ = 0;
  std::map<std::string, Known> known_, before_;  // by the Placement's uid
};

}  // namespace weft::controllers
