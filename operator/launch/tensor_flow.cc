#include "operator/launch/tensor_flow.h"

#include <nlohmann/json.hpp>

#include "operator/api/json_text.h"

namespace weft::launch {

Environment TensorFlowEnvironment(const Gang& gang, std::uint32_t worker) {
  const api::TrainingJob& job = *gang.job;
  const std::string port = ":" + std::to_string(job.framework.port);
  nlohmann::ordered_json workers = nlohmann::ordered_json::array();
  for (std::uint32_t w = 0; w < job.replicas; ++w) workers.push_back(AddressOf(job, w) + port);
  const nlohmann::ordered_json config = {{"cluster", {{"worker", std::move(workers)}}},
                                         {"task", {{"type", "worker"}, {"index", worker}}},
                                         {"environment", "cloud"}};
  return {{"TF_CONFIG", api::JsonText(config)}};
}

}  // namespace weft::launch
