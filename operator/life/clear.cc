#include "operator/life/clear.h"

#include <utility>
#include <vector>

#include "operator/base/seeded_bug.h"

namespace weft::life {

std::optional<JobStep> Clear(const Life& life) {
  std::vector<const api::Pod*> doomed;
  bool alive = false;
  std::optional<std::int64_t> soonest;
  for (const api::Pod* pod : life.view.pods) {
    const auto gone = GoneAt(*pod, life.view.node_state(pod->node_name), life.losses());
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

std::optional<Wait> AwaitEnded(const Life& life) {
  std::optional<std::int64_t> soonest;
  bool any = false;
  for (const api::Pod* pod : life.view.pods) {
    const Running running = MayRun(*pod, life.view.node_state(pod->node_name), life.losses());
    any = any || running.may_run;
    soonest = Sooner(soonest, running.left);
  }
  if (!any) return std::nullopt;
  return Wait{soonest};
}

}  // namespace weft::life
