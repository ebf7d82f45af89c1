#include "operator/life/unreadable.h"

#include "operator/api/conditions.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/ending.h"

namespace weft::life {

JobStep RefuseStep(Life& life) {
  api::PutCondition(life.status.conditions, api::Unreadable(life.job.unreadable), life.view.now);
  life.status.record.observed_generation = life.job.meta.generation;
  if (life.status != StatusOf(life.job)) return WriteStatus{life.status};
  return cluster::IsFinished(life.job) ? AfterEndStep(life) : Wait{};
}

}  // namespace weft::life
