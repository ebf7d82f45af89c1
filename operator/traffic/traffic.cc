#include "operator/traffic/traffic.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "operator/traffic/check_shape.h"
#include "operator/traffic/messages.h"
#include "operator/traffic/shape.h"
#include "operator/traffic/volumes.h"

namespace weft::traffic {

namespace {

// Divides every group into `size` groups; each has one rank of every block of `size` consecutive
// ranks.
Ranks Across(const Ranks& members, std::uint32_t group, std::uint32_t size) {
  Ranks across;
  across.reserve(members.size());
  for (std::size_t start = 0; start < members.size(); start += group) {
    for (std::uint32_t first = 0; first < size; ++first) {
      for (std::uint32_t k = first; k < group; k += size) across.push_back(members[start + k]);
    }
  }
  return across;
}

// Limit of the bytes that one rank may send on one axis in a step: 2^56 bytes, 72 PB, would take a
// GPU a day at 800 GB/s. Four million ranks with this on eight axes at the slowest link (10^12
// femtoseconds per byte) stay below 2^124, so costs cannot overflow.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 56;

// Collects families; the first amount above kMostBytes becomes the error.
class FamilyList {
 public:
  void Ring(Axis axis, std::uint32_t size, Ranks members, const Ratio& amount) {
    Add({axis, Pattern::kRing, size, std::move(members), 0, 0, 0}, amount, 0, 0);
  }
  void AllToAll(std::uint32_t size, Ranks members, const Ratio& amount) {
    Add({Axis::kExpert, Pattern::kAllToAll, size, std::move(members), 0, 0, 0}, amount, 0, 0);
  }
  void Stages(std::uint32_t size, Ranks members, const Ratio& amount, const Ratio& end,
              const Ratio& wrap) {
    Add({Axis::kPipeline, Pattern::kNeighbours, size, std::move(members), 0, 0, 0}, amount, end,
        wrap);
  }
  Result<std::vector<GroupFamily>> Take() {
    if (!overflow_.empty()) return Invalid(overflow_);
    return std::move(families_);
  }

 private:
  void Add(GroupFamily family, const Ratio& amount, const Ratio& end, const Ratio& wrap) {
    if (family.group_size <= 1) return;
    const auto a = amount.Rounded(), e = end.Rounded(), w = wrap.Rounded();
    const std::int64_t peers =
        family.pattern == Pattern::kAllToAll ? std::int64_t{family.group_size} - 1 : 1;
    if (!a || !e || !w || std::max({*a, *e, *w}) > kMostBytes / peers) {
      if (!overflow_.empty()) return;
      overflow_ = "model: the bytes that one rank sends on axis " +
                  std::string(AxisName(family.axis)) + " in one step are more than 2^56";
      return;
    }
    family.amount = *a;
    family.end_amount = *e;
    family.wrap_amount = *w;
    if (*a > 0 || *e > 0 || *w > 0) families_.push_back(std::move(family));
  }

  std::vector<GroupFamily> families_;
  std::string overflow_;
};

Ranks Lines(const Shape& shape, Axis axis) { return shape.Groups(std::span(&axis, 1)); }

Ranks GradientGroups(const Shape& shape) {
  static constexpr Axis kAxes[] = {Axis::kData, Axis::kContext};
  return shape.Groups(kAxes);
}

void AddGradients(const Volumes& volumes, const Parallelism& p, const Ratio& parameters,
                  std::pair<std::uint32_t, Ranks> ring, FamilyList& list) {
  auto& [size, members] = ring;
  if (p.sharding == Sharding::kHybrid) {
    const auto shard = static_cast<std::uint32_t>(*p.shard_group_size);
    list.Ring(Axis::kData, size / shard, Across(members, size, shard),
              volumes.Across(parameters, shard, size / shard));
    list.Ring(Axis::kSharding, shard, std::move(members), volumes.Inside(parameters, shard));
    return;
  }
  const Axis axis = p.sharding == Sharding::kFull ? Axis::kSharding : Axis::kData;
  list.Ring(axis, size, std::move(members), volumes.Gradients(parameters, size));
}

void AddPipeline(const Volumes& volumes, const Parallelism& p, const Shape& shape,
                 FamilyList& list) {
  Ratio forth = volumes.Boundary(), back = volumes.Boundary();
  forth *= p.virtual_pipeline;
  back *= p.virtual_pipeline - 1;
  if (shape.pipeline() == 2) {  // first and last are neighbours too: one amount, rounded once
    forth = volumes.Boundary();
    forth *= 2 * p.virtual_pipeline - 1;
    back = 0;
  }
  list.Stages(shape.pipeline(), Lines(shape, Axis::kPipeline), forth, forth, back);
}

void AddTransformer(const Transformer& model, const Parallelism& p, const Shape& shape,
                    FamilyList& list) {
  const Volumes volumes(model, p, shape);
  list.Ring(Axis::kTensor, shape.tensor(), Lines(shape, Axis::kTensor), volumes.Tensor());
  list.Ring(Axis::kContext, shape.context(), Lines(shape, Axis::kContext), volumes.Context());
  AddGradients(volumes, p, volumes.DenseParameters(),
               {shape.gradient_group(), GradientGroups(shape)}, list);
  AddPipeline(volumes, p, shape, list);
  if (shape.expert() <= 1 || !model.moe) return;
  list.AllToAll(shape.expert(), shape.ExpertGroups(), volumes.ExpertPerPeer());
  list.Ring(Axis::kExpertTensor, shape.expert_tensor(), shape.ExpertTensorGroups(),
            volumes.ExpertTensor());
  AddGradients(volumes, p, volumes.ExpertParameters(),
               {shape.expert_gradient_group(), shape.ExpertGradientGroups()}, list);
}

void AddMeasured(const MeasuredAxis& measured, const Parallelism& p, const Shape& shape,
                 FamilyList& list) {
  const Ratio bytes = measured.bytes_per_gpu;
  Ratio half = bytes;
  half /= 2;
  switch (measured.axis) {
    case Axis::kTensor:
      return list.Ring(Axis::kTensor, shape.tensor(), Lines(shape, Axis::kTensor), bytes);
    case Axis::kContext:
      return list.Ring(Axis::kContext, shape.context(), Lines(shape, Axis::kContext), bytes);
    case Axis::kData:
      return list.Ring(Axis::kData, shape.gradient_group(), GradientGroups(shape), bytes);
    case Axis::kSharding: {
      const auto shard = p.sharding == Sharding::kHybrid
                             ? static_cast<std::uint32_t>(*p.shard_group_size)
                             : shape.gradient_group();
      return list.Ring(Axis::kSharding, shard, GradientGroups(shape), bytes);
    }
    case Axis::kPipeline:
      return list.Stages(shape.pipeline(), Lines(shape, Axis::kPipeline), half, bytes, 0);
    case Axis::kExpert: {
      if (shape.expert() <= 1) return;
      Ratio each = bytes;
      each /= std::int64_t{shape.expert()} - 1;
      return list.AllToAll(shape.expert(), shape.ExpertGroups(), each);
    }
    case Axis::kExpertTensor:
      return list.Ring(Axis::kExpertTensor, shape.expert_tensor(), shape.ExpertTensorGroups(),
                       bytes);
  }
}

}  // namespace

void SeatGroups(Traffic& traffic) {
  traffic.seated.clear();
  for (const GroupFamily& family : traffic.families) {
    traffic.seated.emplace_back(family.members, family.group_size, traffic.per_worker);
  }
}

Result<Traffic> ComputeTraffic(const std::optional<Model>& model, const Parallelism& parallelism,
                               std::uint32_t workers, std::uint32_t per_worker) {
  if (const Status shape = CheckShape(model, parallelism, workers, per_worker); !shape) {
    return shape.error();
  }
  Traffic traffic;
  traffic.workers = workers;
  traffic.per_worker = per_worker;
  traffic.ranks = workers * per_worker;
  FamilyList list;
  const Shape shape(parallelism, traffic.ranks);
  if (!model || (!model->transformer && model->measured.empty())) {
    Ranks all(traffic.ranks);
    std::iota(all.begin(), all.end(), RankIndex{0});
    list.Ring(Axis::kData, traffic.ranks, std::move(all), 1);
  } else if (model->transformer) {
    traffic.modelled = true;
    AddTransformer(*model->transformer, parallelism, shape, list);
  } else {
    traffic.modelled = true;
    for (const MeasuredAxis& axis : model->measured) AddMeasured(axis, parallelism, shape, list);
  }
  auto families = list.Take();
  if (!families) return families.error();
  traffic.families = *std::move(families);
  for (GroupFamily& family : traffic.families) {
    family.messages = MessagesOf(family, model, parallelism, shape);
  }
  SeatGroups(traffic);
  return traffic;
}

const SeatedGroups* LargestRing(const Traffic& traffic) {
  if (!traffic.modelled) return nullptr;
  const SeatedGroups* ring = nullptr;
  std::int64_t most = 0;
  for (std::size_t f = 0; f < traffic.families.size(); ++f) {
    const GroupFamily& family = traffic.families[f];
    if (family.axis == Axis::kTensor || family.amount == 0) continue;
    if (family.axis != Axis::kData && family.axis != Axis::kSharding) return nullptr;
    if (family.amount <= most) continue;
    most = family.amount;
    ring = &traffic.seated[f];
  }
  return ring;
}

}  // namespace weft::traffic
