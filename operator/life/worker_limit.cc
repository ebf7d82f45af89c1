#include "operator/life/worker_limit.h"

#include "operator/framework/traits.h"

namespace weft::life {

std::optional<std::string> TooManyWorkers(const api::TrainingJob& job) {
  const auto limit = framework::TraitsOf(job.framework).too_many_workers;
  if (limit == nullptr || job.replicas == 0) return std::nullopt;  // 0: a bare model
  return limit(job);
}

}  // namespace weft::life
