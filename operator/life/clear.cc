#include "operator/life/clear.h"

#include <utility>
#include <vector>

#include "operator/base/seeded_bug.h"

namespace weft::life {
namespace {

// When a pod that is being deleted counts as gone without confirmation by its kubelet.
std::optional<UnixSeconds> GoneTime(const Life& life, const api::Pod& pod) {
  if (!pod.meta.deleting || pod.node_name.empty()) return std::nullopt;
  return GoneAt(pod, life.view.node_state(pod.node_name), life.losses());
}

}  // namespace

std::optional<JobStep> Clear(const Life& life) {
  std::vector<const api::Pod*> doomed;
  bool alive = false;
  std::optional<std::int64_t> soonest;
  for (const api::Pod* pod : life.view.pods) {
    const auto gone = GoneTime(life, *pod);
    if ((gone && *gone <= life.view.now) || Seeded(Bug::kOldPodsKept)) continue;
    alive = true;
    if (!pod->meta.deleting) doomed.push_back(pod);
    if (gone) soonest = Sooner(soonest, *gone - life.view.now);
  }
  if (!doomed.empty()) return DeletePods{std::move(doomed)};
  if (alive) return Wait{soonest};  // the other pods are being deleted already
  if (Seeded(Bug::kSuspendedHolds) && life.job.suspend) return std::nullopt;
  std::vector<const api::Placement*> placements;
  for (const api::Placement* placement : life.view.placements) {
    if (!placement->meta.deleting) placements.push_back(placement);
  }
  if (!placements.empty()) return DeletePlacements{std::move(placements)};
  return std::nullopt;
}

}  // namespace weft::life
