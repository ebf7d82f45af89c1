#include "operator/decide/host_name.h"

namespace weft::decide {

std::string PaddedWorker(const api::TrainingJob& job, std::uint32_t worker) {
  const std::size_t width = std::to_string(job.replicas - 1).size();
  std::string digits = std::to_string(worker);
  return std::string(width - digits.size(), '0') + digits;
}

std::string HostName(const api::TrainingJob& job, std::uint32_t worker) {
  return job.meta.key.name + "-" + PaddedWorker(job, worker);
}

}  // namespace weft::decide
