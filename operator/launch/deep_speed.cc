#include "operator/launch/deep_speed.h"

namespace weft::launch {

std::string DeepSpeedHostFile(const Gang& gang) {
  const api::TrainingJob& job = *gang.job;
  const std::string slots = " slots=" + std::to_string(job.accelerator.per_worker) + "\n";
  std::string text;
  for (std::uint32_t w = 0; w < job.replicas; ++w) text += AddressOf(job, w) + slots;
  return text;
}

}  // namespace weft::launch
