#include "operator/cluster/problem.h"

#include <algorithm>
#include <utility>

#include "operator/cluster/pool_choices.h"
#include "operator/placement/level_labels.h"
#include "operator/traffic/worker_grid.h"
#include "operator/traffic/worker_sets.h"

namespace weft::cluster {
namespace {

using fabric::Tier;

// The level names that `required` and `preferred` accept, widest first.
std::string KnownLevels(const fabric::Fabric& fabric) {
  std::string names;
  for (Tier t{1}; t < fabric.tiers().EndIndex(); ++t) {
    names += (t > Tier{1} ? ", " : "") + fabric.tiers()[t].name;
  }
  return names;
}

class Resolver {
 public:
  Resolver(const ClusterFabric& on, const WorkloadView& workload)
      : fabric_(*on.fabric), workload_(workload) {}

  Result<Problem> Run() {
    const api::TopologySpec& topology = *workload_.topology;
    objective::Request request;
    request.job = api::Show(workload_.key());
    request.workers = workload_.workers;
    request.pod = workload_.pod;
    if (workload_.is_job) request.pod.labels.Set(api::kJobNameLabel, workload_.key().name);
    request.required = Level("spec.topology.required", topology.required);
    request.preferred = Level("spec.topology.preferred", topology.preferred);
    CheckOrder("spec.topology.preferred", request.preferred, request.required);
    for (std::size_t g = 0; g < topology.groups.size() && !error_; ++g) AddGroup(g, request);
    if (error_) return *error_;
    if (IsWaiting(request)) request.required = request.preferred;
    placement::RequireLevelLabels(fabric_, request);
    request.excluded = NodesOf(workload_.wait.excluded_nodes);
    for (const std::string& name : workload_.wait.previous_nodes) {
      request.previous_nodes.push_back(fabric_.FindNode(name).value_or(objective::kUnplaced));
    }
    const Slices slices = SlicesOf(topology);
    request.pool_choices = PoolChoicesOf(fabric_, *workload_.accelerator, slices);
    if (request.pool_choices) {
      request.pool_relaxations = PoolRelaxationsOf(fabric_, *workload_.accelerator, slices);
    }
    request.grid = traffic::WorkerGrid(*workload_.parallelism, workload_.workers, PerWorker());
    Result<traffic::Traffic> computed = traffic::ComputeTraffic(
        *workload_.model, *workload_.parallelism, workload_.workers, PerWorker());
    if (!computed) return Prefixed("spec.", computed.error());
    if (const auto* ring = traffic::LargestRing(*computed); ring && fabric_.nested_scale_up()) {
      request.ring = *ring;
    }
    return Problem{*std::move(computed), std::move(request), NodesOf(workload_.wait.avoided_nodes)};
  }

 private:
  std::uint32_t PerWorker() const { return workload_.accelerator->per_worker; }

  Error Prefixed(const std::string& path, const Error& error) const {
    return {error.kind, *workload_.place + ": " + path + error.message};
  }

  void Fail(const std::string& path, const std::string& what) {
    if (!error_) error_ = Invalid(*workload_.place + ": " + path + ": " + what);
  }

  std::optional<Tier> Level(const std::string& path, const std::string& name) {
    if (name.empty()) return std::nullopt;
    const std::optional<Tier> tier = fabric_.FindTier(name);
    if (tier && *tier != fabric::kOutside) return tier;
    const auto& scale_up = fabric_.spec().scale_up;
    if (scale_up && name == scale_up->name && !tier) {
      Fail(path, "\"" + name +
                     "\" cannot be named here, because its domains cross the levels of this "
                     "fabric; these are " +
                     KnownLevels(fabric_));
    } else if (fabric_.torus() != nullptr && name == fabric_.spec().torus->name) {
      Fail(path, "\"" + name + "\" is a torus and has no domains; this fabric has the levels " +
                     KnownLevels(fabric_));
    } else {
      Fail(path, "unknown level \"" + name + "\"; this fabric has " + KnownLevels(fabric_));
    }
    return std::nullopt;
  }

  void CheckOrder(const std::string& path, std::optional<Tier> preferred,
                  std::optional<Tier> required) {
    if (!preferred || !required || *preferred >= *required) return;
    Fail(path, "\"" + fabric_.tiers()[*preferred].name + "\" is wider than required \"" +
                   fabric_.tiers()[*required].name + "\"");
  }

  void AddGroup(std::size_t g, objective::Request& request) {
    const api::GroupSpec& spec = workload_.topology->groups[g];
    const std::string path = "spec.topology.groups[" + std::to_string(g) + "].";
    objective::GroupConstraint group;
    group.required = Level(path + "required", spec.required);
    group.preferred = Level(path + "preferred", spec.preferred);
    CheckOrder(path + "preferred", group.preferred, group.required);
    Result<traffic::WorkerSets> sets =
        traffic::GroupWorkers(spec.axes, *workload_.parallelism, workload_.workers, PerWorker());
    if (!sets) {
      if (!error_) error_ = Prefixed("spec.", sets.error());
      return;
    }
    group.sets = *std::move(sets);
    request.groups.push_back(std::move(group));
  }

  // Whether the job still waits for the preferred level, which until then counts as required.
  bool IsWaiting(const objective::Request& request) const {
    const auto& wait = workload_.topology->wait_for_preferred_seconds;
    return request.preferred && wait && workload_.wait.waited_seconds &&
           *workload_.wait.waited_seconds < *wait;
  }

  std::vector<fabric::NodeIndex> NodesOf(const std::vector<std::string>& names) const {
    std::vector<fabric::NodeIndex> nodes;
    for (const std::string& name : names) {
      if (const auto node = fabric_.FindNode(name)) nodes.push_back(*node);
    }
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
  }

  const fabric::Fabric& fabric_;
  const WorkloadView& workload_;
  std::optional<Error> error_;
};

}  // namespace

Result<Problem> MakeProblem(const ClusterFabric& on, const WorkloadView& workload) {
  return Resolver(on, workload).Run();
}

}  // namespace weft::cluster
