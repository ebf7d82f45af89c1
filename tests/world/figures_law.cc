// The law of figures: what is wrong with one job hides no figure of the others.

#include "operator/cluster/build_cluster.h"
#include "operator/cluster/running.h"
#include "tests/world/world.h"

namespace weft::world {
namespace {

constexpr std::chrono::seconds kBetweenScrapes{300};

}  // namespace

void World::LookAtFigures() {
  if (over_) return;
  fibers_.After(kBetweenScrapes, [this] { LookAtFigures(); });
  Incarnation* leader = Leader();
  const auto work = leader == nullptr ? nullptr : leader->replica().Working();
  if (!work || !work->cluster().Synced()) return;
  const auto running = cluster::RunningWorkloads(work->cluster().SnapshotCluster());
  if (!running) laws_.Break("I23", "no figures of any job: " + running.error().message);
}

}  // namespace weft::world
