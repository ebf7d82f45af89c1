#include "operator/framework/host_name.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace weft::framework {

std::string PaddedWorker(const api::TrainingJob& job, WorkerIndex worker) {
  const std::size_t width = std::to_string(std::max(1U, job.replicas) - 1).size();
  std::string digits = std::to_string(worker.Raw());
  // Suspended, scaled down and resumed at once, a job still has pods of higher workers.
  if (digits.size() >= width) return digits;
  return std::string(width - digits.size(), '0') + digits;
}

std::string HostName(const api::TrainingJob& job, WorkerIndex worker) {
  return job.meta.key.name + "-" + PaddedWorker(job, worker);
}

std::string AddressOf(const api::TrainingJob& job, WorkerIndex worker) {
  return HostName(job, worker) + "." + job.meta.key.name;
}

bool OnHostNetwork(const api::TrainingJob& job) {
  if (!job.raw) return false;
  const auto& spec = job.raw->at("spec").at("workers").at("template").at("spec");
  return spec.value("hostNetwork", false);
}

}  // namespace weft::framework
