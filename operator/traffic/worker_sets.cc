#include "operator/traffic/worker_sets.h"

#include <algorithm>
#include <string>

#include "operator/base/union_find.h"
#include "operator/traffic/check_shape.h"
#include "operator/traffic/shape.h"

namespace weft::traffic {
namespace {

void JoinGroups(const Ranks& members, std::uint32_t size, UnionFind& components) {
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (i % size != 0) components.Join(members[i - 1].Raw(), members[i].Raw());
  }
}

// Removes equal sets; orders sets by their least worker, then by the rest.
WorkerSets Distinct(std::vector<std::vector<WorkerIndex>> sets) {
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  WorkerSets out;
  for (const auto& set : sets) {
    out.workers.insert(out.workers.end(), set.begin(), set.end());
    out.begin.push_back(static_cast<std::uint32_t>(out.workers.size()));
  }
  return out;
}

}  // namespace

Result<WorkerSets> GroupWorkers(std::span<const Axis> axes, const Parallelism& parallelism,
                                std::uint32_t workers, std::uint32_t per_worker) {
  const Status shape_ok = CheckShape(std::nullopt, parallelism, workers, per_worker);
  if (!shape_ok) return shape_ok.error();
  const std::uint32_t ranks = workers * per_worker;
  const Shape shape(parallelism, ranks);
  UnionFind components(ranks);
  for (Axis axis : axes) {
    if (axis == Axis::kSharding) {
      return Invalid("topology.groups: Sharding is not an axis of a group; use Data");
    }
    if (axis == Axis::kExpert) {
      JoinGroups(shape.ExpertGroups(), shape.expert(), components);
    } else if (axis == Axis::kExpertTensor) {
      if (shape.stage() % shape.expert_tensor() != 0) {
        return Invalid("parallelism.expertTensor: " + std::to_string(shape.expert_tensor()) +
                       " must divide the " + std::to_string(shape.stage()) +
                       " ranks of one pipeline stage, since topology.groups names ExpertTensor");
      }
      JoinGroups(shape.ExpertTensorGroups(), shape.expert_tensor(), components);
    } else {
      const Ranks groups = shape.Groups(std::span(&axis, 1));
      const std::uint32_t size = axis == Axis::kTensor    ? shape.tensor()
                                 : axis == Axis::kContext ? shape.context()
                                 : axis == Axis::kData    ? shape.data()
                                                          : shape.pipeline();
      JoinGroups(groups, size, components);
    }
  }
  std::vector<std::vector<WorkerIndex>> of_root(ranks);
  for (const RankIndex rank : Range<RankIndex>(ranks)) {
    auto& set = of_root[components.Find(rank.Raw())];
    const WorkerIndex worker = WorkerOf(rank, per_worker);
    if (set.empty() || set.back() != worker) set.push_back(worker);
  }
  std::vector<std::vector<WorkerIndex>> sets;
  for (auto& set : of_root) {
    if (!set.empty()) sets.push_back(std::move(set));
  }
  return Distinct(std::move(sets));
}

}  // namespace weft::traffic
